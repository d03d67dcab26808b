"""Write a campaign into an archive."""

import base64
import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.core.files.storage import storages
from django.db import connection, transaction
from django.db.models import ForeignKey, QuerySet

from accounts.models import ClaimedIdentity, ExternalIdentity, Surrogate, User
from annotation.models import Campaign, CampaignState
from console.archives.tables import (
    CHUNK,
    FORMAT,
    PEOPLE,
    ArchiveError,
    columns_of,
    member_of,
    migrations_here,
    tables_of,
)
from documents.models import Tokenization
from documents.paths import display_path, page_path, tokens_path
from exports.build import SUMS, descriptions_of
from exports.models import Release, ReleaseState
from exports.selectors.members import key_of
from jobs.models import Job, JobState
from storage.tars import HashedTar, hashed_tar
from web.version import VERSION, commit
from workforces.models import Errand, ErrandState, Posting, PostingState


def archive_write(campaign: Campaign, stream: IO[bytes], *, now: datetime) -> dict[str, Any]:
    """Write all data of a campaign into a stream, as of one moment, and return the manifest.

    Raises
    ------
    ArchiveError
        Something in the campaign is still running, here or at a marketplace.
    """
    with (
        tempfile.TemporaryDirectory(prefix="quorate-archive-") as name,
        hashed_tar(stream) as tar,
        reading_snapshot(),
    ):
        _refuse_unless_quiet(campaign)
        tables = _write_rows(campaign, tar, Path(name) / "part")
        for file in _document_names(campaign):
            _add_stored(tar, "documents", file, Path(name) / "part")
        for file in _release_names(campaign):
            _add_stored(tar, "releases", file, Path(name) / "part")
        return tar.finish(
            {
                "format": FORMAT,
                "campaign": campaign.slug,
                "code": VERSION,
                "commit": commit(),
                "made_at": now.isoformat(timespec="seconds"),
                "migrations": migrations_here(),
                "tables": tables,
            }
        )


@contextmanager
def reading_snapshot() -> Iterator[None]:
    """Read the database as it is at one moment, while others write."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # a transaction of Django's would take the lock of writers
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _refuse_unless_quiet(campaign: Campaign) -> None:
    """Refuse a campaign with running work: otherwise two installations would both continue it."""
    state = Campaign.objects.values_list("state", flat=True).get(pk=campaign.pk)
    unfinished = Job.objects.filter(scope=campaign.pk, state__in=(JobState.QUEUED, JobState.RUNNING))
    errands = Errand.objects.filter(
        workforce__campaign=campaign, state__in=(ErrandState.DUE, ErrandState.SENDING, ErrandState.FAILED)
    )
    postings = Posting.objects.filter(workforce__campaign=campaign).exclude(state=PostingState.SETTLED)
    for is_so, why in (
        (state == CampaignState.OPEN, "it is open: pause or close it first"),
        (unfinished.exists(), "a job of it is not finished: wait for it, or stop it"),
        (errands.exists(), "marketplace operations are unfinished: see People › Recruitment"),
        (postings.exists(), "postings of it are not settled yet: the marketplace is still read for them"),
    ):
        if is_so:
            raise ArchiveError(f"{campaign.slug} can't be archived: {why}")


def _write_rows(campaign: Campaign, tar: HashedTar, part: Path) -> dict[str, Any]:
    """Write each table into its own member; people last, once the rows that refer to them are known."""
    tables: dict[str, Any] = {}
    people: set[UUID] = set()
    users: set[int] = set()

    def write(label: str, rows: "QuerySet[Any]") -> None:
        fields = columns_of(rows.model, label)
        pointers = [
            (place, people if field.related_model is Surrogate else users)
            for place, field in enumerate(fields)
            if isinstance(field, ForeignKey) and field.related_model in (Surrogate, User)
        ]
        ordered = rows.order_by("pk").values_list(*(field.attname for field in fields))
        count = 0
        with _packed(part) as file:
            for row in ordered.iterator(chunk_size=CHUNK):
                for place, found in pointers:
                    if row[place] is not None:
                        found.add(row[place])
                file.write(json.dumps(row, default=_plain, ensure_ascii=False).encode() + b"\n")
                count += 1
        tables[label] = {"fields": [field.attname for field in fields], "rows": count}
        tar.add(member_of(label), part)

    for label, rows in tables_of(campaign):
        write(label, rows)
    people |= set(User.objects.filter(pk__in=users).values_list("surrogate_id", flat=True))
    for label, model in zip(PEOPLE[1:], (User, ExternalIdentity, ClaimedIdentity), strict=True):
        write(label, model._base_manager.filter(surrogate__in=people))  # noqa: SLF001  as above
    _write_surrogates(people, tar, part)
    tables[PEOPLE[0]] = {"fields": [field.attname for field in Surrogate._meta.concrete_fields], "rows": len(people)}  # noqa: SLF001  as above
    return tables


def _write_surrogates(people: Iterable[UUID], tar: HashedTar, part: Path) -> None:
    """Write the surrogates that rows refer to, with the keys of unnamed ones, which can't be computed elsewhere."""
    named = {
        surrogate
        for model in (User, ExternalIdentity)
        for surrogate in model._base_manager.values_list("surrogate_id", flat=True)  # noqa: SLF001  as above
    }
    with _packed(part) as file:
        for one in Surrogate.objects.filter(pk__in=people).order_by("pk"):
            one.key = None if one.pk in named else key_of(one.pk)
            row = [field.value_from_object(one) for field in Surrogate._meta.concrete_fields]  # noqa: SLF001  as above
            file.write(json.dumps(row, default=_plain).encode() + b"\n")
    tar.add(member_of(PEOPLE[0]), part)


@contextmanager
def _packed(part: Path) -> Iterator[gzip.GzipFile]:
    """Open a gzip file that doesn't contain the time when it was written."""
    with part.open("wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as file:
        yield file


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; fields read it back by themselves."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    raise TypeError(f"{type(value)} has no form in an archive")


def _document_names(campaign: Campaign) -> Iterator[str]:
    pages = next(rows for label, rows in tables_of(campaign) if label == "documents.Tokenization")
    seen: set[str] = set()
    for row in Tokenization.objects.filter(pk__in=pages.values("pk")).select_related("document").order_by("pk"):
        for name in (page_path(row.document.sha256), tokens_path(row.sha256), display_path(row.sha256)):
            if name not in seen:
                seen.add(name)
                yield name


def _release_names(campaign: Campaign) -> Iterator[str]:
    """Yield the names of release files in storage; files that a command wrote into another folder aren't included."""
    for release in Release.objects.filter(campaign=campaign, state=ReleaseState.READY).order_by("number"):
        if storages["releases"].exists(f"{release.folder}/{SUMS}"):
            for name in (*release.manifest["files"], *descriptions_of(release)):
                yield f"{release.folder}/{name}"


def _add_stored(tar: HashedTar, store: str, name: str, part: Path) -> None:
    with storages[store].open(name) as source, part.open("wb") as copy:
        for piece in source.chunks():
            copy.write(piece)
    tar.add(f"{store}/{name}", part)
