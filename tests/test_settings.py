"""Production refuses to start insecurely; translations are complete; every command is in the reference."""

import os
import re
import subprocess
import sys
import tempfile

import pytest
from django.db import connection

from tests.conftest import ROOT

GOOD = {
    "SECRET_KEY": "k9" * 10 + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR",
    "ALLOWED_HOSTS": "quorate.example",
    "EMAIL_URL": "consolemail://",
    "DEFAULT_FROM_EMAIL": "a@quorate.example",
    "DATABASE_URL": "sqlite:///:memory:",
    "TRUSTED_PROXY_COUNT": "1",
}


def check(**changes):
    chosen = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    environment = (
        {name: value for name, value in os.environ.items() if name not in {*GOOD, "DJANGO_ALLOW_ASYNC_UNSAFE"}}
        | chosen
        | {"DJANGO_SETTINGS_MODULE": "config.settings.prod", "QUORATE_DATA": tempfile.mkdtemp()}
    )
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_production_starts_clean():
    result = check()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"SECRET_KEY": None},
        {"SECRET_KEY": "short"},
        {"SECRET_KEY": "a" * 60},
        {"ALLOWED_HOSTS": None},
        {"ALLOWED_HOSTS": "*"},
        {"EMAIL_URL": None},
        {"TRUSTED_PROXY_COUNT": None},
    ],
)
def test_production_refuses_an_insecure_or_missing_setting(changes):
    result = check(**changes)
    assert result.returncode != 0
    assert next(iter(changes)) in result.stderr


@pytest.mark.parametrize("name", ["django", "djangojs"])
def test_every_message_is_translated(name):
    text = (ROOT / f"locale/zh_Hans/LC_MESSAGES/{name}.po").read_text(encoding="utf-8")
    assert "fuzzy" not in text
    entries = re.split(r"\n\n", text)[1:]
    untranslated = [entry for entry in entries if re.search(r'msgstr(\[0\])? ""\s*$', entry.strip())]
    assert not untranslated, untranslated[:3]


def test_the_reference_names_every_setting():
    settings = "".join(path.read_text() for path in (ROOT / "config/settings").glob("*.py"))
    names = set(re.findall(r'env\.\w+\(\s*"(\w+)"', settings))
    documented = (ROOT / "docs/reference/settings.md").read_text()
    documented += (ROOT / "docs/reference/marketplace-api.md").read_text()
    assert {name for name in names if f"`{name}`" not in documented} == set()


PUBLIC = {
    "MARKETPLACE_SECRET_KEY": GOOD["SECRET_KEY"],
    "MARKETPLACE_URL": "https://work.example",
    "EMAIL_URL": "consolemail://",
    "MARKETPLACE_CONTENT_URL": "https://content.example",
    "DEFAULT_FROM_EMAIL": "a@work.example",
    "DATABASE_URL": "sqlite:///:memory:",
    "DJANGO_SETTINGS_MODULE": "config.settings.marketplace",
    "TRUSTED_PROXY_COUNT": "1",
}


def check_marketplace(**changes):
    chosen = {name: value for name, value in {**PUBLIC, **changes}.items() if value is not None}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    environment = {
        name: value for name, value in os.environ.items() if name not in {*PUBLIC, "DJANGO_ALLOW_ASYNC_UNSAFE"}
    }
    return subprocess.run(command, env=environment | chosen, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_a_public_marketplace_starts_clean():
    result = check_marketplace()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"MARKETPLACE_URL": "http://work.example"},
        {"MARKETPLACE_CONTENT_URL": "https://work.example"},
        {"MARKETPLACE_CONTENT_URL": "http://content.example"},
        {"MARKETPLACE_SECRET_KEY": None},
        {"MARKETPLACE_SECRET_KEY": "short"},
        {"EMAIL_URL": None},
        {"MARKETPLACE_DEVELOPMENT": "1"},
        {"TRUSTED_PROXY_COUNT": None},
        {"MARKETPLACE_FEES": "generous"},
    ],
)
def test_a_public_marketplace_refuses_to_start_insecurely(changes):
    result = check_marketplace(**changes)
    assert result.returncode != 0
    assert next(iter(changes)) in result.stderr


def test_the_reference_names_every_term_and_every_field_of_a_policy():
    from dataclasses import fields

    from quality.policies.policy import Policy
    from workforces.kinds.registry import KINDS

    text = (ROOT / "docs/reference/workforces.md").read_text(encoding="utf-8")
    names = {one.name for workforce in KINDS.values() for one in fields(workforce.terms_class)}
    for name in names | set(KINDS) | {one.name for one in fields(Policy)}:
        assert f"`{name}`" in text, name


@pytest.mark.postgresql
@pytest.mark.django_db
def test_postgresql_compiles_no_statement():
    """It takes longer than the statements of a page, whenever the planner misjudges what they cost."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)
