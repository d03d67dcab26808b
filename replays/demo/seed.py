"""The data that `make demo` creates in an empty installation."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import Role, Surrogate, User
from accounts.selectors import consent_text_current
from accounts.services import consent_give, membership_grant
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.management.campaigns import launch_here
from annotation.models import Campaign
from evaluation.system_scores import scores_refresh
from jobs.terminal import run_here
from replays.demo.crowd import Member, answer_everything
from replays.demo.study import study_finish
from replays.demo.systems import systems_compare
from storage.secrets import new_password

HERE = Path(__file__).parent
OPEN_SLUG, FACTS_SLUG, SYSTEMS_SLUG, DONE_SLUG = "demo", "demo-facts", "demo-systems", "demo-finished"
JUDGED = 20  # questions of the campaign about systems whose answers people judge
PEOPLE = {
    "admin": "admin@demo.example",
    "anna": "anna@demo.example",
    "ben": "ben@demo.example",
    "rosa": "rosa@demo.example",
    "eva": "eva@demo.example",
    "finn": "finn@demo.example",
}
_CONSENT = NewConsent(
    purpose="Trying Quorate out. Nothing you do here is published.",
    recorded="Your answers, how long each step takes, and which boxes and words you select, until the demo is deleted.",
    contact="whoever started this demo",
    tells_behaviour=True,
)


def seed_open(*, now: datetime, stderr: Any) -> None:
    """Create the open campaign with questions if it is missing."""
    if Campaign.objects.filter(slug=OPEN_SLUG).exists():
        return
    admin = User.objects.get(email=PEOPLE["admin"])
    campaign = _campaign(OPEN_SLUG, "Questions about four pages (try it)", admin, now=now, stderr=stderr)
    launch_here(campaign, stderr)
    _roles_grant(campaign, now, anna=Role.ANNOTATOR, ben=Role.ANNOTATOR)


def seed_facts(*, now: datetime, stderr: Any) -> None:
    """Create the campaign for writing questions about facts (NLPCC 2017, KBQA), if it is missing."""
    if Campaign.objects.filter(slug=FACTS_SLUG).exists():
        return
    admin = User.objects.get(email=PEOPLE["admin"])
    campaign = campaign_create(
        slug=FACTS_SLUG,
        title="Questions for facts (try it)",
        task_type="kbqa",
        splits=[NewSplit("train", 1)],
        consent=_CONSENT,
        created_by=admin,
        now=now,
        seed=2017,
    )
    items_import(campaign, HERE / "content" / "facts.jsonl", stderr)
    launch_here(campaign, stderr)
    _roles_grant(campaign, now, anna=Role.ANNOTATOR, ben=Role.ANNOTATOR)


def seed_systems(*, now: datetime, stderr: Any) -> None:
    """Create the campaign in which people judge the answers of two systems, if it is missing."""
    if Campaign.objects.filter(slug=SYSTEMS_SLUG).exists():
        return
    campaign = campaign_create(
        slug=SYSTEMS_SLUG,
        title="Answers of two systems (try it)",
        task_type="correctness",
        splits=[NewSplit("judged", 1)],
        consent=_CONSENT,
        created_by=User.objects.get(email=PEOPLE["admin"]),
        now=now,
        seed=2025,
    )
    file = HERE / "content" / "answers.jsonl"
    payload = {"campaign": str(campaign.pk), "path": str(file), "name": file.name, "count": JUDGED}
    run_here(kind="evaluation.systems", payload=payload, stderr=stderr, scope_id=campaign.pk)
    launch_here(campaign, stderr)
    scores_refresh(campaign=campaign, now=now)
    _roles_grant(campaign, now, anna=Role.ANNOTATOR, ben=Role.ANNOTATOR)


def _roles_grant(campaign: Campaign, now: datetime, **more: Role) -> None:
    """Give rosa the role for downloads, eva and finn the expert role, and others the roles in ``more``."""
    roles = {"rosa": Role.RESEARCHER, "eva": Role.EXPERT, "finn": Role.EXPERT, **more}
    with transaction.atomic():
        for name, role in roles.items():
            user = User.objects.get(email=PEOPLE[name])
            membership_grant(user=user, scope_id=campaign.pk, role=role, actor_id=None, now=now)


def _logins() -> dict[str, str]:
    """Return this installation's passwords, generated once and readable by its owner only."""
    path = Path(settings.DATA_DIR) / "demo-logins.json"
    kept: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    logins = {email: kept.get(email) or new_password() for email in PEOPLE.values()}
    if logins != kept:  # a demo of an earlier version has fewer people
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(logins, file)
    return logins


