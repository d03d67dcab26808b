"""From the database of the last tagged version: every migration applies, nothing is lost, and work goes on.

``quorate-VERSION.*.sql.gz`` were dumped by that version: a campaign of Natural Questions with work in hand, one of
ANTIQUE with gold, verdicts and a visit by a link, and people in all roles.
"""

import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.db import connection, migrations
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED
from django.test import Client

from accounts.models import User
from tests.conftest import ROOT

VERSION = "0.2.0"
NEVER_AT_ONCE = (migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel)
HERE = Path(__file__).parent
SHOWN = """
import json
from django.db import DatabaseError
from django.test import Client
from accounts.models import User
from annotation.models import Annotation, Campaign, Participation
from annotation.slots.services.claims import slot_claim_next
from django.utils import timezone
from workforces.models import Ticket, Workforce
row = Workforce.objects.get()
boss = User.objects.get(email="boss@example.org")
client = Client(headers={"host": "localhost"})
client.force_login(boss)
pages = [client.get(f"/campaigns/{one.slug}/{what}").status_code for one in Campaign.objects.all() for what in ("", "items/", "members/", "recruitment/", "import/")]
nq = Campaign.objects.get(slug="earth")
place = Participation.objects.filter(campaign=nq).first()
claim = slot_claim_next(campaign=nq, surrogate_id=place.surrogate_id, now=timezone.now())
try:
    Annotation.objects.update(answer={})
    refused = False
except DatabaseError:
    refused = True
print("SHOWN" + json.dumps({
    "annotations": list(Annotation.objects.order_by("pk").values_list("pk", "state")), "pages": sorted(set(pages)),
    "door": Client(headers={"host": "localhost"}).get(row.path).status_code, "secret": len(row.secret), "ticket": Ticket.objects.get().state,
    "claim": claim.assignment is not None, "refused": refused,
}))
"""


@contextmanager
def old_database(folder):
    """Yield the URL of a database as the old version left it."""
    if connection.vendor == "sqlite":
        target = folder / "old.sqlite3"
        script = gzip.decompress((HERE / f"quorate-{VERSION}.sqlite.sql.gz").read_bytes()).decode()
        with closing(sqlite3.connect(target)) as made:
            made.executescript(script)
        yield f"sqlite:///{target}"
        return
    known, name = connection.settings_dict, f"upgraded_{os.getpid()}_{threading.get_ident() % 10**6}"
    url = f"postgres://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{name}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    try:
        dump = gzip.decompress((HERE / f"quorate-{VERSION}.postgresql.sql.gz").read_bytes())
        psql = shutil.which("psql")
        assert psql, "psql comes with the client of PostgreSQL"
        subprocess.run([psql, "-q", "-v", "ON_ERROR_STOP=1", url], input=dump, check=True, capture_output=True)
        yield url
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.django_db(transaction=True)
def test_the_last_version_leads_to_this_one(tmp_path):
    with old_database(tmp_path) as url:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "QUORATE_DATA": str(tmp_path / "data"),
            "DATABASE_URL": url,
            "CELERY_BROKER_URL": "",
            "QUORATE_DEBUG": "1",
        }

        def manage(*arguments):
            command = [sys.executable, "manage.py", *arguments]
            done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            return done.stdout

        manage("migrate", "-v0")
        manage("migrate", "--check")
        shown = json.loads(manage("shell", "-c", SHOWN).partition("SHOWN")[2])
    assert len(shown["annotations"]) == 14
    assert {state for _, state in shown["annotations"]} == {"counted"}
    assert shown["pages"] == [200]
    assert (shown["door"], shown["secret"], shown["ticket"], shown["claim"], shown["refused"]) == (
        200,
        32,
        "submitted",
        True,
        True,
    )


@pytest.mark.django_db
def test_sessions_name_the_backend_that_released_versions_know():
    client = Client()
    user = User.objects.create_confirmed("anna@example.org", "a long password")
    client.post("/account/login/", {"login": user.email, "password": "a long password"})
    assert client.session["_auth_user_backend"] == "config.sessions.UserBackend"


def test_the_released_version_can_write_to_the_new_tables():
    released = {line.split()[1] for line in (HERE / "released-migrations.sha256").read_text().splitlines()}
    checked, loader = [], MigrationLoader(None)
    for (app, name), migration in loader.disk_migrations.items():
        if (ROOT / app).is_dir() and f"{app}/migrations/{name}.py" not in released:
            for operation in migration.operations:
                checked.append(operation)
                assert not isinstance(operation, NEVER_AT_ONCE), f"{app}.{name}: do it one version later"
                if isinstance(operation, migrations.AddField) and not operation.field.many_to_many:
                    field = operation.field
                    assert field.null or field.db_default is not NOT_PROVIDED, f"{app}.{name}: {operation.name}"
    assert len(checked) > 20


def test_a_migration_that_was_released_is_never_edited():
    released = dict(line.split()[::-1] for line in (HERE / "released-migrations.sha256").read_text().splitlines())
    assert len(released) == 9
    assert released == {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in released}
