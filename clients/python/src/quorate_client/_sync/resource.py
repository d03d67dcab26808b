"""What all resources share: pages, and uploads."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from quorate_client._sync.transport import Transport
from quorate_client.records import kind_of

T = TypeVar("T")


class Resource:
    """A group of operations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _pages(self, path: str, page: type[Any], query: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the results of a list, page after page."""
        found = self._transport.send("GET", path, page, query={"limit": 1000, **query})
        while True:
            for row in found.results:
                yield row
            if found.next is None:
                return
            found = self._transport.send("GET", found.next, page)

    def _upload(
        self,
        method: str,
        path: str,
        returns: type[T],
        file: str | Path | IO[bytes],
        name: str | None,
        content_type: str | None,
        query: Mapping[str, Any],
        idempotency_key: str | None,
    ) -> T:
        """Send a file as the body."""
        if isinstance(file, str | Path):
            with Path(file).open("rb") as opened:
                return self._upload(
                    method, path, returns, opened, name or Path(file).name, content_type, query, idempotency_key
                )
        shown = name or Path(str(getattr(file, "name", "upload"))).name
        kind = content_type or kind_of(shown)
        asked = {"name": name, **query}
        upload = (file, kind, shown)
        return self._transport.send(method, path, returns, query=asked, upload=upload, idempotency_key=idempotency_key)
