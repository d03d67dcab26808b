"""Bring an archived campaign into an empty installation."""

import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import storages
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.db.models import DateTimeField, ForeignKey, JSONField, Model

from accounts.audit import record
from accounts.models import User
from annotation.models import Campaign
from console.archives.files import files_check
from console.archives.tables import (
    CHUNK,
    FORMAT,
    PAGES,
    PEOPLE,
    ROWS,
    ArchiveError,
    columns_of,
    migrations_here,
    model_named,
    rows_in,
)
from database.bulk import statistics_refresh
from storage.tars import TarDamaged, unpacked

SURROGATE, USER, *_NAMED = PEOPLE
LOG = "accounts.AuditEvent"
_UNPACKED = ".archive-"
_UNFIT = (
    DatabaseError,
    ValidationError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OSError,
    EOFError,
    RecursionError,
    zlib.error,
)
LABELS = (SURROGATE, USER, *_NAMED, *PAGES, *ROWS)
# Of these an installation has rows before it has a campaign.
_MAY_BE_THERE = (SURROGATE, USER, LOG)


def archive_read(stream: IO[bytes], *, now: datetime, beside_others: bool = False) -> dict[str, Any]:
    """Import an archive, whole or not at all, and return its manifest.

    ``beside_others`` is only for the demo. It allows other campaigns in the installation, and moves times by the days
    that have passed since the archive was made. The demo's archives share no primary keys: one installation made them.

    All rows keep their keys. People get accounts under their addresses, without a password or rights over the
    installation. They request a new password, also if an account with their address already exists.

    Raises
    ------
    ArchiveError
        The installation isn't empty or has another version, or the archive is damaged or not an archive of a campaign.
    """
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{_UNPACKED}*"):  # by an import that was killed: it holds names
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_UNPACKED, dir=folder) as name:
        try:
            manifest = unpacked(stream, Path(name))
        except TarDamaged as error:
            raise ArchiveError(str(error)) from error
        _check(manifest)
        if not beside_others:
            _refuse_unless_empty()
        files_check(Path(name))
        with _stored(Path(name)), transaction.atomic():
            if not beside_others:
                _refuse_unless_empty()
            before = Campaign.objects.count()
            passed = (now - datetime.fromisoformat(manifest["made_at"])).days if beside_others else 0
            _Inserting(Path(name), beside_others=beside_others, later=timedelta(days=passed)).all(manifest["tables"])
            campaign = Campaign.objects.filter(slug=manifest["campaign"]).first()
            if campaign is None or Campaign.objects.count() != before + 1:
                raise ArchiveError(f"the archive contains a campaign other than {str(manifest['campaign'])[:60]}")
            record(
                action="campaign_import",
                subject=campaign,
                now=now,
                actor_id=None,
                scope_id=campaign.pk,
                made_at=manifest["made_at"],
                code=manifest["code"],
            )
    statistics_refresh(*(model_named(label) for label in ROWS))
    return manifest


