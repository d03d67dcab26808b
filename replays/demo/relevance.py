"""Small campaigns of pairs for `make demo`: one for members and the marketplace, one for a synthetic crowd."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.models import Role, User
from accounts.services import membership_grant
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.management.campaigns import launch_here
from annotation.models import Campaign
from quality.gold.services.keys import gold_import
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from replays.demo.seed import PEOPLE, items_import
from storage.tables.rows import read_rows
from workforces.kinds.mturk.terms import source_at
from workforces.services.workforces import workforce_add

CONTENT = Path(__file__).parent / "content"
SLUG, CROWD_SLUG = "demo-relevance", "demo-crowd"
PAIRS = 16
TERMS = {
    "reward_cents": 12,
    "training_bonus_cents": 25,
    "has_fees": False,
    "qualification": "own",
    "approve_after_seconds": 600,
    "undo_seconds": 120,
}


def seed_relevance(*, market: dict[str, Any], now: datetime, stderr: Any) -> None:
    """Create the campaign for people if it is missing."""
    admin = User.objects.get(email=PEOPLE["admin"])
    campaign = _campaign(SLUG, "Answer relevance (try it)", admin, now, stderr, has_training=True)
    if campaign is None:
        return
    with transaction.atomic():
        for name, role in (("anna", Role.ANNOTATOR), ("ben", Role.ANNOTATOR), ("rosa", Role.RESEARCHER)):
            user = User.objects.get(email=PEOPLE[name])
            membership_grant(user=user, scope_id=campaign.pk, role=role, actor_id=None, now=now)
    workforce_add(
        campaign=campaign,
        kind="mturk",
        terms=TERMS,
        actor_id=admin.surrogate_id,
        now=now,
        source=source_at(market["endpoint_url"]),
    )


def seed_for_crowd(*, now: datetime, stderr: Any) -> None:
    """Create the campaign for ``manage.py crowd`` if it is missing."""
    _campaign(
        CROWD_SLUG, "Answer relevance (for the synthetic crowd)", User.objects.get(email=PEOPLE["admin"]), now, stderr
    )


def _campaign(slug: str, title: str, admin: User, now: datetime, stderr: Any, **options: Any) -> Campaign | None:
    """Create and launch a campaign of the demo's pairs and return it, or return None if it exists already."""
    if Campaign.objects.filter(slug=slug).exists():
        return None
    campaign = campaign_create(
        slug=slug,
        title=title,
        task_type="antique",
        seed=2020,
        splits=[NewSplit("train", 3)],
        group_by="question",
        created_by=admin,
        now=now,
        consent=NewConsent(
            purpose="Trying Quorate out. Nothing you do here is published.",
            recorded="Your answers and how long each takes, until the demo is deleted.",
            contact="whoever started this demo",
            tells_behaviour=True,
        ),
        **options,
    )
    policy_publish(campaign=campaign, policy=Policy(), actor_id=admin.surrogate_id, now=now)
    import_keys(campaign, admin.surrogate_id, now)
    import_pairs(campaign, PAIRS, stderr)
    launch_here(campaign, stderr)
    return campaign


def import_keys(campaign: Campaign, actor_id: UUID | None, now: datetime) -> None:
    """Import the demo's gold questions into a campaign."""
    with (CONTENT / "antique_gold.jsonl").open("rb") as file:
        gold_import(campaign=campaign, rows=read_rows(file, "gold.jsonl"), actor_id=actor_id, now=now)


def import_pairs(campaign: Campaign, count: int, stderr: Any) -> None:
    """Import the first pairs of the demo into a campaign."""
    lines = (CONTENT / "antique_pairs.jsonl").read_text(encoding="utf-8").splitlines()[:count]
    part = Path(settings.DATA_DIR) / f"{campaign.slug}.jsonl"
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    items_import(campaign, part, stderr)
    part.unlink()
