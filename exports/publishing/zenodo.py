"""Zenodo: a deposit with a DOI for each release, new versions under one concept DOI.

(developers.zenodo.org, the deposit API and the file API of its buckets.)
"""

import hashlib
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import IO, Any, ClassVar
from urllib.parse import quote

import requests
from django.conf import settings

from exports.archive import zip_stream
from exports.build import CARD, CITATION, LICENSE
from exports.citation import spdx_of
from exports.models import Publication, PublicationState, Release
from exports.publishing.base import SECONDS, Confirm, Hub, HubAway, Published, PublishError, Remember, Wanted

BLOCK = 1 << 20
MOST_LISTED = 100  # of the account's newest drafts, among which one is looked for whose creation got no answer


class Zenodo(Hub):
    """Deposits at Zenodo."""

    key: ClassVar[str] = "zenodo"
    title: ClassVar[str] = "Zenodo"

    def is_configured(self) -> bool:
        """Return whether a token is set."""
        return bool(settings.ZENODO_TOKEN)

    def check(self, release: Release, address: str) -> str:
        """Refuse a release without authors or license: a deposit needs both."""
        if not release.manifest.get("authors"):
            raise PublishError("publish_authors")
        if spdx_of(release.manifest) is None:
            raise PublishError("publish_license")
        return ""

    def continues(self, row: Publication) -> bool:
        """Return whether the deposit is published: new versions can be made of published ones only."""
        return row.state == PublicationState.DONE and row.is_public

    def visit(self) -> None:
        """Ask for one of our deposits."""
        _Client().get("depositions", size=1)

    def publish(self, wanted: Wanted, remember: Remember, confirm: Confirm) -> Published:
        """Create the deposit, upload the files, describe them, and publish it if asked."""
        zenodo = _Client()
        number = wanted.remote.get("deposition") or _deposit(zenodo, wanted, remember)
        deposit = zenodo.get(f"depositions/{number}")
        if not deposit["submitted"]:
            _upload(zenodo, deposit, wanted)
            deposit = zenodo.send("PUT", f"depositions/{number}", {"metadata": _metadata(wanted)})
            if wanted.is_public:
                confirm()
                deposit = zenodo.send("POST", f"depositions/{number}/actions/publish")
        doi = deposit.get("doi") or deposit["metadata"].get("prereserve_doi", {}).get("doi", "")
        links = deposit["links"]
        url = links.get("record_html") if deposit["submitted"] else links.get("html")
        return Published(url=url or f"{settings.ZENODO_URL}/records/{number}", version=str(number), doi=doi)


class _Client:
    """Requests to the deposit API."""

    def __init__(self) -> None:
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {settings.ZENODO_TOKEN}"

    def get(self, path: str, **query: Any) -> Any:
        return self._asked("GET", f"{settings.ZENODO_URL}/api/deposit/{path}", params=query).json()

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._asked(method, f"{settings.ZENODO_URL}/api/deposit/{path}", json=body)
        return answer.json() if answer.content else None

    def put_file(self, url: str, path: Path) -> str:
        """Upload a file and return its checksum."""
        if not url.startswith(f"{settings.ZENODO_URL}/"):  # the token goes nowhere else
            raise PublishError("publish_refused", hub=Zenodo.title, said=f"It names another server for files: {url}")
        with path.open("rb") as file:
            return str(self._asked("PUT", url, data=file, timeout=(SECONDS, 3600)).json()["checksum"])

    def _asked(self, method: str, url: str, **more: Any) -> requests.Response:
        try:
            answer = self._session.request(method, url, **{"timeout": SECONDS, "allow_redirects": False, **more})
        except requests.RequestException as error:
            raise HubAway(f"Zenodo doesn't respond ({type(error).__name__})") from error  # its text may hold the token
        if answer.status_code == 429 or answer.status_code >= 500:
            raise HubAway(f"{method} {url}: {answer.status_code}")
        if not answer.ok or answer.is_redirect:
            raise PublishError("publish_refused", hub=Zenodo.title, said=_said(answer))
        return answer


def _said(answer: requests.Response) -> str:
    try:
        found = answer.json()
    except ValueError:
        return f"{answer.status_code} {answer.reason}"
    errors = "; ".join(f"{one.get('field', '')}: {one.get('message', '')}" for one in found.get("errors") or [])
    return f"{answer.status_code} {found.get('message', '')} {errors}".strip()[:300]


def _mark(wanted: Wanted) -> str:
    """Return the text by which a deposit is found whose creation got no answer."""
    return f"Release {wanted.release.number} of {wanted.release.campaign_id}."


