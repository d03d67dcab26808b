"""The file of login providers: what is wrong in it is said with its place, and stops the start."""

import os
import subprocess
import sys

import pytest

from accounts.login_file import LoginFileError, allauth_providers, apps_of, origins_of, read_login_file
from tests.conftest import ROOT

GOOD = """
[[providers]]
id = "u"
name = "U"
kind = "openid"
url = "https://login.example.edu/realm"
client_id = "q"
client_secret = "s"
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("providers = [", "Invalid value (at end of document)"),
        ("passwords = true", "unknown: passwords"),
        (GOOD.replace("openid", "ldap"), "provider 1: kind must be one of openid, saml"),
        (GOOD.replace('client_id = "q"', ""), "provider 1: missing: client_id"),
        (GOOD.replace('"openid"', '"saml"'), "provider 1: missing: entity_id"),
        (GOOD + 'clientid = "q"', "provider 1: unknown: clientid"),
        (GOOD + 'signing_secret = "short"', "signing_secret must have at least 24 characters"),
        (GOOD + 'signing_secret = "whsec_not-base64-but-long-enough"', "must be base64"),
        (GOOD + 'emails_verified = "false"', "emails_verified must be true or false"),
        (GOOD.replace("https", "http"), "url must begin with https://"),
        ('password_login = "false"', "password_login must be true or false"),
        (GOOD + GOOD, "two providers have one id"),
        (GOOD + '[[providers.grants]]\ngroup = "g"\nrole = "boss"', "grant 1: needs a group, and a role"),
        (GOOD + '[[providers.grants]]\ngroup = "g"\nrole = "manager"', "name a campaign for every role but admin"),
        (GOOD + '[[providers.grants]]\ngroup = "g"\nrole = "admin"\ncampaign = "c"', "but admin, which has none"),
    ],
)
def test_a_faulty_file_names_the_place(tmp_path, text, why):
    path = tmp_path / "login.toml"
    path.write_text(text)
    with pytest.raises(LoginFileError) as caught:
        read_login_file(str(path))
    assert why in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_a_sentence_at_the_start(tmp_path):
    environment = {"PATH": os.environ["PATH"], "QUORATE_DATA": str(tmp_path), "QUORATE_LOGIN_FILE": "/no/such/file"}
    command = [sys.executable, str(ROOT / "manage.py"), "check"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "QUORATE_LOGIN_FILE: /no/such/file: [Errno 2] No such file or directory" in done.stderr


def test_without_providers_nothing_is_installed(tmp_path):
    assert read_login_file("") == ((), True)
    path = tmp_path / "login.toml"
    path.write_text("password_login = false")
    assert read_login_file(str(path)) == ((), False)
    assert apps_of(()) == origins_of(()) == []


def test_a_provider_is_allauths_and_its_origin_may_be_led_to(tmp_path):
    path = tmp_path / "login.toml"
    path.write_text(GOOD + 'origins = ["https://mfa.example.edu:8443/step"]')
    providers, has_passwords = read_login_file(str(path))
    assert has_passwords
    assert origins_of(providers) == ["https://login.example.edu", "https://mfa.example.edu:8443"]
    [app] = allauth_providers(providers)["openid_connect"]["APPS"]
    assert (app["provider_id"], app["settings"]["email_authentication"]) == ("u", False)
