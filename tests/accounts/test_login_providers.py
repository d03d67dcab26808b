"""Logins by a real OpenID provider and by signed SAML responses: accounts, roles of groups, and their end."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.test import Client
from onelogin.saml2.constants import OneLogin_Saml2_Constants
from onelogin.saml2.utils import OneLogin_Saml2_Utils

from accounts.login_file import allauth_providers
from accounts.models import AuditEvent, ProvidedRole, Role, Surrogate, User
from accounts.services import invitation_create, membership_grant
from console.serving import any_port
from simulation.browser import Browser
from tests import factories
from tests.silent import silent_server
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = b"a-secret-of-the-tests-only"
ANNA = {"email": "anna@university.example", "email_verified": True, "name": "Anna Lind"}


@pytest.fixture(scope="module")
def openid():
    """Serve an OpenID provider on loopback; yield its address."""
    port = any_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: _listens(port))
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait()


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def provider(openid, settings):
    """Use this provider, whose address is known only now."""
    found = next(one for one in settings.LOGIN_PROVIDERS if one.id == "university")
    used = type(found)(found.id, found.name, found.kind, {**found.options, "url": openid}, found.grants)
    settings.SOCIALACCOUNT_PROVIDERS = allauth_providers([used])
    return openid


@pytest.fixture
def earth():
    return factories.campaign(items=1, slug="earth")


def at_the_provider(openid, subject, **claims):
    """Set what the provider says of a person."""
    request = urllib.request.Request(f"{openid}/users/{subject}", json.dumps(claims).encode(), method="PUT")
    request.add_header("Content-Type", "application/json")
    urllib.request.urlopen(request, timeout=10).close()


def log_in(site, subject, browser=None, path="/"):
    """Log in by the provider as a person would; return the browser and the page that comes of it."""
    browser = browser or Browser()
    form = browser.get(f"{site}/account/login/?next={path}").form_to("/oidc/university/login/")
    page = browser.send(form)
    assert "authorize" in page.url
    return browser, browser.send(page.forms[0], sub=subject)


def roles(user):
    return sorted(user.memberships.values_list("role", flat=True))


def test_the_first_login_makes_an_account_with_the_roles_of_its_groups(live_server, provider, earth, mailoutbox):
    at_the_provider(provider, "anna", **ANNA, groups=["labelers", "unknown"])
    _, page = log_in(live_server.url, "anna", path="/work/earth/")
    assert page.url.startswith(f"{live_server.url}/work/earth/")
    user = User.objects.get()
    assert (user.email, user.name, roles(user)) == (ANNA["email"], "Anna Lind", ["annotator"])
    assert not user.has_usable_password()
    assert EmailAddress.objects.get().verified
    assert mailoutbox == []
    log_in(live_server.url, "anna")
    assert User.objects.count() == Surrogate.objects.count() == SocialAccount.objects.count() == 1


def test_groups_are_read_at_each_login_and_what_a_manager_gave_stays(live_server, provider, earth, now):
    at_the_provider(provider, "bo", **ANNA, groups="leads")
    log_in(live_server.url, "bo")
    user = User.objects.get()
    assert roles(user) == ["manager"]
    with transaction.atomic():
        membership_grant(user=user, scope_id=earth.pk, role=Role.RESEARCHER, actor_id=None, now=now)
    at_the_provider(provider, "bo", **ANNA, groups=["operators"])
    log_in(live_server.url, "bo")
    user.refresh_from_db()
    assert (roles(user), user.is_admin) == (["researcher"], True)
    at_the_provider(provider, "bo", **ANNA)
    log_in(live_server.url, "bo")
    user.refresh_from_db()
    assert (roles(user), user.is_admin) == (["researcher"], False)
    acts = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert [act for act in acts if "provide" in act or "withdraw" in act] == ["admin_provide", "admin_withdraw"]


def test_a_role_that_excludes_another_is_refused_with_a_message(live_server, provider, earth):
    at_the_provider(provider, "cleo", **ANNA, groups=["labelers", "leads"])
    _, page = log_in(live_server.url, "cleo")
    assert len(roles(User.objects.get())) == 1
    assert "Your role in earth conflicts with another role" in page.text


def test_an_unconfirmed_address_leads_to_nobodys_account(live_server, provider, earth, settings, mailoutbox):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
    victim = User.objects.create_confirmed(ANNA["email"], "a long password")
    at_the_provider(provider, "mallory", email=ANNA["email"], email_verified=True, groups=["labelers"])
    browser, page = log_in(live_server.url, "mallory")
    assert page.url.endswith("/account/confirm-email/")  # as after a sign-up: it doesn't tell that there is an account
    assert "already" in mailoutbox[0].body
    assert mailoutbox[0].to == [victim.email]
    assert not SocialAccount.objects.exists()
    assert roles(victim) == []
    assert browser.get(f"{live_server.url}/").url.startswith(f"{live_server.url}/account/")


def test_a_provider_that_stays_silent_holds_up_its_own_logins_alone_and_only_for_seconds(client, settings):
    found = next(one for one in settings.LOGIN_PROVIDERS if one.id == "university")
    with silent_server() as (port, came):
        options = {**found.options, "url": f"http://127.0.0.1:{port}"}
        used = type(found)(found.id, found.name, found.kind, options, found.grants)
        settings.SOCIALACCOUNT_PROVIDERS = allauth_providers([used])
        assert client.get("/account/login/").status_code == 200
        assert came == []
        answer = client.post("/account/oidc/university/login/")
        assert answer.status_code == 503
        assert "login service can't be reached" in answer.content.decode()


GROUPS, MAIL = "urn:oid:1.3.6.1.4.1.5923.1.5.1.1", "urn:oid:0.9.2342.19200300.100.1.3"
RESPONSE = """<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r{number}" Version="2.0" IssueInstant="{now}"
 Destination="{acs}" InResponseTo="{request}"><saml:Issuer>https://idp.example.org/</saml:Issuer>
