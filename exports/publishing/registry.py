"""The hubs that releases can be published to."""

from exports.publishing.base import Hub
from exports.publishing.hugging_face import HuggingFace
from exports.publishing.zenodo import Zenodo

HUBS: dict[str, Hub] = {hub.key: hub for hub in (HuggingFace(), Zenodo())}


def hubs_configured() -> list[Hub]:
    """Return the hubs where this installation has an account."""
    return [hub for hub in HUBS.values() if hub.is_configured()]
