"""Sending requests: the token, retries, idempotency keys, uploads and downloads."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from tqdm import tqdm

from quorate_client.errors import ConnectionFailed, problem_of

T = TypeVar("T")
PIECE = 2**20
AGAIN = (429, 502, 503, 504)  # answers after which the same request may succeed
FIRST_PAUSE, MOST_PAUSE = 0.5, 60.0  # seconds


class AsyncTransport:
    """A connection to one installation."""

    def __init__(
        self, url: str, token: str, *, timeout: float = 60.0, attempts: int = 6, progress: bool | None = None
    ) -> None:
        """Prepare a connection; nothing is sent yet.

        Parameters
        ----------
        timeout
            Seconds until a request without an answer is repeated.
        attempts
            How often a request is sent at most. Each repetition has the same idempotency key, so it has one effect.
        progress
            Whether uploads, downloads and jobs show a progress bar; None: if standard error is a terminal.
        """
        base = url.rstrip("/").removesuffix("/api/v1")
        if urlsplit(base).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no URL of an installation, such as https://quorate.example")
        self._attempts, self._progress = attempts, progress
        self._http = httpx.AsyncClient(
            base_url=base,
            headers={"Authorization": f"Bearer {token}", "User-Agent": "quorate-client"},
            timeout=timeout,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    def bar(self, total: int | None, description: str, unit: str = "B") -> "tqdm[Any]":
        """Return a progress bar."""
        disable = None if self._progress is None else not self._progress
        return tqdm(total=total, desc=description, unit=unit, unit_scale=True, disable=disable, leave=False)

    async def send(
        self,
        method: str,
        path: str,
        returns: type[T] | None,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        upload: tuple[IO[bytes], str, str] | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """Send a request, and return its answer.

        Parameters
        ----------
        body
            Fields to send as JSON; those that are `msgspec.UNSET` are left out.
        upload
            A file, its content type, and its name for the progress bar.
        """
        headers = {"If-Match": if_match} if if_match is not None else {}
        if method != "GET":
            headers["Idempotency-Key"] = idempotency_key or uuid.uuid4().hex
        if body is not None:
            headers["Content-Type"] = "application/json"
        if upload is not None:
            headers["Content-Type"] = upload[1]
        response = await self._answered(method, path, headers, query, body, upload)
        found: Any = None
        if returns is not None:
            found = msgspec.json.decode(response.content, type=returns)
            if hasattr(found, "etag"):
                found.etag = response.headers.get("ETag")
        return found  # type: ignore[no-any-return]

    async def _answered(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        upload: tuple[IO[bytes], str, str] | None,
    ) -> httpx.Response:
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        content: Any = msgspec.json.encode({k: v for k, v in body.items() if v is not msgspec.UNSET}) if body else None
        for attempt in range(1, self._attempts + 1):
            if upload is not None:
                content, headers["Content-Length"] = self._pieces(*upload)
            try:
                response = await self._http.request(
                    method, path, headers=headers, params=asked or None, content=content
                )
            except httpx.TransportError as error:
                if attempt == self._attempts:
                    raise ConnectionFailed(f"{self._http.base_url}: {error or type(error).__name__}") from error
                await asyncio.sleep(pause_of(attempt, None))
                continue
            if response.status_code in AGAIN and attempt < self._attempts:
                await asyncio.sleep(pause_of(attempt, response.headers.get("Retry-After")))
                continue
            if response.status_code >= 300:
                raise problem_of(response.status_code, json_or_none(response.content))
            return response
        raise AssertionError("the last attempt returns or raises")

    def _pieces(self, file: IO[bytes], _kind: str, name: str) -> tuple[AsyncIterator[bytes], str]:
        """Return a file from its beginning, in pieces, and its length."""
        length = file.seek(0, 2)
        file.seek(0)
        return self._read(file, length, name), str(length)

    async def _read(self, file: IO[bytes], length: int, name: str) -> AsyncIterator[bytes]:
        with self.bar(length, name) as bar:
            while piece := file.read(PIECE):
                yield piece
                bar.update(len(piece))

    async def lines(self, path: str, query: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the lines of a stream. Memory doesn't grow with it."""
        asked = {name: value for name, value in query.items() if value is not None}
        headers = {"Accept": "application/x-ndjson"}
        try:
            async with self._http.stream("GET", path, headers=headers, params=asked or None) as response:
                if response.status_code != 200:
                    raise problem_of(response.status_code, json_or_none(await response.aread()))
                rest = b""
                async for piece in response.aiter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        yield line
        except httpx.TransportError as error:
            raise ConnectionFailed(f"{self._http.base_url}: the stream broke off: {error}") from error

    async def download(self, path: str, to: Path, size: int | None = None) -> None:
        """Download a file; what was downloaded before an interruption isn't downloaded again.

        The file is written beside its place and moved there when it is whole.
        """
        part = to.with_name(f".{to.name}.part")
        part.unlink(missing_ok=True)
        with self.bar(size, to.name) as bar:
            for attempt in range(1, self._attempts + 1):
                have = part.stat().st_size if part.exists() else 0
                try:
                    status, retry_after = await self._download_from(path, part, have, bar)
                except httpx.TransportError as error:
                    if attempt == self._attempts:
                        raise ConnectionFailed(f"{path}: the download broke off: {error}") from error
                    await asyncio.sleep(pause_of(attempt, None))
                    continue
                if status < 300:
                    break
                if attempt == self._attempts:
                    raise problem_of(status, None)
                await asyncio.sleep(pause_of(attempt, retry_after))
        part.replace(to)

    async def _download_from(self, path: str, part: Path, have: int, bar: "tqdm[Any]") -> tuple[int, str | None]:
        """Append the rest of a file to a part of it, and return the status of the answer."""
        headers = {"Range": f"bytes={have}-"} if have else {}
        async with self._http.stream("GET", path, headers=headers) as response:
            status = response.status_code
            if status == 416:  # nothing is left
                return 200, None
            if status not in (200, 206):
                if status not in AGAIN:
                    raise problem_of(status, json_or_none(await response.aread()))
                return status, response.headers.get("Retry-After")
            with part.open("ab" if status == 206 else "wb") as file:
                async for piece in response.aiter_bytes():
                    file.write(piece)
                    bar.update(len(piece))
        return status, None


def pause_of(attempt: int, retry_after: str | None) -> float:
    """Return the seconds to wait before the next attempt: what the server asks for, else twice as long each time."""
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), MOST_PAUSE) + random.random()  # noqa: S311  only a pause
    return min(FIRST_PAUSE * 2.0 ** (attempt - 1), MOST_PAUSE) * (0.5 + random.random() / 2)  # noqa: S311  as above


def json_or_none(content: bytes) -> Any:
    """Return JSON; None if it is none, as an answer of a proxy may be."""
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return None
