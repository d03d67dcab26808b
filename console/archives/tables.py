"""The contents of an archive: for each table, the campaign's rows in it, or the reason why it is left out."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field, Model, Q, QuerySet

from annotation.models import Campaign, CampaignDocument, Item
from documents.models import Tokenization

FORMAT = "quorate campaign 1"
CHUNK = 2000  # rows in memory
_ITS_OWN = "campaign"
# table -> by which path its rows lead to their campaign
ROWS = {
    "accounts.Scope": "pk",
    "accounts.Membership": "scope",
    "accounts.FormerRole": "scope",
    "accounts.RoleWaiver": "scope",
    "accounts.ConsentText": "scope",
    "accounts.Consent": "text__scope",
    "accounts.AuditEvent": "scope",
    "annotation.Campaign": "pk",
    **dict.fromkeys(
        (
            "annotation.Guideline",
            "annotation.TrainingExample",
            "annotation.Split",
            "annotation.Batch",
            "annotation.Participation",
            "annotation.StandingChange",
            "annotation.Withdrawal",
            "annotation.QueueRewind",
            "annotation.CampaignDocument",
            "annotation.Item",
            "annotation.Slot",
            "annotation.Injection",
            "annotation.Assignment",
            "annotation.Annotation",
        ),
        _ITS_OWN,
    ),
    "annotation.ItemBar": "item__campaign",
    "annotation.CountedChange": "annotation__campaign",
    "annotation.EventChunk": "assignment__campaign",
    "annotation.EventTally": "assignment__campaign",
    "annotation.ItemReport": "item__campaign",
    "annotation.FaqEntry": _ITS_OWN,
    "annotation.Snapshot": _ITS_OWN,
    **dict.fromkeys(
        (
            "quality.PolicyVersion",
            "quality.Case",
            "quality.Verdict",
            "quality.GoldKey",
            "quality.GoldCheck",
            "quality.Inspection",
            "quality.InspectionTally",
            "quality.Unexamined",
            "quality.Flag",
            "quality.Review",
            "quality.WatchRule",
            "quality.Audit",
            "quality.Certificate",
            "quality.Wave",
            "quality.QualitySnapshot",
            "quality.StudySnapshot",
            "quality.TargetSnapshot",
            "quality.BehaviourSnapshot",
            "quality.CampaignPlan",
        ),
        _ITS_OWN,
    ),
    "quality.Opinion": "case__campaign",
    "quality.CaseMessage": "case__campaign",
    "quality.Verdict_annotations": "verdict__campaign",
    "quality.RuleFiring": "rule__campaign",
    "quality.AuditItem": "audit__campaign",
    "quality.CertificateLabel": "certificate__campaign",
    "quality.CertificateLine": "certificate__campaign",
    "workforces.Workforce": _ITS_OWN,
    "workforces.Posting": "workforce__campaign",
    "workforces.Ticket": "workforce__campaign",
    "workforces.TicketWork": "ticket__workforce__campaign",
    "workforces.Errand": "workforce__campaign",
    "workforces.LedgerEntry": _ITS_OWN,
    "workforces.PayHold": _ITS_OWN,
    "workforces.PayRefusal": _ITS_OWN,
    "workforces.Appeal": _ITS_OWN,
    "exports.Release": _ITS_OWN,
    "exports.ReleaseMember": "release__campaign",
    "exports.ReleaseVerdict": "release__campaign",
    "exports.ReleaseVote": "release__campaign",
    "exports.Shortfall": "release__campaign",
    "evaluation.Board": _ITS_OWN,
    "evaluation.SystemSample": _ITS_OWN,
    "evaluation.JudgedSystem": _ITS_OWN,
    "evaluation.PredictedSystem": _ITS_OWN,
    "evaluation.DrawnItem": _ITS_OWN,
    "evaluation.PredictedAnswer": "system__campaign",
    "evaluation.SystemScores": _ITS_OWN,
    "evaluation.Team": "board__campaign",
    "evaluation.TeamMember": "board__campaign",
    "evaluation.Submission": "board__campaign",
}
# Found by what the rows above point to.
PAGES = ("documents.Document", "documents.Tokenization")
PEOPLE = ("accounts.Surrogate", "accounts.User", "accounts.ExternalIdentity", "accounts.ClaimedIdentity")
STAYS = {
    "accounts.ForgottenIdentity": "a mark that only this installation's secret can compare",
    "accounts.Invitation": "a link to this installation",
    "accounts.InvitationUse": "a link to this installation",
    "accounts.ProvidedRole": "of this installation's login providers",
    "annotation.Notification": "an email that this installation sends, or has sent",
    "annotation.MutedNotification": "which emails a person wants from this installation",
    "api.ApiToken": "a secret of a person on this installation",
    "api.Webhook": "an address that this installation sends to",
    "api.WebhookDelivery": "what this installation sends, or has sent",
    "api.KeptAnswer": "an answer to a program that used this installation",
    "exports.Publication": "where this installation's accounts published a release",
    "jobs.Event": "news for programs that read this installation",
    "jobs.Job": "work of this installation: none of the campaign is unfinished when it leaves",
    "jobs.Heartbeat": "of a worker of this installation",
}

LEFT_OUT = {  # of the installation, not of the person or the campaign
    "accounts.User": ("password", "is_admin"),
    "accounts.Scope": ("login_provider",),
}


class ArchiveError(RuntimeError):
    """A campaign cannot be written or read as an archive; the message says why and what to do."""


def member_of(label: str) -> str:
    """Return the path of a table's rows in an archive."""
    return f"rows/{label}.jsonl.gz"


def rows_in(folder: Path, label: str) -> Iterator[list[Any]]:
    """Yield the rows of a table of an unpacked archive, each as the values of its columns."""
    with gzip.open(folder / member_of(label), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def model_named(label: str) -> type[Model]:
    """Return the model of a table, including the implicit ones of many-to-many fields."""
    app, _, name = label.partition(".")
    return apps.get_app_config(app).get_model(name)


def tables_of(campaign: Campaign) -> Iterator[tuple[str, "QuerySet[Model]"]]:
    """Yield each table with the rows of a campaign, all but those of people."""
    for label, path in ROWS.items():
        yield label, model_named(label)._base_manager.filter(**{path: campaign.pk})  # noqa: SLF001  Django's documented way past managers that filter
    named = CampaignDocument.objects.filter(campaign=campaign).values("tokenization")
    pinned = Item.objects.filter(campaign=campaign).values("tokenization")
    pages = Tokenization.objects.filter(Q(pk__in=named) | Q(pk__in=pinned))
    yield "documents.Tokenization", pages
    yield "documents.Document", model_named("documents.Document")._base_manager.filter(pk__in=pages.values("document"))  # noqa: SLF001  as above


def migrations_here() -> dict[str, str]:
    """Return the last migration of each of our apps: archives work only between installations with the same ones."""
    ours = {label.partition(".")[0] for label in (*ROWS, *PEOPLE)} | {"documents"}
    leaves = MigrationLoader(None, ignore_no_migrations=True).graph.leaf_nodes()
    return {app: name for app, name in sorted(leaves) if app in ours}


def columns_of(model: type[Model], label: str) -> list["Field[Any, Any]"]:
    """Return the fields of a table that archives contain."""
    return [field for field in model._meta.concrete_fields if field.name not in LEFT_OUT.get(label, ())]  # noqa: SLF001  Django's documented way to a model's fields
