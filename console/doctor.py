"""The examination of an installation: what is wrong with it, and what to do about each problem.

It asks more than `console.health` and may wait some seconds for each service: an administrator runs it by hand.
"""

import os
import re
import shutil
import smtplib
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core import mail
from django.core.checks import run_checks
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import DatabaseError, connection

from accounts.models import User
from console import health
from storage.backups import last_backup
from workforces.kinds.registry import KINDS

PRODUCTION = "config.settings.prod"
SECONDS = 10  # for each answer of another service
BACKUP_AGE = timedelta(hours=26)  # of a daily one, with two hours to be written
CERTIFICATE_LEFT = timedelta(days=14)
PROBE = "doctor-probe"
NO_MAIL = ("console", "dummy", "filebased", "locmem")  # backends of Django that send nothing
# What to do about the problems that a probe names, by how they begin.
REMEDIES = {
    "the database doesn't": "Start the database, and compare DATABASE_URL with its address, user, and password.",
    "migrations": "Run manage.py migrate.",
    "the cache's table": "Run manage.py createcachetable.",
    "the clocks": "Synchronize the clocks of both machines, for example with systemd-timesyncd.",
    "no worker": "Start a worker for each lane and the scheduler, and compare their environment with this one.",
    "the lane": "Start a worker for this lane: celery -A config.celery worker -Q LANE.",
    "the disk": "Make room on the disk of QUORATE_DATA, or give it a larger one.",
    "the cache doesn't": "Start Redis, and compare CACHE_URL with its address.",
    "the broker": "Start the broker, and compare CELERY_BROKER_URL with its address.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in an area of the installation, and its remedy; ``is_warning`` if people can work nevertheless."""

    area: str
    problem: str
    remedy: str
    is_warning: bool = False


def examine(now: datetime, backups: Path | None = None) -> Iterator[tuple[str, list[Finding]]]:
    """Yield each area with its findings: an empty list if all is well there.

    Parameters
    ----------
    backups
        The folder of backups, None for that of the settings.
    """
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "settings": _settings,
        "versions": _versions,
        "services": lambda: _services(now),
        "accounts": _accounts,
        "files": _files,
        "email": _email,
        "address": lambda: _address(now),
        "marketplace": _marketplaces,
        "backups": lambda: _backups(now, backups),
    }
    for area, check in checks.items():
        yield area, list(check())


def _settings() -> Iterator[Finding]:
    used = os.environ.get("DJANGO_SETTINGS_MODULE", "")
    if used != PRODUCTION:
        yield Finding(
            "settings",
            f"{used} is used: these settings are for development",
            f"Set DJANGO_SETTINGS_MODULE={PRODUCTION}, and load the environment file of the installation.",
        )
    host = urlsplit(settings.PLATFORM_URL).hostname or ""
    if settings.ALLOWED_HOSTS and host not in settings.ALLOWED_HOSTS:
        yield Finding(
            "settings", f"PLATFORM_URL names {host}", "Name this host in ALLOWED_HOSTS, or change PLATFORM_URL."
        )
    for one in run_checks(include_deployment_checks=used == PRODUCTION):
        if not one.is_silenced():
            yield Finding("settings", str(one.msg), str(one.hint or ""), is_warning=not one.is_serious())


def _versions() -> Iterator[Finding]:
    wrong = [
        f"{name} {there or 'is missing'} (wanted {wanted})"
        for name, wanted in _pinned(Path(settings.BASE_DIR) / "requirements.txt")
        if (there := _installed(name)) != wanted
    ]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        remedy = "Run pip install --require-hashes -r requirements.txt in the environment of the installation."
        yield Finding("versions", f"other packages than those tested: {', '.join(wrong[:3])}{more}", remedy)
    if connection.vendor == "postgresql":
        yield from _dump_program()


