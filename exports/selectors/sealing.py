"""Which releases may not be read any more: those that tell labels of a split that was sealed later."""

from collections.abc import Collection

from annotation.campaigns.selectors.sealing import sealed_names
from exports.models import Release


def closed_by(release: Release) -> list[str]:
    """Return the sealed splits whose labels a release tells, because it was frozen before they were sealed."""
    return closed_among(release, sealed_names(release.campaign))


def closed_among(release: Release, sealed: Collection[str]) -> list[str]:
    """Return the same, where the names of the sealed splits are at hand."""
    return [name for name in sealed if name in release.splits and name not in release.sealed]