def seed_people() -> dict[str, str]:
    """Create the demo's people if they are missing; return their logins.

    People from an archive have no password and aren't administrators yet.
    """
    logins = _logins()
    for name, email in PEOPLE.items():
        user = User.objects.filter(email=email).first()
        if user is None:
            User.objects.create_user(email, logins[email], name=name.capitalize(), is_admin=name == "admin")
        elif not user.has_usable_password():
            user.set_password(logins[email])
            user.is_admin = name == "admin"
            user.save(update_fields=["password", "is_admin"])
    return logins


def _campaign(slug: str, title: str, admin: User, *, now: datetime, stderr: Any, **options: Any) -> Campaign:
    campaign = campaign_create(
        slug=slug,
        title=title,
        task_type="nq",
        splits=[NewSplit("dev", 5)],
        consent=_CONSENT,
        created_by=admin,
        now=now,
        seed=2019,
        **options,
    )
    pages = {"campaign": str(campaign.pk), "path": str(HERE / "pages"), "name": "pages"}
    run_here(kind="annotation.import_documents", payload=pages, stderr=stderr, scope_id=campaign.pk)
    items_import(campaign, HERE / "questions.jsonl", stderr)
    return campaign


def items_import(campaign: Campaign, path: Path, stderr: Any) -> None:
    """Import a file of items into a campaign of the demo."""
    payload = {
        "campaign": str(campaign.pk),
        "path": str(path),
        "name": path.name,
        "pilot": False,
        "good_rows_only": False,
    }
    run_here(kind="annotation.import_items", payload=payload, stderr=stderr, scope_id=campaign.pk)


def make_finished(*, now: datetime, stderr: Any) -> None:
    """Have a synthetic crowd answer the questions. The demo loads the result from an archive."""
    admin = User.objects.get(email=PEOPLE["admin"])
    title = "Questions about four pages, answered by a synthetic crowd"
    campaign = _campaign(DONE_SLUG, title, admin, now=now, stderr=stderr, is_synthetic=True)
    launch_here(campaign, stderr)
    campaign.refresh_from_db()
    members = _crowd(campaign, (0.05, 0.08, 0.1, 0.12, 0.2, 0.35), now)
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {row["external_id"]: row["expected"] for row in map(json.loads, lines)}
    answer_everything(campaign=campaign, members=members, expected=expected, seed=7, now=now - timedelta(days=2))
    members += _crowd(campaign, (0.05, 0.1, 0.15, 0.2, 0.3) * 4, now)
    study_finish(campaign=campaign, members=members, expected=expected, now=now - timedelta(days=1), stderr=stderr)
    systems_compare(campaign=campaign, expected=expected, now=now, stderr=stderr)
    numbers_refresh(campaign=campaign, now=now)
    _roles_grant(campaign, now)


def _crowd(campaign: Campaign, slips: tuple[float, ...], now: datetime) -> list[Member]:
    """Return synthetic annotators who agreed to the consent text."""
    text, members = consent_text_current(campaign.pk), []
    for slip in slips:
        surrogate = Surrogate.objects.create()
        if text is not None:
            consent_give(text_id=text.pk, surrogate_id=surrogate.pk, now=now)
        members.append(Member(surrogate.pk, slip))
    return members
