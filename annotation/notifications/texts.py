"""The texts of emails: subject and message by kind, and the page that a person opens next."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign, CampaignState, Notification, NotificationKind, Standing
from annotation.people.selectors.standing import notice_for


class Text(NamedTuple):
    """A subject, a message, and the path of the page to open."""

    subject: str
    message: str
    path: str


class Mail(NamedTuple):
    """An email in plain text."""

    subject: str
    body: str


def mail_of(notification: Notification) -> Mail:
    """Return the email of a notification, in the campaign's language where the pages speak it."""
    campaign = notification.campaign
    with translation.override(_language(campaign)):
        text = _TEXTS[NotificationKind(notification.kind)](campaign, notification.data)
        off = _("To turn off these emails, go to %(address)s") % {"address": _address(reverse("notifications"))}
        body = "\n\n".join([text.message, _address(text.path), f"-- \n{off}"])
    return Mail(" ".join(text.subject.split()), f"{body}\n")  # a title may hold what no header can


def _language(campaign: Campaign) -> str:
    try:
        return translation.get_supported_language_variant(campaign.language)
    except LookupError:
        return settings.LANGUAGE_CODE


def _address(path: str) -> str:
    return f"{settings.PLATFORM_URL}{path}"


def _page(campaign: Campaign, name: str) -> str:
    return reverse(name, args=[campaign.slug])


def _role(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    given = {
        "annotator": _('You\'re now an annotator in "%(campaign)s"'),
        "expert": _('You\'re now an expert in "%(campaign)s"'),
        "manager": _('You\'re now a manager of "%(campaign)s"'),
        "researcher": _('You\'re now a researcher in "%(campaign)s"'),
    }
    taken = {
        "annotator": _('You\'re no longer an annotator in "%(campaign)s"'),
        "expert": _('You\'re no longer an expert in "%(campaign)s"'),
        "manager": _('You\'re no longer a manager of "%(campaign)s"'),
        "researcher": _('You\'re no longer a researcher in "%(campaign)s"'),
    }
    subject = (given if data["given"] else taken)[data["role"]] % {"campaign": campaign.title}
    if data["given"]:
        return Text(subject, _("Your new role is active. Open the home page to start:"), reverse("home"))
    return Text(
        subject,
        _("You no longer have this role. Your submitted work is kept. To see your other roles, open the home page:"),
        reverse("home"),
    )


def _campaign(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    texts = {
        "started": (_('"%(campaign)s" has started'), _("Items are available. Open the home page to start:")),
        CampaignState.OPEN: (
            _('"%(campaign)s" is open again'),
            _("Items are available again. Open the home page to continue:"),
        ),
        CampaignState.PAUSED: (
            _('"%(campaign)s" is paused'),
            _("No new items are assigned until the campaign resumes. Submitted work is kept."),
        ),
        CampaignState.CLOSED: (
            _('"%(campaign)s" is closed'),
            _("No new items are assigned. Submitted work is kept. Thank you for your contribution."),
        ),
    }
    subject, message = texts["started" if data["first"] else CampaignState(data["state"])]
    return Text(subject % {"campaign": campaign.title}, message, reverse("home"))


def _standing(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    subjects = {
        Standing.ACTIVE: _('You can continue working in "%(campaign)s"'),
        Standing.WARNED: _('Warning about your work in "%(campaign)s"'),
        Standing.PAUSED: _('Your work in "%(campaign)s" is paused'),
        Standing.SUSPENDED: _('You\'ve been suspended from "%(campaign)s"'),
    }
    if "appeal" in data:  # denied; an appeal that is granted ends the suspension
        subject, parts = _('Your appeal in "%(campaign)s" was denied'), [data["appeal"]]
    else:
        standing = Standing(data["standing"])
        notice = (
            ""
            if standing == Standing.ACTIVE and "reason" not in data["because"]
            else notice_for(standing, data["because"])
        )
        subject, parts = subjects[standing], [notice]
        if standing == Standing.SUSPENDED:
            parts.append(_("Your submitted work is kept. You can appeal this decision once."))
    parts.append(_("See your standing in this campaign:"))
    subject = subject % {"campaign": campaign.title}
    return Text(subject, "\n\n".join(part for part in parts if part), _page(campaign, "quality-standing"))


def _cases(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    count = data["count"]
    subject = ngettext(
        '%(number)s case to judge in "%(campaign)s"', '%(number)s cases to judge in "%(campaign)s"', count
    )
    return Text(
        subject % {"number": count, "campaign": campaign.title},
        _("Judge each case independently. Other experts' judgments stay hidden until everyone has judged."),
        _page(campaign, "quality-cases"),
    )


def _discussion(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    return Text(
        _('Case to discuss in "%(campaign)s"') % {"campaign": campaign.title},
        _("The experts disagree about this case. Discuss the case and agree on one judgment."),
        reverse("quality-case", args=[campaign.slug, data["case"]]),
    )


def _review(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    count = data["count"]
    subject = ngettext(
        '%(number)s decision to make in "%(campaign)s"', '%(number)s decisions to make in "%(campaign)s"', count
    )
    return Text(
        subject % {"number": count, "campaign": campaign.title},
        _("Annotators may be waiting for a decision about their pay. Open the review queue:"),
        _page(campaign, "quality-decisions"),
    )


def _gold(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    count = data["count"]
    message = ngettext(
        "The active gold questions are enough for %(number)s more new annotator. Add gold questions:",
        "The active gold questions are enough for %(number)s more new annotators. Add gold questions:",
        count,
    )
    return Text(
        _('Gold questions are running low in "%(campaign)s"') % {"campaign": campaign.title},
        message % {"number": count},
        _page(campaign, "quality-gold"),
    )


def _job(campaign: Campaign, data: Mapping[str, Any]) -> Text:
    return Text(
        _('A job failed in "%(campaign)s": %(job)s') % {"campaign": campaign.title, "job": data["job"]},
        _("Open the Jobs page to see the reason and retry the job:"),
        _page(campaign, "campaign-jobs"),
    )


_TEXTS: dict[NotificationKind, Callable[[Campaign, Mapping[str, Any]], Text]] = {
    NotificationKind.ROLE: _role,
    NotificationKind.CAMPAIGN: _campaign,
    NotificationKind.STANDING: _standing,
    NotificationKind.CASES: _cases,
    NotificationKind.DISCUSSION: _discussion,
    NotificationKind.REVIEW: _review,
    NotificationKind.GOLD: _gold,
    NotificationKind.JOB: _job,
}
