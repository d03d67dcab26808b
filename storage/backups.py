"""Backups: everything an installation holds, in one tar archive, taken while people work.

The archive holds a consistent copy of the database, the files of the data folder, the keys, and at its end a manifest
with the hash of each member. Files are content-addressed or written once, and a row is only written after its file. So
the database is copied first, and all files that it names exist when the files are read. Uploads are deleted when their
job ends, so they are read before the database and again after it.
"""

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from storage.child import end_with
from storage.tars import TarDamaged, hashed_tar, unpacked

KEYS = "keys.json"
DATABASES = ("database.sqlite3", "database.pgdump")
FORMAT = 1
INTERRUPTED = ".restore-interrupted"  # is there from the first change of a restore to its last


class BackupError(RuntimeError):
    """A backup can't be made or restored; the message gives the reason and the remedy."""


# --- Making one -------------------------------------------------------------------------------------


def backup_write(stream: IO[bytes], *, now: str) -> dict[str, Any]:
    """Write an archive to a stream and return its manifest."""
    folder = Path(settings.DATA_DIR)
    with (
        _work_folder(folder, ".backup-") as temporary,
        hashed_tar(stream) as archive,
    ):
        early = Path(temporary) / "early"
        for path in _files(folder, ("uploads",)):
            _keep_early(path, early / path.relative_to(folder))
        name = _database_copy(Path(temporary))
        for path in _files(folder, ("uploads",)):  # of jobs that were queued while the database was copied
            _keep_early(path, early / path.relative_to(folder))
        archive.add(name, Path(temporary) / name)
        for path in _files(folder, settings.BACKUP_FOLDERS):
            archive.add(str(path.relative_to(folder)), path)
        for path in _files(early, ("uploads",)):
            if (known := str(path.relative_to(early))) not in archive.files:
                archive.add(known, path)
        archive.add_bytes(KEYS, json.dumps({"SECRET_KEY": settings.SECRET_KEY}).encode())
        return archive.finish(
            {"format": FORMAT, "service": settings.ROOT_URLCONF.partition(".")[0], "database": name, "made_at": now}
        )