def _deposit(zenodo: _Client, wanted: Wanted, remember: Remember) -> int:
    """Return the number of the release's deposit, a new one or a new version of the last release."""
    is_again = bool(wanted.remote.get("creating"))
    if "deposition" in wanted.earlier:
        number = _new_version(zenodo, int(wanted.earlier["deposition"]), remember, is_again=is_again)
    else:
        number = (_begun(zenodo, wanted) if is_again else None) or _created(zenodo, wanted, remember)
    remember({"deposition": number})
    return number


def _created(zenodo: _Client, wanted: Wanted, remember: Remember) -> int:
    remember({"creating": True})
    return int(zenodo.send("POST", "depositions", {"metadata": {"notes": _mark(wanted)}})["id"])


def _begun(zenodo: _Client, wanted: Wanted) -> int | None:
    found = zenodo.get("depositions", status="draft", size=MOST_LISTED, sort="mostrecent")
    return next((int(one["id"]) for one in found if one["metadata"].get("notes") == _mark(wanted)), None)


def _new_version(zenodo: _Client, earlier: int, remember: Remember, *, is_again: bool) -> int:
    """Return the draft of a new version; one that a person prepared on Zenodo's pages is left alone."""
    begun = _draft_of(zenodo, earlier)
    if begun is None:
        remember({"creating": True})
        try:
            zenodo.send("POST", f"depositions/{earlier}/actions/newversion")
        except PublishError:
            remember({"creating": False})
            raise
        begun = _draft_of(zenodo, earlier)
    elif not is_again:
        raise PublishError("publish_draft", url=f"{settings.ZENODO_URL}/deposit/{begun}")
    if begun is None:
        raise HubAway(f"no draft of a new version of {earlier} yet")
    return begun


def _draft_of(zenodo: _Client, earlier: int) -> int | None:
    link = zenodo.get(f"depositions/{earlier}")["links"].get("latest_draft", "")
    number = link.rstrip("/").rpartition("/")[2]
    return int(number) if number.isdecimal() and int(number) != earlier else None


def _upload(zenodo: _Client, deposit: dict[str, Any], wanted: Wanted) -> None:
    """Upload what isn't there yet, and delete what doesn't belong to this release."""
    there = {one["filename"]: one for one in zenodo.get(f"depositions/{deposit['id']}/files")}
    files = dict(_files(wanted))
    for name, one in there.items():
        if name not in files or one["checksum"].removeprefix("md5:") != files[name][1]:
            zenodo.send("DELETE", f"depositions/{deposit['id']}/files/{one['id']}")
    for name, (path, digest) in files.items():
        if name in there and there[name]["checksum"].removeprefix("md5:") == digest:
            continue
        found = zenodo.put_file(f"{deposit['links']['bucket'].rstrip('/')}/{quote(name, safe='')}", path)
        if found.removeprefix("md5:") != digest:
            raise HubAway(f"{name} arrived damaged")


def _files(wanted: Wanted) -> Iterator[tuple[str, tuple[Path, str]]]:
    """Yield the files with their MD5 sums: all in one archive, because a deposit has no folders, and what people read."""
    stem = f"{wanted.release.campaign.slug}-release-{wanted.release.number}"
    archive = wanted.folder.parent / f"{stem}.zip"
    names = sorted(str(path.relative_to(wanted.folder)) for path in wanted.folder.rglob("*") if path.is_file())
    opened = [(name, partial(_opened, wanted.folder / name)) for name in names]
    with archive.open("wb") as file:
        for part in zip_stream(stem, opened):
            file.write(part)
    read = [wanted.folder / name for name in (CARD, LICENSE, CITATION) if name in names]
    for path in (archive, *read):
        with path.open("rb") as file:
            yield path.name, (path, hashlib.file_digest(file, partial(hashlib.md5, usedforsecurity=False)).hexdigest())


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _metadata(wanted: Wanted) -> dict[str, Any]:
    manifest = wanted.release.manifest
    counts = "; ".join(f"{name}: {count} items" for name, count in manifest["splits"].items())
    synthetic = "<p><strong>The answers were made by a synthetic crowd.</strong></p>" if manifest["synthetic"] else ""
    return {
        "upload_type": "dataset",
        "title": manifest["title"],
        "creators": [{"name": name} for name in manifest["authors"]],
        "description": f"<p>{escape(manifest['title'])}. {escape(counts)}.</p>{synthetic}"
        "<p>README.md is the data card. The archive has all files of the release, with checksums.</p>",
        "access_right": "open",
        "license": (spdx_of(manifest) or "").lower(),
        "version": f"{wanted.release.number}.0.0",
        "keywords": ["question answering"],
        "notes": _mark(wanted),
    }