<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>
<saml:Assertion ID="_a{number}" Version="2.0" IssueInstant="{now}"><saml:Issuer>https://idp.example.org/</saml:Issuer>
<saml:Subject><saml:NameID>gus</saml:NameID>
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData
 NotOnOrAfter="{later}" Recipient="{acs}" InResponseTo="{request}"/></saml:SubjectConfirmation></saml:Subject>
<saml:Conditions NotBefore="{earlier}" NotOnOrAfter="{later}"><saml:AudienceRestriction><saml:Audience>{audience}
</saml:Audience></saml:AudienceRestriction></saml:Conditions>
<saml:AuthnStatement AuthnInstant="{now}" SessionIndex="_s{number}"><saml:AuthnContext><saml:AuthnContextClassRef>
urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
<saml:AttributeStatement><saml:Attribute Name="{mail_name}"><saml:AttributeValue>gus@institute.example
</saml:AttributeValue></saml:Attribute><saml:Attribute Name="{groups_name}"><saml:AttributeValue>staff</saml:AttributeValue>
<saml:AttributeValue>raters</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>
</samlp:Response>"""


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Return the key and the certificate of an identity provider."""
    folder = tmp_path_factory.mktemp("idp")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=idp"]
    subprocess.run([*command, "-keyout", folder / "key", "-out", folder / "cert"], check=True, capture_output=True)
    return (folder / "key").read_text(), (folder / "cert").read_text()


@pytest.fixture
def institute(keys, settings):
    found = next(one for one in settings.LOGIN_PROVIDERS if one.id == "institute")
    options = {**found.options, "url": "https://idp.example.org/login", "certificate": keys[1]}
    used = type(found)(found.id, found.name, found.kind, options, found.grants)
    settings.SOCIALACCOUNT_PROVIDERS = allauth_providers([used])
    return keys


def saml_login(keys, *, audience=None, key=None, **changes):
    """Log in by a signed response; return the last answer."""
    client, host = Client(headers={"host": "127.0.0.1"}), "http://127.0.0.1/account/saml/institute"
    sent = client.post("/account/saml/institute/login/", {"next": "/work/earth/"})
    assert sent["Location"].startswith("https://idp.example.org/login?SAMLRequest=")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(sent["Location"]).query)
    request = zlib.decompress(base64.b64decode(query["SAMLRequest"][0]), -15).decode()
    at = datetime.now(UTC)
    moments = {"now": at, "earlier": at - timedelta(minutes=5), "later": at + timedelta(minutes=5)}
    filled = (
        RESPONSE.format(
            number=secrets.token_hex(8),
            acs=f"{host}/acs/",
            audience=audience or f"{host}/metadata/",
            request=re.search(r'ID="([^"]+)"', request)[1],
            mail_name=MAIL,
            groups_name=GROUPS,
            **{name: f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in moments.items()},
        )
        .replace("\n</saml:A", "</saml:A")
        .replace("\nurn:", "urn:")
    )
    response = OneLogin_Saml2_Utils.add_sign(
        filled,
        key or keys[0],
        keys[1],
        sign_algorithm=OneLogin_Saml2_Constants.RSA_SHA256,
        digest_algorithm=OneLogin_Saml2_Constants.SHA256,
    )
    for known, other in changes.items():
        response = response.replace(known.encode(), other.encode())
    posted = {"SAMLResponse": base64.b64encode(response).decode(), "RelayState": query.get("RelayState", [""])[0]}
    return client.post("/account/saml/institute/acs/", posted, follow=True)


