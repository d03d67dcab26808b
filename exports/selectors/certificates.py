"""The certificate of a release's labels: what is said of it, and its files."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from exports.models import Release, ReleaseVerdict
from quality.certificates.models import Certificate, CertificateLabel, CertificateState
from quality.certificates.selectors import certificate_facts, files_of, sealed_in

FOLDER = "certificate"


def certificate_of(release: Release) -> dict[str, Any] | None:
    """Return the last certificate that was reached, and how far the release and the certified labels differ.

    The files of the certificate hold all its labels, so they are in the release only if it has all of these (``has_files``):
    otherwise they would show labels of other splits, or of people who withdrew. ``audits`` and ``ended`` are the numbers of
    audits begun so far, and of those without a certificate. An audit begins when its labels are frozen: a seed may be known
    before it is entered.

    A certificate with labels of a split that was sealed later is left out.
    """
    all_of_them = Certificate.objects.filter(campaign=release.campaign)
    certificate = all_of_them.filter(state=CertificateState.CERTIFIED).order_by("-number").first()
    if certificate is None or sealed_in(certificate):
        return None
    labels = CertificateLabel.objects.filter(certificate=certificate)
    released = ReleaseVerdict.objects.filter(release=release)
    certified = released.filter(verdict__in=labels.values("verdict")).count()
    return asdict(certificate_facts(certificate)) | {
        "released": released.count(),
        "certified": certified,
        "missing": certificate.size - certified,
        "has_files": certified == certificate.size,
        "audits": all_of_them.count(),
        "ended": all_of_them.filter(state=CertificateState.ENDED).count(),
    }


def certificate_shown(release: Release) -> dict[str, Any] | None:
    """Return what a release states of a certificate, unless a split with some of its labels was sealed later."""
    stated = release.frozen.get("certificate")
    if not stated:
        return None
    certificate = Certificate.objects.get(campaign=release.campaign, number=stated["number"])
    found: dict[str, Any] | None = None if sealed_in(certificate) else stated
    return found


def certificate_files(release: Release) -> dict[str, Iterable[bytes]]:
    """Return the files of a release's certificate by path; none if it has none or doesn't hold all certified labels."""
    stated = release.frozen.get("certificate")
    if not stated or not stated["has_files"]:
        return {}
    certificate = Certificate.objects.get(campaign=release.campaign, number=stated["number"])
    return {f"{FOLDER}/{name}": chunks for name, chunks in files_of(certificate).items()}
