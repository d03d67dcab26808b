"""Jobs and periodic tasks for certificates."""

from typing import Any
from uuid import UUID

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.certificates.models import Certificate
from quality.certificates.services import KIND, certificate_advance, certificate_freeze, certificates_due
from quality.payloads import CertificateFreezePayload, CertificatePayload


def freeze(work: Work) -> dict[str, Any]:
    """Freeze the labels of a campaign for a certificate."""
    asked = work.payload_as(CertificateFreezePayload)
    return certificate_freeze(work=work, campaign=Campaign.objects.get(pk=UUID(asked["campaign"])), asked=asked)


def advance(work: Work) -> dict[str, Any]:
    """Add experts' judgments to the record of a certificate, and send them further items."""
    certificate = Certificate.objects.get(pk=work.payload_as(CertificatePayload)["certificate"])
    return certificate_advance(work=work, certificate=certificate)


JOBS = [JobKind("quality.certificate_freeze", freeze, Lane.BULK), JobKind(KIND, advance, Lane.UPKEEP)]
SWEEPS = [certificates_due]
