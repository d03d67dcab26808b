"""The available kinds of workforces, each loaded at its first use."""

from collections.abc import Iterator, MutableMapping

from django.utils.module_loading import import_string

from workforces.kinds.base import Kind

_KINDS = (
    "workforces.kinds.internal.kind.Internal",
    "workforces.kinds.link.kind.Link",
    "workforces.kinds.mturk.kind.MTurk",
    "workforces.kinds.prolific.kind.ProlificKind",
)


class _Registry(MutableMapping[str, Kind]):
    """The kinds by key."""

    def __init__(self) -> None:
        self._loaded: dict[str, Kind] = {}

    @property
    def _kinds(self) -> dict[str, Kind]:
        if not self._loaded:
            kinds = [import_string(path)() for path in _KINDS]
            self._loaded = {kind.key: kind for kind in kinds}
        return self._loaded

    def __getitem__(self, key: str) -> Kind:
        return self._kinds[key]

    def __setitem__(self, key: str, kind: Kind) -> None:
        self._kinds[key] = kind

    def __delitem__(self, key: str) -> None:
        del self._kinds[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


KINDS = _Registry()
