"""Certificates of labels: freeze, set the seed, end, and see the result."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery
from api.http.problems import Refused
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.certificates.forms import FreezeForm, SeedForm
from quality.certificates.models import Certificate
from quality.certificates.selectors import certificates_of
from quality.certificates.services import certificate_draw, certificate_end
from quality.certificates.views import obstacle_of

router = Router()


class CertificateReply(Reply):
    """A certificate. Results are null if they depend on labels of a split that was sealed later."""

    number: int
    state: str = Field(description="One of: freezing, frozen, judging, certified, ended.")
    error: float
    risk: float
    labels: int | None
    published: str | None = Field(description="The hash to publish before the seed can be known.")
    seed: str | None
    judged: int | None
    wrong: int | None
    low: float | None = Field(description="The bounds of the 95% confidence sequence of the share of wrong labels.")
    high: float | None
    frozen_at: datetime
    drawn_at: datetime | None
    ended_at: datetime | None


class CertificatesReply(Reply):
    """The certificates of a campaign, newest first."""

    results: list[CertificateReply]


class CertificateSent(Sent):
    """A claim. The seed comes from a source or from several people's texts."""

    error: float = Field(0.05, description="The acceptable share of wrong labels.")
    risk: float = Field(0.05, description="The probability of a certificate if more labels are wrong.")
    guess: float | None = Field(
        None, description="The expected share of wrong labels; it can't make a certificate invalid."
    )
    twice: float = Field(0.2, description="The share of items that two experts judge.")
    source: str = Field("", description="A value that nobody knows yet, such as a round of a public beacon.")
    commitments: dict[str, str] = Field({}, description="Instead of a source: by name, the SHA-256 of a text.")


class SeedSent(Sent):
    """The seed, or the texts that make it."""

    seed: str = ""
    reveals: dict[str, str] = Field({}, description="By name, the text whose hash was published.")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    certificate: Certificate = row["certificate"]
    found = {name: getattr(certificate, name) for name in CertificateReply.model_fields if hasattr(certificate, name)}
    found |= {"labels": certificate.size, "low": None, "high": None} | certificate.numbers
    if row["sealed"]:
        found |= dict.fromkeys(("labels", "published", "seed", "judged", "wrong", "low", "high"))
    return {name: found.get(name) for name in CertificateReply.model_fields}


@operation(router, "GET", "/campaigns/{campaign}/certificates", CertificatesReply, action=Action.MANAGE)
def certificate_list(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """List the certificates with their results so far."""
    return {"results": [_shown(row) for row in certificates_of(request.campaign)]}


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/certificates",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def certificate_new(request: ApiRequest, campaign: str, sent: CertificateSent) -> Job:
    """Freeze the labels for a certificate. Publish the hash of the result before the seed can be known."""
    if obstacle := obstacle_of(request.campaign):
        raise Refused(409, "certificate_impossible", obstacle)
    lines = "\n".join(f"{name}: {hashed}" for name, hashed in sent.commitments.items())
    form = FreezeForm({**sent.dict(), "commitments": lines})
    checked(form)
    return job_queued(request, "quality.certificate_freeze", form.payload(request.campaign))


def _certificate(request: ApiRequest, number: int) -> Certificate:
    return row_of(Certificate.objects.filter(campaign=request.campaign).select_related("campaign"), number=number)


def _one(request: ApiRequest, number: int) -> dict[str, Any]:
    rows = certificates_of(request.campaign)
    return next(_shown(row) for row in rows if row["certificate"].number == number)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/certificates/{int:number}/seed",
    CertificateReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def certificate_seed(request: ApiRequest, campaign: str, number: int, sent: SeedSent) -> Any:
    """Set the seed. Experts then find the items among their cases."""
    certificate = _certificate(request, number)
    form = SeedForm(certificate.commitments)
    texts = {field: sent.reveals.get(name, "") for field, name in form.names.items()}
    given = SeedForm(certificate.commitments, {"seed": sent.seed, **texts})
    cleaned, now = checked(given), timezone.now()
    certificate_draw(
        certificate=certificate,
        seed=cleaned.get("seed", ""),
        reveals=given.reveals,
        actor_id=request.user.surrogate_id,
        now=now,
    )
    return _one(request, number)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/certificates/{int:number}/end",
    CertificateReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def certificate_stop(request: ApiRequest, campaign: str, number: int) -> Any:
    """End an audit without a certificate; judgments so far stay in its record."""
    certificate = _certificate(request, number)
    certificate_end(certificate=certificate, actor_id=request.user.surrogate_id, now=timezone.now())
    return _one(request, number)
