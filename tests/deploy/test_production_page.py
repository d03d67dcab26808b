"""`docs/how-to/run-in-production.md` and `upgrade.md`, followed command by command, with a crowd at work meanwhile.

Real PostgreSQL, Redis, nginx with TLS, gunicorn and Celery, started as the unit files of the kit say. What is stood in
for is listed in `tests.deploy.machine`. With QUORATE_UPGRADE_FROM=COMMIT the first version is that commit's.
"""

import http.client
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

import numpy as np
import pytest

from console.serving import any_port
from simulation.browser import Browser
from simulation.crowd import Crowd
from simulation.doors.market import Outcome
from simulation.doors.member import Member
from simulation.people import Habits, Person
from simulation.world import KnownWorld
from tests import factories
from tests.conftest import ROOT
from tests.console.processes import database
from tests.deploy.machine import Machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgresql,
    pytest.mark.redis,
    pytest.mark.database,
    pytest.mark.nginx,
]
ITEMS, VOTES, PEOPLE, PASSWORD = 400, 3, 6, "a crowd of six people"
LOAD_SECONDS = 60
INSTALL, UPGRADE, MARKET = (f"docs/how-to/{one}.md" for one in ("run-in-production", "upgrade", "run-the-marketplace"))


@pytest.fixture
def machine(monkeypatch):
    # A short path: those of sockets may have 108 characters.
    tmp_path, name = Path(tempfile.mkdtemp(prefix="quorate-")), f"deploy{os.getpid()}"
    with database(name, tmp_path) as url, database(f"{name}_marketplace", tmp_path) as market:
        known = urllib.parse.urlsplit(url)
        for variable, value in {
            "PGHOST": known.hostname,
            "PGPORT": known.port,
            "PGUSER": known.username,
            "PGPASSWORD": known.password,
        }.items():
            if value:
                monkeypatch.setenv(variable, str(value))
        made = Machine(tmp_path, database=name, redis_port=any_port())
        made.database_url, made.market_url = url, market
        monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
        redis = subprocess.Popen(
            ["redis-server", "--port", made.ports["6379"], "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
            stdout=subprocess.DEVNULL,
        )
        yield made
        made.close()
        redis.terminate()
        redis.wait()
    shutil.rmtree(tmp_path)


def install(machine):
    """Follow the page with the values of this machine."""
    old = os.environ.get("QUORATE_UPGRADE_FROM", "")
    return machine.follow(
        INSTALL,
        changes=[
            (r"HOST=quorate\.example\.org", "HOST=localhost"),
            (r"https://\$HOST", machine.url),
            (r"quorate migrate\n", f"{_settings(machine)}\nquorate migrate\n"),
            (r"quorate createsuperuser", "quorate createsuperuser --noinput"),
            *(_from_commit(old) if old else []),
        ],
    )


def _from_commit(old):
    """Return changes that install a commit of before the kit: with today's kit, and without what it can't do."""
    first, git = "/opt/quorate/releases/first", shutil.which("git")
    load = 'import environ, io, os; environ.Env.read_env(io.StringIO(open(os.environ["QUORATE_ENVIRONMENT"]).read()))'
    steps = [
        "export REAL_ENVIRONMENT=1",
        f"mkdir -p {first}",
        f"{git} -C {ROOT} archive {old} | tar -xf - -C {first}",
        f"cp -r {ROOT}/deploy {first}/",
        f'python3 {ROOT}/tests/deploy/places.py "$MACHINE" "$PORTS" $(find {first}/deploy -type f)',
        f"sed -i '1a {load}' {first}/manage.py",
    ]
    return [
        (r'git clone --quiet --depth 1 "\$SOURCE" /opt/quorate/releases/first', "\n".join(steps)),
        (r"quorate doctor.*", ""),
        (r"systemctl start quorate-(backup|restore-drill)\.service", ""),
    ]


def _settings(machine):
    """Return the edit of the environment file that the page asks for, and what differs on this machine."""
    changes = {
        "EMAIL_URL": "consolemail://",
        "DEFAULT_FROM_EMAIL": "quorate@example.org",
        "DATABASE_URL": machine.database_url,
    }
    edits = " ".join(f"-e 's#^{name}=.*#{name}={value}#'" for name, value in changes.items())
    return f"sed -i {edits} /etc/quorate/environment; echo PLATFORM_URL={machine.url} >>/etc/quorate/environment; echo C_FORCE_ROOT=1 >>/etc/quorate/environment"


@pytest.fixture
def installed(machine):
    said = install(machine)
    return machine, said


def test_the_pages_lead_to_an_installation_that_is_upgraded_under_load(installed):
    machine, said = installed
    assert re.search(r"^ok$", said, re.MULTILINE), said[-3000:]
    if not os.environ.get("QUORATE_UPGRADE_FROM"):
        assert "PROBLEM" not in said
        assert said.count("ok       settings") == said.count("ok       backups") == 1
        assert "can be restored" in machine.said()
        assert len(list((machine.root / "var/backups/quorate").glob("quorate-*.tar"))) == 1
        _administrator_logs_in(machine)
        _metrics_are_there(machine)
        _marketplace(machine)
    _campaign(machine)
    crowd, over = _crowd(machine), threading.Event()
    began, earlier = time.monotonic(), len(machine.statuses())
    thread = threading.Thread(target=crowd.run, args=(over.is_set,), kwargs={"seconds": 500})
    thread.start()
    try:
        _wait(lambda: crowd.outcomes[Outcome.HANDED_IN] > 20)
        before = machine.run("readlink /opt/quorate/current").strip()
        upgraded = machine.follow(UPGRADE)
        _wait(lambda: time.monotonic() - began > LOAD_SECONDS)
    finally:
        over.set()
        thread.join()
    assert before.endswith("/first")
    assert "releases/second runs now" in upgraded
    assert "releases/first runs now" in upgraded
    backups = sorted(path.name.partition("-")[0] for path in (machine.root / "var/backups/quorate").glob("*.tar"))
    assert backups in (["quorate"], ["marketplace", "quorate", "quorate"])
    statuses = machine.statuses()[earlier:]
    assert len(statuses) > 300
    assert {status for status in statuses if status >= 400} == set(), machine.said()
    handed_in = crowd.outcomes[Outcome.HANDED_IN]
    kept = machine.run(
        "quorate shell --no-imports -v0 -c 'from annotation.models import Annotation as A;"
        ' print("KEPT", A.objects.count(), A.objects.values("slot").distinct().count(),'
        ' A.objects.values("item", "surrogate").distinct().count())\''
    )
    assert f"KEPT {handed_in} {handed_in} {handed_in}" in kept
    _a_version_that_does_not_start_is_left_again(machine)
    print(f"{len(statuses)} requests, {handed_in} answers, upgraded and back, none failed")


def _a_version_that_does_not_start_is_left_again(machine):
    machine.run(
        "cp -r /opt/quorate/releases/second /opt/quorate/releases/broken"
        " && echo 'raise RuntimeError' >>/opt/quorate/releases/broken/config/wsgi.py"
    )
    said = machine.run("/opt/quorate/releases/second/deploy/upgrade broken", is_checked=False)
    assert "broken doesn't run as it should: returning to" in said
    assert machine.run("readlink /opt/quorate/current").strip().endswith("/first")
    assert "ok" in machine.run(f"curl -fsS {machine.url}/readyz")


def _administrator_logs_in(machine):
    """The first administrator gets in without a mail, and the page comes over TLS with its protections."""
    browser = Browser()
    form = browser.get(f"{machine.url}/account/login/").form_to("/account/login/")
    page = browser.send(form, login="boss@example.org", password="the first administrator")
    assert page.url == f"{machine.url}/"
    assert page.status == 200
    link = http.client.HTTPSConnection("localhost", machine.https, context=machine.context())
    link.request("GET", "/visit/a-token-of-a-visit/?q=1", headers={"X-Forwarded-For": "6.6.6.6"})
    answer = link.getresponse()
    answer.read()
    assert "max-age" in answer.getheader("Strict-Transport-Security")
    link.close()
    path, named = machine.root / "var/log/nginx/quorate.log", f'"request_id":"{answer.getheader("X-Request-ID")}"'
    _wait(lambda: named in path.read_text())  # nginx writes the line after the response
    logged = path.read_text()
    assert "a-token-of-a-visit" not in logged + machine.said()


def _marketplace(machine):
    """The marketplace's page leads to a marketplace beside it, which `upgrade` then restarts too."""
    said = machine.follow(
        MARKET,
        changes=[
            (r"work\.example\.org\n", "work.localhost\n"),
            (r"work-content\.example\.net\n", "content.localhost\n"),
            (
                r"certbot certonly",
                f"sed -i 's#postgres:///marketplace#{machine.market_url}#' /etc/quorate/environment\ncertbot certonly",
            ),
            (r"https://\$WORK", f"https://work.localhost:{machine.https}"),
        ],
    )
    assert re.search(r"^ok$", said, re.MULTILINE), said
    assert "https://work.localhost" in said


def _metrics_are_there(machine):
    found = re.search(
        r"^QUORATE_METRICS_TOKEN=(\w{40})$", (machine.root / "etc/quorate/environment").read_text(), re.MULTILINE
    )
    text = machine.run(f'curl -fsS -H "Authorization: Bearer {found[1]}" {machine.url}/metrics')
    assert "quorate_database_up 1.0" in text
    assert "quorate_problems 0.0" in text


ACCOUNTS = """
from django.db import transaction
from django.utils import timezone
from allauth.account.models import EmailAddress
from accounts.models import User
from accounts.services import membership_grant
from annotation.models import Campaign
for number in range(%d):
    email = f"a{number}-machines@crowd.example"
    user = User.objects.create_user(email, "%s")
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    with transaction.atomic():
        membership_grant(user=user, scope_id=Campaign.objects.get().pk, role="annotator", actor_id=None, now=timezone.now())
"""


def _campaign(machine):
    factories.write(machine.root / "pairs.jsonl", factories.pairs(ITEMS))
    (machine.root / "accounts.py").write_text(ACCOUNTS % (PEOPLE, PASSWORD))
    machine.run(
        f"quorate create_campaign machines --task-type antique --title Machines --split 'train {VOTES} 1'"
        f" && quorate import_items {machine.root}/pairs.jsonl --campaign machines --launch"
        f" && quorate shell -v0 <{machine.root}/accounts.py"
    )


def _crowd(machine):
    still = Habits(returns=0, abandons=0, skips=0, twice=0, undoes=0, tabs=0, leaves=0, fatigue=0, drift=0)
    people = [
        Member(
            machine.url,
            "machines",
            f"a{number}-machines@crowd.example",
            PASSWORD,
            Person(1, number, 1.0, np.ones(4) / 4, habits=still),
            KnownWorld((1, 2, 3, 4), {}, otherwise=3),
            before_answering=lambda: time.sleep(0.3),
        )
        for number in range(PEOPLE)
    ]
    return Crowd(people, seed=1, threads=3)


def _wait(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.2)


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze")
    place = tmp_path / "opt"
    for program in (place / "current/.venv/bin/python", place / "current/deploy/restore-drill"):
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    units = []
    for path in (ROOT / "deploy/systemd").glob("quorate-*"):
        units.append(tmp_path / path.name)
        units[-1].write_text(path.read_text().replace("/opt/quorate", str(place)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, units)], capture_output=True, text=True, check=False
    )
    assert len(units) >= 10
    assert done.stderr.strip() == ""
    assert done.returncode == 0
