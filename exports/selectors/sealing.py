"""Which releases may not be read any more: those that tell labels of a split that was sealed later."""

from annotation.selectors.sealing import sealed_names
from exports.models import Release


def closed_by(release: Release) -> list[str]:
    """Return the sealed splits whose labels a release tells, because it was frozen before they were sealed."""
    return [name for name in sealed_names(release.campaign) if name in release.splits and name not in release.sealed]
