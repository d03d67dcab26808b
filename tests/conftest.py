"""What the tests stand on: the legs a machine has, the shared data, and a database that lets go of its rows."""

import gc
import os
import shutil
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import hypothesis
import pytest
from django.conf import settings
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connection
from django.test import TransactionTestCase
from django.utils import timezone

from tests import databases

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("QUORATE_SHARED") or ROOT.parent / "shared")
AWS = ROOT / ".venv-awscli/bin/aws"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
# The headless shell takes half the CPU of the whole browser, but lets third parties set cookies.
HEADLESS = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or CHROMIUM

# The marketplace is a project of its own, with settings of its own: its tests are a run of their own.
IS_MARKETPLACE = settings.SETTINGS_MODULE == "config.settings.marketplace_test"
collect_ignore_glob = ["[!m]*", "[!_m]*.py"] if IS_MARKETPLACE else ["marketplace"]

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")  # Debian's is not on everyone's PATH
# marker -> (is it there, how to get it)
LEGS = {
    "awscli": (AWS.exists(), "the AWS command line (make awscli)"),
    "browser": (bool(CHROMIUM), "Chromium (Debian: apt-get install chromium)"),
    "postgresql": (
        os.environ.get("DATABASE_URL", "").startswith("postgres"),
        "PostgreSQL (set DATABASE_URL=postgres://… to run the tests on it)",
    ),
    "redis": (bool(os.environ.get("REDIS_URL")), "Redis (set REDIS_URL=redis://…)"),
    "nginx": (bool(NGINX), "nginx (Debian: apt-get install nginx)"),
    "node": (bool(shutil.which("node")), "Node.js 18 or later (Debian: apt-get install nodejs)"),
    "peers": (
        all(find_spec(name) for name in ("crowdkit", "datasets", "natural_questions", "spacy", "statsmodels")),
        "the field's own tools (make peers)",
    ),
    "slow": ("slow" in os.environ.get("QUORATE_REQUIRE", "").split(), "minutes (make test-slow)"),
    "shared": (SHARED.is_dir(), f"the shared data (a folder {SHARED}, or set QUORATE_SHARED)"),
}

# The same examples for the same code: what a run says depends on the commit alone. `make explore` draws new ones.
hypothesis.settings.register_profile("quorate", deadline=None, derandomize=True)  # a machine may be busy
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
hypothesis.settings.load_profile("quorate")

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs in the thread of the tests
# The live server writes an answer in pieces; waiting for each to be acknowledged costs up to 40 ms.
WSGIRequestHandler.disable_nagle_algorithm = True
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium_at():
    """Return a function that starts the Chromium at a path; all are closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, ExitStack() as started:

        def start(path, *more):
            chromium = playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_ARGUMENTS, *more])
            started.callback(chromium.close)
            return chromium

        yield start


@pytest.fixture(scope="session")
def browser(chromium_at):
    """Return one Chromium for all browser tests."""
    return chromium_at(HEADLESS, "--renderer-process-limit=1")


@pytest.fixture(scope="session")
def whole_browser(chromium_at):
    """Return the whole Chromium, for tests of frames: it blocks the cookies of third parties, as people's browsers do."""
    return chromium_at(CHROMIUM)


# Begun first, so that nobody is left with one of them at the end of a run.
LONGEST = (
    "tests/deploy",
    "tests/replays/test_replays.py",
    "tests/guards",
    "tests/console/test_serving.py",
    "tests/browser",
    "tests/workforces",
    "tests/quality/labels/test_waves.py",
    "tests/evaluation/test_boards.py",
    "tests/exports/released/test_hostile.py",
    "tests/documents",
)


# Who asks for one of these touches the database, as do tests with the marker django_db; pytest-django refuses it to others.
DATABASE = {"db", "transactional_db", "live_server", "django_db_setup"}


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before -m looks at the markers
def pytest_collection_modifyitems(items):
    """Skip what this machine cannot run; fail instead where the run has to be complete. Put what takes longest first."""
    required = os.environ.get("QUORATE_REQUIRE", "").split()
    for name in required:
        if not LEGS[name][0]:
            raise pytest.UsageError(f"this run must not leave out {LEGS[name][1]}")
    for item in items:
        if item.get_closest_marker("django_db") or DATABASE & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.database)
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)
        for name, (there, how) in LEGS.items():
            if item.get_closest_marker(name) and not there:
                item.add_marker(pytest.mark.skip(reason=f"left out: needs {how}"))
    yield
    items.sort(
        key=lambda item: next((n for n, path in enumerate(LONGEST) if item.nodeid.startswith(path)), len(LONGEST))
    )


def pytest_collection_finish():
    """Have the collector of garbage leave alone what stays, and come less often: a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_terminal_summary(terminalreporter):
    """Say plainly which legs were left out and how to get them."""
    missing = [how for there, how in LEGS.values() if not there]
    for how in missing:
        terminalreporter.write_line(f"left out on this machine: {how}")


@pytest.fixture(scope="session")
def django_db_setup(request, django_test_environment, django_db_modify_db_settings, django_db_blocker):
    """Give this process a copy of a database that was migrated once, whose audit trail can be emptied on SQLite.

    The trigger that guards the trail has a test of its own.
    """
    TransactionTestCase._fixture_teardown = databases.database_empty
    with django_db_blocker.unblock():
        databases.test_database_create(request.config.cache.mkdir("databases"))
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER IF EXISTS audit_no_delete")
    yield
    with django_db_blocker.unblock():
        databases.test_database_drop()


@pytest.fixture
def shared():
    """Return the folder of real data."""
    return SHARED / "data"


@pytest.fixture
def broker():
    """Return the address of a Redis database of this test process alone: a worker would take the messages of other tests."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{number}").geturl()


@pytest.fixture
def now():
    """Return one moment for a whole test."""
    return timezone.now()


@pytest.fixture
def campaign(db):
    """Return an open campaign with one small page and no items."""
    from tests import factories

    return factories.campaign()


@pytest.fixture(autouse=True)
def _close_browsers():
    """Close what the simulated crowd's browsers kept open: a live server holds a database connection for each."""
    from simulation.browser import connections_close

    yield
    connections_close()


@pytest.fixture(autouse=not IS_MARKETPLACE)
def _clean_storage():
    from django.core.files.storage import storages

    yield
    for name in ("default", "releases"):
        shutil.rmtree(storages[name].location, ignore_errors=True)
