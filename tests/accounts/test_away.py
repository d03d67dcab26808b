"""With a database that is away, a request gets 503 in plain words, what was sent back, and one line in the log."""

import json
import logging
import os
import socket
import subprocess
import sys

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import OperationalError

from database.transactions import is_transient
from tests.conftest import ROOT
from tests.silent import silent_server
from web.logs import ShortWhenAway

ASK = """
import json, logging, django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, SERVER_NAME="127.0.0.1", HTTP_COOKIE="quorate_session=abcdefghijklmnop0123456789abcdef")
text = "I typed this for a while, and it would be a pity to lose it." * 3
posted = client.post("/work/earth/questions/", {"text": text, "password": "secret"}, HTTP_SEC_FETCH_SITE="same-origin",
    HTTP_ORIGIN="http://127.0.0.1")
answers = {
    "page": client.get("/"),
    "posted": posted,
    "json": client.get("/session/", HTTP_ACCEPT="application/json"),
    "part": client.get("/", HTTP_HX_REQUEST="true"),
    "alive": client.get("/healthz"),
}
print(json.dumps({name: [one.status_code, one.get("Retry-After"), one.content.decode()] for name, one in answers.items()}))
"""


@pytest.fixture(params=["away", "frozen"])
def port(request):
    """Return a port at which nobody listens, or at which nobody answers."""
    if request.param == "frozen":
        with silent_server() as (silent, _came):
            yield silent
    else:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            free = listener.getsockname()[1]
        yield free


def test_a_database_that_is_away_is_said_once(port):
    environment = {
        "QUORATE_CONNECT_SECONDS": "2",
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": f"postgres://quorate@127.0.0.1:{port}/quorate",
        "QUORATE_DATA": str(django_settings.DATA_DIR),
    }
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    for name in ("page", "posted", "part"):
        assert said[name][:2] == [503, "10"], said[name]
        assert "isn't responding" in said[name][2] or "doesn&#x27;t respond" in said[name][2]
    assert "<h1>" not in said["part"][2]
    assert "I typed this for a while" in said["posted"][2] and "secret" not in said["posted"][2]
    assert said["alive"][0] == 200
    lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert "Traceback" not in done.stderr
    assert [line for line in lines if "the database doesn't respond" not in line] == []
    assert len(lines) == 4  # one a request


@pytest.mark.parametrize(
    ("cause", "is_short"),
    [
        (psycopg.errors.AdminShutdown("terminating connection"), True),
        (psycopg.errors.QueryCanceled("canceling statement due to statement timeout"), False),  # which one, and why?
        (psycopg.errors.DeadlockDetected("deadlock detected"), False),
    ],
)
def test_only_a_database_that_is_away_has_no_traceback_in_the_log(cause, is_short):
    error = OperationalError(str(cause))
    error.__cause__ = cause
    assert is_transient(error)  # all of them may be tried again
    record = logging.LogRecord("django.request", logging.ERROR, "", 1, "Failed: /", (), (type(error), error, None))
    assert ShortWhenAway().filter(record)
    assert (record.exc_info is None) == is_short