def test_a_signed_saml_response_logs_in_with_the_roles_of_its_groups(institute, earth):
    page = saml_login(institute)
    assert page.redirect_chain[-1][0].startswith("/work/earth/")
    user = User.objects.get()
    assert (user.email, roles(user)) == ("gus@institute.example", ["annotator"])


@pytest.mark.parametrize(
    "harm", [{"audience": "https://another.example/"}, {"raters": "leads!"}, {"key": "another"}], ids=str
)
def test_a_saml_response_that_is_not_for_us_or_was_changed_logs_nobody_in(institute, earth, harm):
    if "key" in harm:
        made = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout
        harm = {"key": made}
    page = saml_login(institute, **harm)
    assert page.status_code == 401
    assert not User.objects.exists()


def signed(client, body, *, secret=SECRET, at=None, name="msg_1", provider="university"):
    at = int(time.time()) if at is None else at
    text = json.dumps(body).encode()
    signature = base64.b64encode(hmac.new(secret, f"{name}.{at}.".encode() + text, hashlib.sha256).digest())
    return client.post(
        f"/login-providers/{provider}/access/",
        text,
        content_type="application/json",
        headers={"webhook-id": name, "webhook-timestamp": str(at), "webhook-signature": f"v1,{signature.decode()}"},
    ).status_code


def test_the_provider_takes_roles_back_and_ends_access_at_once(live_server, provider, earth):
    at_the_provider(provider, "dora", **ANNA, groups=["leads"])
    browser, page = log_in(live_server.url, "dora", path="/campaigns/earth/")
    assert page.url == f"{live_server.url}/campaigns/earth/"
    user, caller = User.objects.get(), Client()
    assert signed(caller, {"subject": "dora", "groups": []}) == 200
    assert roles(user) == []
    assert browser.get(f"{live_server.url}/campaigns/earth/").status == 404
    assert signed(caller, {"email": ANNA["email"], "groups": ["leads"]}) == 200
    assert browser.get(f"{live_server.url}/campaigns/earth/").status == 200
    assert signed(caller, {"subject": "dora", "active": False, "groups": ["leads"]}) == 200
    assert roles(user) == []
    assert browser.get(f"{live_server.url}/").url.startswith(f"{live_server.url}/account/login/")
    _, page = log_in(live_server.url, "dora")
    assert "/account/inactive/" in page.url
    assert [one.role for one in ProvidedRole.objects.all()] == ["inactive"]
    assert signed(caller, {"subject": "dora", "groups": ["leads"]}) == 200  # says nothing of access
    assert not User.objects.get().is_active
    assert signed(caller, {"subject": "dora", "active": True, "groups": ["leads"]}) == 200
    assert browser.get(f"{live_server.url}/").url.startswith(f"{live_server.url}/account/login/")  # ended for good
    _, page = log_in(live_server.url, "dora", path="/campaigns/earth/")
    assert page.status == 200
    acts = list(AuditEvent.objects.values_list("action", flat=True))
    assert {"person_deactivate", "person_activate"} <= set(acts)


def test_a_person_who_disconnects_the_account_there_keeps_nothing_that_it_gave(live_server, provider, earth):
    at_the_provider(provider, "frida", **ANNA, groups=["leads"])
    browser, _ = log_in(live_server.url, "frida")
    user = User.objects.get()
    user.set_password("a long password")  # a way in that is left, as after a reset by mail
    user.save()
    browser = Browser()
    page = browser.get(f"{live_server.url}/account/login/?next=/account/3rdparty/")
    form = next(one for one in page.forms if "login" in one.fields)
    page = browser.send(form, login=user.email, password="a long password")
    assert page.url.endswith("/account/3rdparty/")
    form = next(one for one in page.forms if "account" in {**one.fields, **one.choices})
    browser.send(form, account=str(SocialAccount.objects.get().pk))
    assert not SocialAccount.objects.exists()
    assert roles(user) == []
    assert not ProvidedRole.objects.exists()


def test_a_campaign_can_accept_only_people_of_one_provider(live_server, provider, earth, client, now):
    boss = User.objects.create_superuser("boss@example.org", "a long password")
    client.force_login(boss)
    page = f"/campaigns/{earth.slug}/members/"
    sent = {"what": "domain", "domain": "", "provider": "university"}
    assert client.post(page, sent).status_code == 302
    link = invitation_create(
        scope_id=earth.pk, role="annotator", uses=5, days=1, note="", actor_id=boss.surrogate_id, now=now
    )
    outside = User.objects.create_confirmed("gil@example.org", "a long password")
    at_the_provider(provider, "anna", **ANNA)
    log_in(live_server.url, "anna")
    inside = User.objects.get(email=ANNA["email"])
    for user, wanted in ((outside, []), (inside, ["annotator"])):
        theirs = Client()
        theirs.force_login(user)
        theirs.get(f"/invite/{link}/")
        answer = theirs.post("/invite/", follow=True)
        assert roles(user) == wanted
        assert ("people who log in with Example University" in answer.content.decode()) is not bool(wanted)
    assert client.post(page, {"what": "domain", "domain": "", "provider": "nobody"}).status_code == 200
    assert client.post(page, {"what": "domain", "domain": "", "provider": ""}).status_code == 302


