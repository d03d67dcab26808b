"""What an administrator does first and every night: the first login, the environment file, and old backups."""

import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from tests.conftest import ROOT


@pytest.mark.django_db
def test_the_first_administrator_logs_in_before_email_works(settings, monkeypatch, mailoutbox):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "the first administrator")
    call_command("createsuperuser", "--noinput", "--email", "boss@example.org", verbosity=0)
    client = Client()
    sent = {"login": "boss@example.org", "password": "the first administrator"}
    answer = client.post("/account/login/", sent, follow=True)
    assert answer.redirect_chain[-1][0] == "/"
    assert mailoutbox == []
    assert User.objects.get().is_admin


def manage(tmp_path, *arguments, **environment):
    base = {"PATH": os.environ["PATH"], "QUORATE_DATA": str(tmp_path)}
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=base | environment, cwd=ROOT, capture_output=True, text=True, check=False)


SHOW = "from django.conf import settings; print(settings.SETTINGS_MODULE, settings.DEFAULT_FROM_EMAIL)"


def test_commands_take_the_settings_of_the_environment_file(tmp_path):
    path = tmp_path / "environment"
    lines = (ROOT / "deploy/environment").read_text().replace("SECRET_KEY=\n", f"SECRET_KEY={'abcdefghijk' * 6}\n", 1)
    path.write_text(lines.replace("postgres:///quorate", f"sqlite:///{tmp_path}/app.sqlite3"))
    done = manage(
        tmp_path, "shell", "-v0", "-c", SHOW, QUORATE_ENVIRONMENT=str(path), QUORATE_METRICS_DIR=str(tmp_path)
    )
    assert done.stdout.strip() == "config.settings.prod Quorate <quorate@example.org>", done.stderr
    done = manage(tmp_path, "check", QUORATE_ENVIRONMENT=str(tmp_path / "none"))
    assert done.returncode
    assert done.stderr.strip() == f"Error: QUORATE_ENVIRONMENT: {tmp_path}/none: No such file or directory"


@pytest.mark.django_db(transaction=True)
def test_only_the_newest_backups_are_kept(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    folder = tmp_path / "backups"
    folder.mkdir()
    days = [folder / f"quorate-202611{day:02}T033000Z.tar" for day in range(1, 5)]
    for one in [*days, folder / "marketplace-20261101T033000Z.tar", folder / "notes.txt"]:
        one.write_text("before")
    with pytest.raises(CommandError, match="--keep must be"):
        call_command("backup", str(folder), "--keep", "-1")
    call_command("backup", str(folder), "--keep", "3")
    left = sorted(path.name for path in folder.iterdir())
    assert left[:1] == ["marketplace-20261101T033000Z.tar"]
    assert left[1] == "notes.txt"
    assert left[2:4] == [days[2].name, days[3].name]
    assert len(left) == 5
    call_command("backup", str(folder))
    assert len(list(folder.glob("quorate-*.tar"))) >= 3
