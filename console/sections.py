"""The pages of a campaign in six sections: one table, from which every page's navigation is drawn."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.permissions import Action
from annotation.models import Campaign
from annotation.tasktypes.base import Extractive, Judging, Voted
from annotation.tasktypes.registry import TASK_TYPES


def _has_votes(campaign: Campaign) -> bool:
    return isinstance(TASK_TYPES[campaign.task_type], Voted)


def _has_systems(campaign: Campaign) -> bool:
    return isinstance(TASK_TYPES[campaign.task_type], Judging | Extractive)


def _has_documents(campaign: Campaign) -> bool:
    return TASK_TYPES[campaign.task_type].needs_document


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a campaign.

    Attributes
    ----------
    url
        The name of its URL.
    action
        The permission that a person needs to open it.
    parts
        The names of the URLs that belong to it: details, forms.
    applies
        Whether a campaign has this page.
    """

    url: str
    label: Promise
    action: Action
    parts: tuple[str, ...] = ()
    applies: Callable[[Campaign], bool] = lambda _campaign: True


@dataclass(frozen=True, slots=True)
class Section:
    """Pages for one kind of work."""

    label: Promise
    pages: tuple[Page, ...]


SECTIONS = (
    Section(
        _("Overview"),
        (
            Page(
                "campaign",
                _("Overview"),
                Action.SEE_CAMPAIGN,
                ("campaign-launch", "campaign-schedule", "campaign-state", "campaign-extend", "campaign-search"),
            ),
            Page("quality", _("Summary"), Action.MANAGE),
            Page("quality-decisions", _("Review queue"), Action.MANAGE, ("quality-decide",)),
            Page("quality-inspect", _("Spot checks"), Action.MANAGE),
            Page("campaign-questions", _("Questions"), Action.MANAGE, ("question-answer", "faq-retire")),
            Page("quality-cases", _("Cases"), Action.JUDGE, ("quality-case",)),
            Page("campaign-jobs", _("Jobs"), Action.MANAGE, ("campaign-jobs-retry",)),
        ),
    ),
    Section(
        _("Items"),
        (
            Page(
                "items",
                _("Items"),
                Action.SEE_ITEMS,
                ("item", "item-retire", "items-selected", "annotation-exclude", "annotation-restore", "quality-ask"),
            ),
            Page("campaign-import", _("Import"), Action.MANAGE),
            Page("campaign-documents", _("Documents"), Action.MANAGE, ("campaign-document",), _has_documents),
            Page("pilot", _("Pilot"), Action.SEE_ANSWERS, ("pilot-draw",)),
        ),
    ),
    Section(
        _("People"),
        (
            Page("quality-people", _("Annotators"), Action.MANAGE, ("quality-person",)),
            Page(
                "campaign-people",
                _("Roles and invitations"),
                Action.MANAGE,
                ("membership-revoke", "role-waive", "invitation-withdraw"),
            ),
            Page("quality-workforces", _("Recruitment"), Action.MANAGE, ("panel-confirm",)),
            Page("quality-behaviour", _("Behavior"), Action.MANAGE),
        ),
    ),
    Section(
        _("Quality"),
        (
            Page("quality-gold", _("Gold questions"), Action.MANAGE, ("quality-gold-key",)),
            Page("quality-experts", _("Experts"), Action.MANAGE),
            Page("quality-audits", _("Label audits"), Action.MANAGE, applies=_has_votes),
            Page(
                "quality-certificates",
                _("Certificates"),
                Action.MANAGE,
                ("quality-certificate-file",),
                applies=_has_votes,
            ),
            Page("quality-target", _("Error target"), Action.MANAGE, applies=_has_votes),
            Page("quality-studies", _("Studies"), Action.SEE_RELEASES, ("quality-study-design",)),
        ),
    ),
    Section(
        _("Releases"),
        (
            Page(
                "releases",
                _("Releases"),
                Action.SEE_RELEASES,
                ("release", "release-write", "release-publish", "release-score", "split-seal", "split-unseal"),
            ),
            Page("systems", _("Systems"), Action.SEE_RELEASES, applies=_has_systems),
            Page("boards", _("Leaderboards"), Action.SEE_RELEASES, ("board", "board-team", "board-submit")),
        ),
    ),
    Section(
        _("Settings"),
        (
            Page("campaign-settings", pgettext_lazy("settings of a campaign", "General"), Action.MANAGE),
            Page("campaign-guidelines", _("Guidelines"), Action.MANAGE),
            Page("quality-policy", _("Policy"), Action.MANAGE),
            Page("quality-rules", _("Automatic rules"), Action.MANAGE),
            Page("campaign-plan", _("Plan"), Action.MANAGE, applies=_has_votes),
            Page("campaign-webhooks", _("Webhooks"), Action.MANAGE, ("campaign-webhook", "campaign-webhook-replay")),
            Page("campaign-log", _("Activity log"), Action.MANAGE),
        ),
    ),
)


class PageLink(NamedTuple):
    """A page in the navigation; ``current`` is ``page`` if it is open, ``true`` if a part of it is, else empty."""

    address: str
    label: Promise
    current: str


class SectionLinks(NamedTuple):
    """A section in the navigation with the pages that a person may open; it leads to the first of them."""

    label: Promise
    pages: list[PageLink]

    @property
    def address(self) -> str:
        """Return the address of the first page."""
        return self.pages[0].address

    @property
    def current(self) -> PageLink | None:
        """Return the page that is open, if it is in this section."""
        return next((page for page in self.pages if page.current), None)


class Navigation(NamedTuple):
    """The sections that a person may open, and the one that is open."""

    sections: list[SectionLinks]

    @property
    def section(self) -> SectionLinks | None:
        """Return the section that is open."""
        return next((section for section in self.sections if section.current), None)


def navigation_of(campaign: Campaign, actions: Iterable[Action], current: str) -> Navigation:
    """Return the navigation for a person's permitted actions; ``current`` is the name of the open URL."""
    allowed = set(actions)
    sections = []
    for section in SECTIONS:
        pages = [
            PageLink(reverse(page.url, args=[campaign.slug]), page.label, _current(page, current))
            for page in section.pages
            if page.action in allowed and page.applies(campaign)
        ]
        if pages:
            sections.append(SectionLinks(section.label, pages))
    return Navigation(sections)


def _current(page: Page, current: str) -> str:
    if current == page.url:
        return "page"
    return "true" if current in page.parts else ""
