"""Finding a page, a setting, an item, or a person of a campaign by name."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q
from django.urls import reverse

from accounts.models import ExternalIdentity, User
from accounts.permissions import Action
from annotation.campaigns.settings_forms import ConsentForm, SettingsForm
from annotation.models import Campaign, Item, Participation
from console.sections import navigation_of
from quality.policies.forms import PolicyForm, TargetForm

MOST = 10  # of each kind
MOST_TEXT = 200  # characters of a query that are looked at
# The forms whose fields can be found, by the page that shows them; the stubs know no ``base_fields`` of a class.
FORMS: dict[str, tuple[Any, ...]] = {
    "campaign-settings": (SettingsForm, ConsentForm),
    "quality-policy": (PolicyForm, TargetForm),
}


class Hit(NamedTuple):
    """A search result; ``place`` says where it is, if the label doesn't."""

    label: str
    address: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """At most ten results of each kind."""

    pages: list[Hit]
    settings: list[Hit]
    items: list[Hit]
    people: list[Hit]

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.pages or self.settings or self.items or self.people)


def search(*, campaign: Campaign, actions: Collection[Action], text: str) -> Found:
    """Return the results with a matching name that a person may open; nothing for an empty text."""
    text = " ".join(text[:MOST_TEXT].split())
    if not text:
        return Found([], [], [], [])
    return Found(
        pages=list(_pages(campaign, actions, text.casefold()))[:MOST],
        settings=list(_settings(campaign, text.casefold()))[:MOST] if Action.MANAGE in actions else [],
        items=_items(campaign, text) if Action.SEE_ANSWERS in actions else [],
        people=_people(campaign, text) if Action.MANAGE in actions else [],
    )


def _pages(campaign: Campaign, actions: Collection[Action], text: str) -> Iterator[Hit]:
    for section in navigation_of(campaign, actions, "").sections:
        for page in section.pages:
            if text in str(page.label).casefold():
                yield Hit(str(page.label), page.address, str(section.label))


def _settings(campaign: Campaign, text: str) -> Iterator[Hit]:
    labels = {
        page.address: page.label for section in navigation_of(campaign, Action, "").sections for page in section.pages
    }
    for url, forms in FORMS.items():
        address = reverse(url, args=[campaign.slug])
        for name, field in ((name, field) for form in forms for name, field in form.base_fields.items()):
            if text in str(field.label or "").casefold():
                yield Hit(str(field.label), f"{address}#id_{name}", str(labels[address]))


def _items(campaign: Campaign, text: str) -> list[Hit]:
    """Return the items whose id begins with the text: a range of an index, however many items there are."""
    items = Item.objects.filter(campaign=campaign, external_id__gte=text).order_by("external_id")
    rows = items.values_list("pk", "external_id", "content__question_text")[:MOST]
    return [
        Hit(external_id, reverse("item", args=[campaign.slug, pk]), question or "")
        for pk, external_id, question in rows
        if external_id.startswith(text)
    ]


def _people(campaign: Campaign, text: str) -> list[Hit]:
    """Return the annotators whose name, address, or id at a marketplace or panel contains the text."""
    here = Participation.objects.filter(campaign=campaign).values("surrogate")
    users = User.objects.filter(Q(name__icontains=text) | Q(email__icontains=text), surrogate__in=here)
    others = ExternalIdentity.objects.filter(name__icontains=text, surrogate__in=here)
    named = [(user.surrogate_id, str(user), user.email) for user in users.order_by("pk")[:MOST]]
    named += [(other.surrogate_id, other.name, "") for other in others.order_by("pk")[: MOST - len(named)]]
    return [Hit(name, reverse("quality-person", args=[campaign.slug, pk]), place) for pk, name, place in named]