def _pinned(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and version of each package that is pinned for this Python and system."""
    from packaging.requirements import Requirement  # noqa: PLC0415  comes with gunicorn; only this needs it

    for line in path.read_text().splitlines():
        if line[:1].isalpha():
            asked = Requirement(line.split("\\")[0].strip())
            if asked.marker is None or asked.marker.evaluate():
                yield asked.name, next(iter(asked.specifier)).version


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _dump_program() -> Iterator[Finding]:
    """Check that backups can be made: `pg_dump` must be as new as the server."""
    if shutil.which("pg_dump") is None:
        yield Finding("versions", "pg_dump is not installed", "Install PostgreSQL's client: backups need it.")
        return
    said = subprocess.run(["pg_dump", "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S607
    ours = int(re.search(r"\d+", said)[0])  # type: ignore[index]  # "pg_dump (PostgreSQL) 15.7 (Debian 15.7-0)"
    try:
        connection.ensure_connection()
        server = connection.pg_version // 10_000  # type: ignore[attr-defined]  # PostgreSQL's only
    except DatabaseError:
        return  # said under "services"
    if ours < server:
        remedy = f"Install PostgreSQL's client {server}: an older pg_dump refuses a newer server."
        yield Finding("versions", f"pg_dump {ours} is older than the server, {server}", remedy)


def _services(now: datetime) -> Iterator[Finding]:
    for problem in health.problems(now):
        remedy = next((text for start, text in REMEDIES.items() if problem.startswith(start)), "")
        yield Finding("services", problem, remedy)


def _accounts() -> Iterator[Finding]:
    try:
        if not User.objects.filter(is_admin=True, is_active=True).exists():
            yield Finding("accounts", "there is no administrator", "Run manage.py createsuperuser.")
    except DatabaseError:
        return  # said under "services"


def _files() -> Iterator[Finding]:
    """Write, read and delete a small file in each storage."""
    for name in ("default", "documents", "releases_now"):
        storage = storages[name]
        try:
            kept = storage.save(PROBE, ContentFile(b"probe"))
            with storage.open(kept) as file:
                is_same = file.read() == b"probe"
            storage.delete(kept)
        except OSError as error:
            place = "QUORATE_RELEASES" if name == "releases_now" and settings.RELEASES_PLACE else "QUORATE_DATA"
            yield Finding(
                "files",
                f"the storage of {name.removesuffix('_now')} can't be written: {error}",
                f"Check {place} and its rights.",
            )
        else:
            if not is_same:
                yield Finding(
                    "files", f"the storage of {name} returns other bytes than were written", "Check the disk."
                )


def _email() -> Iterator[Finding]:
    backend = settings.EMAIL_BACKEND.split(".")[-2]
    if backend in NO_MAIL:
        yield Finding(
            "email",
            f"no email is sent: {settings.EMAIL_BACKEND}",
            "Set EMAIL_URL to your mail server.",
            is_warning=True,
        )
        return
    try:
        link = mail.get_connection(timeout=SECONDS) if backend == "smtp" else mail.get_connection()
        link.open()
        link.close()
    except (OSError, smtplib.SMTPException) as error:
        remedy = "Compare EMAIL_URL with the mail server's address, port, encryption, user, and password."
        yield Finding("email", f"the mail server at {settings.EMAIL_HOST}:{settings.EMAIL_PORT}: {error}", remedy)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Return redirects instead of following them."""

    def redirect_request(self, *_args: object) -> None:
        """Follow nothing."""


def _address(now: datetime) -> Iterator[Finding]:
    """Ask this installation for a page at the address that people use."""
    url = f"{settings.PLATFORM_URL}/account/login/"
    try:
        answer = urllib.request.build_opener(_NoRedirect).open(url, timeout=SECONDS)
        status, where = answer.status, ""
    except urllib.error.HTTPError as error:
        status, where = error.code, error.headers.get("Location", "")
    except (OSError, ValueError) as error:
        remedy = "Check the name, the firewall, the proxy, and its certificate. People can't reach this address either."
        yield Finding("address", f"{url} can't be reached: {getattr(error, 'reason', error)}", remedy)
        return
    if where.rstrip("/") == url.rstrip("/"):
        yield Finding(
            "address",
            f"{url} redirects to itself: the proxy doesn't say that the request came by HTTPS",
            "Let the proxy set X-Forwarded-Proto, and set TRUSTED_PROXY_COUNT to the number of proxies.",
        )
    elif status >= 400:
        yield Finding("address", f"{url} answers with {status}", "Look into the log of the web server and the proxy.")
    if url.startswith("https:"):
        yield from _certificate(urlsplit(url).hostname or "", urlsplit(url).port or 443, now)


def _certificate(host: str, port: int, now: datetime) -> Iterator[Finding]:
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as link,
        ):
            ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(link.getpeercert()["notAfter"])), UTC)  # type: ignore[index]
    except (OSError, ValueError):
        return  # said before
    if ends - now < CERTIFICATE_LEFT:
        yield Finding(
            "address", f"the certificate of {host} ends on {ends:%Y-%m-%d}", "Renew it, and check the renewal."
        )


def _marketplaces() -> Iterator[Finding]:
    for kind in KINDS.values():
        for problem, remedy in kind.faults():
            yield Finding("marketplace", problem, remedy)


def _backups(now: datetime, folder: Path | None) -> Iterator[Finding]:
    folder = folder or (Path(settings.BACKUPS_DIR) if settings.BACKUPS_DIR else None)
    if folder is None:
        remedy = "Set QUORATE_BACKUPS to the folder of backups, or name it with --backups."
        yield Finding("backups", "the age of backups isn't examined", remedy, is_warning=True)
        return
    remedy = f"Run manage.py backup {folder} daily, and look into the log of its timer."
    last = last_backup(folder, settings.BACKUP_NAME)
    if last is None:
        yield Finding("backups", f"there is no backup in {folder}", remedy)
    elif (age := timedelta(seconds=time.time() - last)) > BACKUP_AGE:
        yield Finding("backups", f"the last backup in {folder} is {age.total_seconds() / 3600:.0f} hours old", remedy)