def backup_save(target: Path, *, now: str, keep: int = 0) -> tuple[Path, dict[str, Any]]:
    """Write a complete archive to a folder, or nothing if it fails; return its path and manifest.

    If ``keep`` isn't 0, the oldest archives there are deleted afterwards, and this many are kept.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise BackupError(
            f"{target} isn't a folder: name a folder for the backups, or - for standard output"
        ) from error
    final = target / f"{settings.BACKUP_NAME}-{now.replace(':', '').replace('-', '')[:15]}Z.tar"
    part = final.with_suffix(".part")
    with _alone(target, ".backup.lock"):
        for left in target.glob(f"{settings.BACKUP_NAME}-*.part"):  # by one that was killed
            left.unlink(missing_ok=True)
        try:
            with part.open("xb") as stream:
                manifest = backup_write(stream, now=now)
                stream.flush()
                os.fsync(stream.fileno())
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        part.replace(final)
        for old in sorted(target.glob(f"{settings.BACKUP_NAME}-*.tar"))[:-keep] if keep else []:
            old.unlink(missing_ok=True)
    return final, manifest


def last_backup(folder: Path, name: str) -> float | None:
    """Return when the newest backup of a folder was written, in seconds since 1970; None if there is none."""
    return max((path.stat().st_mtime for path in folder.glob(f"{name}-*.tar")), default=None)


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Hold a lock file, which Linux lets go when this process ends, however that happens."""
    path = folder / name
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before may have deleted it: then another file, another's, has the name by now.
            is_ours = os.fstat(lock.fileno()).st_ino == path.stat().st_ino
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise BackupError(f"another backup or restore is running in {folder}")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _work_folder(folder: Path, prefix: str) -> Iterator[str]:
    """Yield a temporary folder in the data folder, and delete those that killed processes left there."""
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder, f"{prefix}lock"):
        for left in folder.glob(f"{prefix}*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as temporary:
            yield temporary


def _files(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """Yield the finished files below some folders; the names of unfinished files begin with a dot."""
    for name in names:
        for path in sorted((folder / name).rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                yield path


def _keep_early(path: Path, to: Path) -> None:
    """Copy or hard-link a file that may be deleted at any moment."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError, FileExistsError):
        if to.exists():
            return
        try:
            os.link(path, to)
        except OSError:
            shutil.copyfile(path, to)


def _database_copy(folder: Path) -> str:
    """Write a consistent copy of the database into a folder and return its name."""
    if connection.vendor == "sqlite":
        target = folder / DATABASES[0]
        source = Path(str(connection.settings_dict["NAME"])).resolve()
        # One step is one read transaction: nobody waits for it, and nothing is seen half. A plain copy of the file
        # would miss what stands in the write-ahead log.
        with (
            closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as live,
            closing(sqlite3.connect(target)) as copy,
        ):
            try:
                live.backup(copy, pages=-1)
            except sqlite3.Error as error:
                raise BackupError(f"the database can't be copied to {folder}: {error}") from error
            if copy.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise BackupError("the copy of the database is damaged: check the disk")
        return target.name
    target = folder / DATABASES[1]
    _postgresql("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")
    return target.name


def _postgresql(program: str, *arguments: str) -> None:
    """Run a PostgreSQL program on our database."""
    known = connection.settings_dict
    environment = {
        **os.environ,
        "PGHOST": known["HOST"] or "",
        "PGPORT": str(known["PORT"] or ""),
        "PGUSER": known["USER"],
        "PGPASSWORD": known["PASSWORD"],
        "PGDATABASE": str(known["NAME"]),
    }
    environment = {name: value for name, value in environment.items() if value}
    try:
        done = subprocess.run(  # noqa: S603  PostgreSQL's own programs
            [program, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=partial(end_with, os.getpid()),
        )
    except FileNotFoundError as error:
        raise BackupError(f"{program} is not installed: it comes with the client of PostgreSQL") from error
    if done.returncode != 0:
        raise BackupError(f"{program}: {done.stderr.strip()[-500:]}")


# --- Restoring it -----------------------------------------------------------------------------------


def restore(stream: IO[bytes]) -> dict[str, Any]:
    """Restore an archive into an empty installation and return its manifest.

    Everything is first unpacked next to its destination and compared with the manifest; nothing changes before that.
    Jobs that were queued or running continue when a worker runs. After a restore that was killed, the next one begins
    again: the database comes last, and appears whole or not at all.

    Raises
    ------
    BackupError
        The installation isn't empty, or the archive is damaged, cut short, or from another service or database.
    """
    folder = Path(settings.DATA_DIR)
    with _work_folder(folder, ".restore-") as temporary:
        marker = folder / INTERRUPTED
        _refuse_unless_empty(is_interrupted=marker.exists())
        manifest = _unpacked(stream, Path(temporary))
        secret = _secret(Path(temporary) / KEYS)
        _check_database(Path(temporary) / manifest["database"])
        aside = _moved_aside(folder) if marker.exists() else None
        marker.touch()
        for name in settings.BACKUP_FOLDERS:
            _folder_restore(Path(temporary) / name, folder / name)
        manifest["is_same_key"] = _key_restore(secret)
        _database_restore(Path(temporary) / manifest["database"])  # last: with it the installation is there
        marker.unlink()
    return manifest | {"aside": aside}


def _refuse_unless_empty(*, is_interrupted: bool) -> None:
    tables = connection.introspection.table_names()
    connection.close()
    if tables and is_interrupted:
        raise BackupError(
            f"the database is there: the restore that was interrupted here had finished, unless someone set up this "
            f"installation since. Check it, and delete {Path(settings.DATA_DIR) / INTERRUPTED}"
        )
    if tables:
        raise BackupError("the database isn't empty: restore into a new installation (DATABASE_URL, QUORATE_DATA)")
    for name in settings.BACKUP_FOLDERS:
        if not is_interrupted and any((Path(settings.DATA_DIR) / name).glob("*")):
            raise BackupError(f"{Path(settings.DATA_DIR) / name} isn't empty: restore into a new QUORATE_DATA")


def _moved_aside(folder: Path) -> Path | None:
    """Move the contents of the restored folders into a new one, and return it; None if there was nothing to move.

    An interrupted restore put them there, but nothing proves that no one else did, so they aren't deleted.
    """
    aside = Path(tempfile.mkdtemp(prefix="left-by-a-restore-", dir=folder))
    for name in settings.BACKUP_FOLDERS:
        if any((folder / name).glob("*")):
            _folder_restore(folder / name, aside / name)
    with suppress(OSError):  # something is in it
        aside.rmdir()
        return None
    return aside


def _unpacked(stream: IO[bytes], folder: Path) -> dict[str, Any]:
    """Unpack a backup of this service and kind of database into a folder and return its manifest."""
    try:
        manifest = unpacked(stream, folder)
    except TarDamaged as error:
        raise BackupError(str(error)) from error
    try:
        about, database = (manifest["format"], manifest["service"]), manifest["database"]
        datetime.fromisoformat(manifest["made_at"])
    except (KeyError, TypeError, ValueError) as error:
        raise BackupError("the manifest isn't that of a backup") from error
    here = FORMAT, settings.ROOT_URLCONF.partition(".")[0]
    if about != here:
        raise BackupError(
            f"this is a backup of {about[1]}, format {about[0]}, but this installation is {here[1]}, format {here[0]}"
        )
    if database not in DATABASES or database not in manifest["files"] or KEYS not in manifest["files"]:
        raise BackupError("the backup has no database or no keys")
    if database != DATABASES[0 if connection.vendor == "sqlite" else 1]:
        raise BackupError(f"the backup contains {database}, but DATABASE_URL names another kind of database")
    return manifest


def _folder_restore(copy: Path, target: Path) -> None:
    """Move the contents of a folder; the target may exist if it is empty, such as a mount point."""
    if copy.exists():
        target.mkdir(parents=True, exist_ok=True)
        for child in copy.iterdir():
            shutil.move(child, target / child.name)


def _database_restore(copy: Path) -> None:
    if connection.vendor == "sqlite":
        target = Path(str(connection.settings_dict["NAME"]))
        for left in ("-wal", "-shm"):  # of the empty file that was looked at
            target.with_name(target.name + left).unlink(missing_ok=True)
        shutil.move(copy, target)
        return
    _postgresql(
        "pg_restore",
        "--single-transaction",
        "--no-owner",
        "--no-privileges",
        "--exit-on-error",
        f"--dbname={connection.settings_dict['NAME']}",
        str(copy),
    )


def _secret(path: Path) -> str:
    try:
        secret = json.loads(path.read_text())["SECRET_KEY"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BackupError(f"{KEYS} contains no key") from error
    if not isinstance(secret, str) or not secret.strip() or not secret.isascii():
        raise BackupError(f"{KEYS} contains no key")
    return secret


def _check_database(copy: Path) -> None:
    """Refuse a file that isn't an SQLite database, or a damaged one.

    PostgreSQL checks its dumps itself, in one transaction.
    """
    if connection.vendor != "sqlite":
        return
    try:
        with closing(sqlite3.connect(f"file:{quote(str(copy))}?mode=ro", uri=True)) as found:
            state = found.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise BackupError(f"{copy.name} isn't a database: {error}") from error
    if state != "ok":
        raise BackupError(f"{copy.name} is damaged: {state}")


def _key_restore(secret: str) -> bool:
    """Restore the key file of this installation, and return whether the restored key is the one in use."""
    path = Path(settings.DATA_DIR) / settings.BACKUP_KEY_FILE
    if secret == settings.SECRET_KEY:
        return True
    if path.exists() and path.read_text() == settings.SECRET_KEY:  # made by this very start
        path.write_text(secret)
        return True
    return False
