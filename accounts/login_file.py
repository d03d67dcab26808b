"""The file that QUORATE_LOGIN_FILE names: who may log in by which provider, and which groups give which roles.

Only the standard library is used: the settings read it.
"""

import tomllib
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROLES = ("admin", "manager", "researcher", "expert", "annotator")
KINDS = ("openid", "saml")
NEEDED = {
    "openid": ("id", "name", "kind", "url", "client_id", "client_secret"),
    "saml": ("id", "name", "kind", "url", "entity_id"),
}
OPTIONAL = ("groups_claim", "emails_verified", "signing_secret", "attributes", "origins", "grants", "certificate")
SECRET_LENGTH = 24
APPS = {
    "openid": ("allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"),
    "saml": ("allauth.socialaccount", "allauth.socialaccount.providers.saml"),
}


class LoginFileError(ValueError):
    """The file can't be used; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A role for the people of a group: in one campaign, by its short name; ``admin`` has none."""

    group: str
    role: str
    campaign: str = ""


@dataclass(frozen=True, slots=True)
class LoginProvider:
    """A provider of logins, and what its groups give."""

    id: str
    name: str
    kind: str
    options: dict[str, Any]
    grants: tuple[Grant, ...]

    @property
    def signing_secret(self) -> str:
        """The secret of calls that change or end people's access; empty if there are none."""
        return str(self.options.get("signing_secret", ""))

    @property
    def groups_claim(self) -> str:
        """The claim or attribute that lists a person's groups."""
        return str(self.options.get("groups_claim", "groups"))


def read_login_file(path: str) -> tuple[tuple[LoginProvider, ...], bool]:
    """Return the providers, and whether people can log in with a password.

    Raises
    ------
    LoginFileError
    """
    if not path:
        return (), True
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoginFileError(f"QUORATE_LOGIN_FILE: {path}: {error}") from error
    if unknown := data.keys() - {"password_login", "providers"}:
        raise LoginFileError(f"{path}: unknown: {', '.join(sorted(unknown))}")
    if not isinstance(data.get("password_login", True), bool):
        raise LoginFileError(f"{path}: password_login must be true or false, without quotes")
    providers = tuple(
        _provider(one, f"{path}: provider {number}") for number, one in enumerate(data.get("providers", ()), 1)
    )
    if len({one.id for one in providers}) < len(providers):
        raise LoginFileError(f"{path}: two providers have one id")
    return providers, bool(data.get("password_login", True))


def _provider(given: dict[str, Any], where: str) -> LoginProvider:
    if given.get("kind") not in KINDS:
        raise LoginFileError(f"{where}: kind must be one of {', '.join(KINDS)}")
    needed = NEEDED[given["kind"]]
    if missing := [name for name in needed if not given.get(name)]:
        raise LoginFileError(f"{where}: missing: {', '.join(missing)}")
    if unknown := given.keys() - {*needed, *OPTIONAL}:
        raise LoginFileError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    if 0 < len(str(given.get("signing_secret", ""))) < SECRET_LENGTH:
        raise LoginFileError(f"{where}: signing_secret must have at least {SECRET_LENGTH} characters")
    if not _is_key(str(given.get("signing_secret", ""))):
        raise LoginFileError(f"{where}: what follows whsec_ in signing_secret must be base64")
    if not isinstance(given.get("emails_verified", False), bool):
        raise LoginFileError(f"{where}: emails_verified must be true or false, without quotes")
    parts = urlsplit(given["url"])
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise LoginFileError(f"{where}: url must begin with https://")
    grants = tuple(_grant(one, f"{where}, grant {number}") for number, one in enumerate(given.get("grants", ()), 1))
    options = {name: value for name, value in given.items() if name != "grants"}
    return LoginProvider(given["id"], given["name"], given["kind"], options, grants)


def _is_key(secret: str) -> bool:
    try:
        return not secret.startswith("whsec_") or bool(b64decode(secret.removeprefix("whsec_"), validate=True))
    except ValueError:
        return False


def _grant(given: dict[str, Any], where: str) -> Grant:
    role, campaign = given.get("role"), given.get("campaign", "")
    if not given.get("group") or role not in ROLES:
        raise LoginFileError(f"{where}: needs a group, and a role: {', '.join(ROLES)}")
    if (role == "admin") == bool(campaign):
        raise LoginFileError(f"{where}: name a campaign for every role but admin, which has none")
    return Grant(given["group"], str(role), campaign)


def apps_of(providers: Iterable[LoginProvider]) -> list[str]:
    """Return the apps to install for these providers."""
    return list(dict.fromkeys(app for one in providers for app in APPS[one.kind]))


def origins_of(providers: Iterable[LoginProvider]) -> list[str]:
    """Return the origins that a login leads to: the pages' policy must allow the redirect of a form to them."""
    named = [url for one in providers for url in (one.options["url"], *one.options.get("origins", ()))]
    return sorted({f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, named)})


def allauth_providers(providers: Iterable[LoginProvider]) -> dict[str, Any]:
    """Return the providers as `SOCIALACCOUNT_PROVIDERS` of allauth."""
    openid, saml = [], []
    for one in providers:
        # To trust a provider's addresses is to let it log people in to the accounts that have them.
        is_trusted = bool(one.options.get("emails_verified", False))
        shared = {"verified_email": is_trusted, "email_authentication": is_trusted}
        if one.kind == "openid":
            known = {"client_id": one.options["client_id"], "secret": one.options["client_secret"]}
            settings = {"server_url": one.options["url"], **shared}
            openid.append({"provider_id": one.id, "name": one.name, **known, "settings": settings})
        else:
            # With a certificate, the address is that of the login; else that of the metadata, which has both.
            certificate = one.options.get("certificate")
            place = {"sso_url": one.options["url"], "x509cert": certificate} if certificate else None
            idp = {"entity_id": one.options["entity_id"], **(place or {"metadata_url": one.options["url"]})}
            settings = {"idp": idp, **shared}
            if "attributes" in one.options:
                settings["attribute_mapping"] = one.options["attributes"]
            saml.append({"provider_id": one.id, "name": one.name, "client_id": one.id, "settings": settings})
    return {
        "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": openid},
        "saml": {"APPS": saml},
    }
