"""A client of the interface in the test's own process."""

import json
from typing import Any

from django.test import Client
from django.utils import timezone

from annotation.models import Campaign
from api.models import TokenScope
from api.tokens.services import token_create


class Api:
    """A person's token, and requests with it."""

    def __init__(self, user: Any, scopes: Any = TokenScope.values, campaign: Campaign | None = None) -> None:
        self.token, self.secret = token_create(
            user=user, name="a test", scopes=scopes, campaign=campaign, days=1, now=timezone.now()
        )
        self._client = Client()

    @classmethod
    def with_secret(cls, secret: str) -> "Api":
        """Return a client for a token that exists already."""
        api = cls.__new__(cls)
        api.secret, api._client = secret, Client()
        return api

    def send(self, method: str, path: str, body: Any = None, *, data: bytes | None = None, **headers: str) -> Any:
        """Send a request; ``body`` is sent as JSON, ``data`` as it is. Header names have underscores."""
        kind = headers.pop("content_type", "application/json")
        content = data if data is not None else b"" if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("Authorization", f"Bearer {self.secret}")
        return self._client.generic(
            method, path if path.startswith("/") else f"/api/v1/{path}", content, kind, headers=named
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: Any) -> Any:
        return self.send("POST", path, body, **headers)
