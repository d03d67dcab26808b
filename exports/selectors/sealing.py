"""Releases that are no longer accessible, because they contain labels of a split that was sealed later."""

from collections.abc import Collection

from annotation.campaigns.selectors.sealing import sealed_names
from exports.models import Release


def closed_by(release: Release) -> list[str]:
    """Return the sealed splits whose labels a release contains, because it was frozen before they were sealed."""
    return closed_among(release, sealed_names(release.campaign))


def closed_among(release: Release, sealed: Collection[str]) -> list[str]:
    """Return the same as `closed_by` for given names of sealed splits."""
    return [name for name in sealed if name in release.splits and name not in release.sealed]