def test_an_address_that_the_provider_does_not_vouch_for_makes_no_account(live_server, provider, earth, mailoutbox):
    at_the_provider(provider, "mallory", email="boss@example.org", groups=["leads"])
    _, page = log_in(live_server.url, "mallory")
    assert not User.objects.exists()
    assert not SocialAccount.objects.exists()
    assert page.status == 200
    assert "invitation" in page.text


def test_secrets_are_written_as_the_specification_writes_them_too(client, earth, settings):
    found = next(one for one in settings.LOGIN_PROVIDERS if one.id == "university")
    key = secrets.token_bytes(24)
    options = {**found.options, "signing_secret": f"whsec_{base64.b64encode(key).decode()}"}
    settings.LOGIN_PROVIDERS = (type(found)(found.id, found.name, found.kind, options, found.grants),)
    assert signed(client, {"subject": "nobody"}, secret=key) == 404  # signed, but of nobody
    assert signed(client, {"subject": "nobody"}) == 401


def test_a_person_whom_another_deactivated_is_not_reactivated(live_server, provider, earth):
    at_the_provider(provider, "ines", **ANNA, groups=["leads"])
    log_in(live_server.url, "ines")
    User.objects.update(is_active=False)
    assert signed(Client(), {"subject": "ines", "active": True, "groups": ["leads"]}) == 200
    assert not User.objects.get().is_active


def test_a_login_to_an_existing_account_can_be_ended_by_the_provider(institute, earth, settings):
    user = User.objects.create_confirmed("gus@institute.example", "a long password")
    saml_login(institute)
    assert SocialAccount.objects.get().user == user
    assert roles(user) == ["annotator"]


def test_nothing_but_a_response_of_a_known_size_is_kept_and_nobody_is_logged_out_by_a_link(client, institute):
    assert client.post("/account/saml/nobody/acs/", {"SAMLResponse": "x"}).status_code == 404
    assert client.post("/account/saml/institute/acs/", {"SAMLResponse": "x" * 300_000}).status_code == 413
    assert client.get("/account/saml/institute/sls/?SAMLRequest=x&RelayState=https://evil.example/").status_code == 404


def test_calls_that_are_not_the_providers_change_nothing(live_server, provider, earth):
    at_the_provider(provider, "emil", **ANNA, groups=["leads"])
    log_in(live_server.url, "emil")
    caller, user = Client(), User.objects.get()
    end = {"subject": "emil", "active": False}
    now = int(time.time())
    assert signed(caller, end, secret=b"another secret") == 401
    assert signed(caller, end, at=now - 400) == 401
    assert signed(caller, end, at=now + 400) == 401
    assert signed(caller, end, provider="institute") == 404  # it has no secret
    assert signed(caller, end, provider="nobody") == 404
    assert signed(caller, {"subject": "somebody else"}) == 404
    assert signed(caller, []) == 422
    assert signed(caller, {"subject": "emil", "active": "no"}) == 422
    assert caller.get("/login-providers/university/access/").status_code == 405
    assert roles(user) == ["manager"]
    assert signed(caller, {"subject": "emil", "groups": []}, at=now) == 200
    assert signed(caller, {"subject": "emil", "groups": ["leads"]}, at=now - 10) == 409  # an earlier one, sent again
    assert roles(user) == []


def test_passwords_can_be_switched_off_but_for_administrators(client, settings):
    settings.PASSWORD_LOGIN = False
    User.objects.create_confirmed("fay@example.org", "a long password")
    User.objects.create_superuser("boss@example.org", "a long password")
    page = client.post("/account/login/", {"login": "fay@example.org", "password": "a long password"})
    assert page.status_code == 200
    assert "Log in with your organization&#x27;s account." in page.content.decode()
    page = client.post("/account/login/", {"login": "boss@example.org", "password": "a long password"})
    assert page.status_code == 302
    ProvidedRole.objects.create(user=User.objects.get(is_admin=True), provider="university", role="admin")
    client.logout()
    page = client.post("/account/login/", {"login": "boss@example.org", "password": "a long password"})
    assert page.status_code == 200  # an administrator by a group, which only a login there renews