def _check(manifest: dict[str, Any]) -> None:
    if manifest.get("format") != FORMAT:
        raise ArchiveError("this isn't a campaign archive (restore a backup with manage.py restore)")
    if manifest.get("migrations") != migrations_here():
        raise ArchiveError(
            f"the archive was written by another version ({manifest.get('code')}): upgrade both installations to the same version"
        )
    try:
        fields = {label: (table["fields"], table["rows"]) for label, table in manifest["tables"].items()}
        manifest["campaign"], datetime.fromisoformat(manifest["made_at"]), manifest["code"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ArchiveError("the manifest isn't that of a campaign archive") from error
    for label in LABELS:
        if fields.get(label, ([],))[0] != [field.attname for field in columns_of(model_named(label), label)]:
            raise ArchiveError(f"the table {label} is missing from the archive or has other columns")


def _refuse_unless_empty() -> None:
    """Refuse if there are campaigns or remains of one, because all imported rows keep their keys."""
    for label in LABELS:
        if label not in _MAY_BE_THERE and model_named(label)._base_manager.exists():  # noqa: SLF001  Django's documented way past managers that filter
            raise ArchiveError(
                f"this installation isn't empty ({label}): import the archive into a new installation (QUORATE_DATA, DATABASE_URL)"
            )


@contextmanager
def _stored(folder: Path) -> Iterator[None]:
    """Copy files into storage; delete the copied files if the code in the context fails."""
    added: list[tuple[str, str]] = []
    try:
        for store in ("documents", "releases"):
            for path in sorted(one for one in (folder / store).rglob("*") if one.is_file()):
                name = str(path.relative_to(folder / store))
                # What is there is of an import that was killed: there is no campaign to which it could belong.
                storages[store].delete(name)
                with path.open("rb") as file:
                    storages[store].save(name, File(file))
                added.append((store, name))
        yield
    except BaseException:
        for store, name in added:
            storages[store].delete(name)
        raise


class _Inserting:
    """Inserts the tables of an unpacked archive."""

    def __init__(self, folder: Path, *, beside_others: bool, later: timedelta) -> None:
        self._folder, self._later = folder, later
        self._shared = (SURROGATE, *PAGES) if beside_others else ()  # rows that other campaigns may have brought
        self._users: dict[int, int] = {}

    def all(self, tables: dict[str, Any]) -> None:
        """Insert every table, then have the database check the references of all rows.

        Raises
        ------
        ArchiveError
            Rows are damaged, or refer to rows that don't exist.
        """
        try:
            for label in LABELS:
                rows = rows_in(self._folder, label)
                if label == USER:
                    self._users |= _insert_users(rows)
                    found = len(self._users)
                else:
                    found = self._insert(model_named(label), label, rows)
                if found != tables[label]["rows"]:
                    raise ArchiveError(
                        f"the archive has {found} rows of {label}, but its manifest lists {tables[label]['rows']}"
                    )
            connection.check_constraints()
        except _UNFIT as error:
            raise ArchiveError(f"the rows of the archive are inconsistent: {error}") from error
        models = [model_named(label) for label in LABELS]
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)

    def _insert(self, model: type[Model], label: str, rows: Iterator[list[Any]]) -> int:
        """Insert rows unchanged, without defaults, current dates or signals; return how many."""
        fields = columns_of(model, label)
        own_keys = label == LOG  # rows that nothing points to, beside some that may be there
        here = [place for place, field in enumerate(fields) if not (own_keys and field.primary_key)]
        quote = connection.ops.quote_name
        names = ", ".join(quote(str(fields[place].column)) for place in here)
        marks = ", ".join(["%s"] * len(here))
        known = " ON CONFLICT DO NOTHING" if label in self._shared else ""
        statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks}){known}"  # noqa: S608, SLF001  names of columns
        count = 0
        with connection.cursor() as cursor:
            while chunk := list(islice(rows, CHUNK)):
                count += len(chunk)
                cursor.executemany(
                    statement, [tuple(self._value(fields[place], row[place]) for place in here) for row in chunk]
                )
        return count

    def _value(self, field: Any, value: Any) -> Any:
        """Return a value in database form; references to objects outside of the archive become None."""
        if value is not None and isinstance(field, ForeignKey):
            if field.related_model is User:
                value = self._users[value]
            elif field.related_model._meta.label not in LABELS:  # noqa: SLF001  Django's documented way to a model's name
                value = None
        if self._later and isinstance(field, DateTimeField | JSONField):
            value = _moved(value, self._later)
        return field.get_db_prep_save(field.to_python(value), connection)


_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")


def _moved(value: Any, later: timedelta) -> Any:
    """Return a value of JSON with every time and date in it moved."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        moved = datetime.fromisoformat(value) + later
        return moved.isoformat() if "T" in value else moved.date().isoformat()
    if isinstance(value, list):
        return [_moved(one, later) for one in value]
    if isinstance(value, dict):
        return {_moved(key, later): _moved(one, later) for key, one in value.items()}
    return value


def _insert_users(rows: Iterator[list[Any]]) -> dict[int, int]:
    """Give people accounts and return their new keys by the old ones."""
    fields = columns_of(User, USER)
    found = {}
    for row in rows:
        values = {field.attname: field.to_python(value) for field, value in zip(fields, row, strict=True)}
        old = values.pop("id")
        values["key"] = bytes(values["key"])
        user = User.objects.filter(email__iexact=values["email"]).first()
        if user is None:
            user = User.objects.create(password=make_password(None), **values)
            User.objects.filter(pk=user.pk).update(date_joined=values["date_joined"])  # it is today otherwise
        else:  # nobody has worked here: they are who they were there
            user.surrogate_id, user.key = values["surrogate_id"], values["key"]
            if not user.is_admin:
                # The owner of the account shows first that the address is theirs, before they have its roles.
                user.set_unusable_password()
            user.save(update_fields=["surrogate_id", "key", "password"])
        found[old] = user.pk
    return found
