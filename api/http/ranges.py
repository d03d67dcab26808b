"""Sending a file, or a range of it (RFC 9110, section 14)."""

import re
from collections.abc import Iterator
from typing import IO, Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

PIECE = 2**18
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def file_response(request: HttpRequest, file: IO[bytes], *, etag: str = "") -> HttpResponseBase:
    """Send a file. Only single ranges are answered, which is what clients that continue a download ask for."""
    size = _size(file)
    tag = f'"{etag}"' if etag else ""
    headers = {"Accept-Ranges": "bytes", **({"ETag": tag} if tag else {})}
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    condition = request.headers.get("If-Range", "")
    response: HttpResponseBase
    if found is None or not any(found.groups()) or condition not in ("", tag):
        response = FileResponse(file, content_type="application/octet-stream", headers=headers)
        response["Content-Length"] = str(size)
        return response
    first, last = found.groups()
    begin = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if begin > end:
        file.close()
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    file.seek(begin)
    response = FileResponse(_Part(file, end + 1 - begin), content_type="application/octet-stream", headers=headers)
    response.status_code = 206
    response["Content-Range"] = f"bytes {begin}-{end}/{size}"
    response["Content-Length"] = str(end + 1 - begin)
    return response


def _size(file: IO[bytes]) -> int:
    size: Any = getattr(file, "size", None)
    if size is None:
        size = file.seek(0, 2)
        file.seek(0)
    return int(size)


class _Part:
    """A part of a file, to be sent in pieces."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._left = file, length

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0 and (piece := self._file.read(min(PIECE, self._left))):
            self._left -= len(piece)
            yield piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()
