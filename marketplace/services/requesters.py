"""Requesters, their access keys, and secrets derived for them."""

import base64
import hashlib
import hmac
from datetime import datetime

from django.conf import settings
from django.db import transaction

from marketplace.models import AccessKey, HitLayout, Requester
from marketplace.protocol.ids import access_key_id, customer_id, entity_id


def requester_create(*, name: str, fee_rules: str, signs_frames: bool, now: datetime) -> Requester:
    """Create a requester with a balance of 0."""
    return Requester.objects.create(
        name=name, customer_id=customer_id(), fee_rules=fee_rules, signs_frames=signs_frames, created_at=now
    )


def requester_update(*, requester: Requester, fee_rules: str | None, signs_frames: bool | None) -> None:
    """Change the fees of future HITs, and whether frames are signed; omitted values don't change."""
    requester.fee_rules = fee_rules or requester.fee_rules
    requester.signs_frames = requester.signs_frames if signs_frames is None else signs_frames
    requester.save(update_fields=["fee_rules", "signs_frames"])


def key_create(*, requester: Requester, now: datetime) -> AccessKey:
    """Create an additional access key."""
    return AccessKey.objects.create(requester=requester, key_id=access_key_id(), created_at=now)


def keys_rotate(*, requester: Requester, now: datetime) -> AccessKey:
    """Revoke all access keys and the frame secret, and create a new key."""
    with transaction.atomic():
        AccessKey.objects.filter(requester=requester, revoked_at=None).update(revoked_at=now)
        requester.key_generation += 1
        requester.save(update_fields=["key_generation"])
        return key_create(requester=requester, now=now)


def key_current(*, requester: Requester, now: datetime) -> AccessKey:
    """Return the newest valid access key; create one if there is none."""
    newest = AccessKey.objects.filter(requester=requester, revoked_at=None).order_by("-pk").first()
    return newest or key_create(requester=requester, now=now)


def key_secret(key: AccessKey) -> str:
    """Return the secret of an access key: 40 characters, derived from the installation's key and not stored."""
    return base64.b64encode(_derive("access", key.key_id)).decode()[:40].replace("+", "/")


def frame_secret(requester: Requester) -> str:
    """Return the secret with which a requester can verify the parameters of a frame."""
    return _derive("frame", f"{requester.customer_id}:{requester.key_generation}").hex()


def frame_signature(requester: Requester, *, hit_id: str, assignment_id: str, worker_id: str, expires: int) -> str:
    """Return the hex HMAC-SHA256 of the four values, separated by newlines."""
    message = "\n".join([hit_id, assignment_id, worker_id, str(expires)])
    return hmac.new(frame_secret(requester).encode(), message.encode(), hashlib.sha256).hexdigest()


def layout_save(*, requester: Requester, name: str, html: str) -> HitLayout:
    """Save a HIT layout; an existing layout with this name is replaced and keeps its id."""
    layout, _ = HitLayout.objects.update_or_create(
        requester=requester,
        name=name,
        defaults={"html": html},
        create_defaults={"html": html, "layout_id": entity_id()},
    )
    return layout


def _derive(purpose: str, name: str) -> bytes:
    return hmac.new(settings.SECRET_KEY.encode(), f"marketplace:{purpose}:{name}".encode(), hashlib.sha256).digest()
