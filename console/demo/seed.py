"""What `make demo` puts into an empty installation."""

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
from annotation.management.campaigns import launch_here
from annotation.models import Campaign
from annotation.services.campaigns import ConsentPlan, SplitPlan, campaign_create
from annotation.services.numbers import numbers_refresh
from config.secrets import new_password
from console.demo.crowd import Member, answer_everything
from console.demo.study import study_finish
from jobs.terminal import run_here

HERE = Path(__file__).parent
OPEN_SLUG, DONE_SLUG = "demo", "demo-finished"
PEOPLE = {
    "admin": "admin@demo.example",
    "anna": "anna@demo.example",
    "ben": "ben@demo.example",
    "rosa": "rosa@demo.example",
    "eva": "eva@demo.example",
    "finn": "finn@demo.example",
}
_CONSENT = ConsentPlan(
    purpose="Trying Quorate out. Nothing you do here is published.",
    recorded="Your answers, how long each step takes, and which boxes and words you select, until the demo is deleted.",
    contact="whoever started this demo",
    tells_behaviour=True,
)


def seed_demo(*, now: datetime, stderr: Any) -> dict[str, str]:
    """Create the demo's people and campaigns where they are missing; return the logins."""
    logins = _logins()
    users = _people(logins)
    if not Campaign.objects.filter(slug=OPEN_SLUG).exists():
        campaign = _campaign(OPEN_SLUG, "Four pages (try it)", users["admin"], now=now, stderr=stderr)
        launch_here(campaign, stderr)
    if not Campaign.objects.filter(slug=DONE_SLUG).exists():
        _finished(users["admin"], now=now, stderr=stderr)
    with transaction.atomic():
        for slug in (OPEN_SLUG, DONE_SLUG):
            campaign = Campaign.objects.get(slug=slug)
            membership_grant(user=users["rosa"], scope_id=campaign.pk, role=Role.RESEARCHER, actor_id=None, now=now)
            for name in ("eva", "finn"):
                membership_grant(user=users[name], scope_id=campaign.pk, role=Role.EXPERT, actor_id=None, now=now)
        campaign = Campaign.objects.get(slug=OPEN_SLUG)
        for name in ("anna", "ben"):
            membership_grant(user=users[name], scope_id=campaign.pk, role=Role.ANNOTATOR, actor_id=None, now=now)
    return logins


def _logins() -> dict[str, str]:
    """Return this installation's own passwords, made once and readable by its owner only."""
    path = Path(settings.DATA_DIR) / "demo-logins.json"
    kept: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    logins = {email: kept.get(email) or new_password() for email in PEOPLE.values()}
    if logins != kept:  # a demo of an earlier version has fewer people
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(logins, file)
    return logins


def _people(logins: dict[str, str]) -> dict[str, User]:
    users = {}
    for name, email in PEOPLE.items():
        user = User.objects.filter(email=email).first()
        if user is None:
            user = User.objects.create_user(email, logins[email], name=name.capitalize(), is_admin=name == "admin")
        users[name] = user
    return users


def _campaign(slug: str, title: str, admin: User, *, now: datetime, stderr: Any, **options: Any) -> Campaign:
    campaign = campaign_create(
        slug=slug, title=title, task_type="nq", splits=[SplitPlan("dev", 5)], consent=_CONSENT, created_by=admin,
        now=now, seed=2019, **options,
    )  # fmt: skip
    scope = {"campaign": str(campaign.pk)}
    pages = {**scope, "path": str(HERE / "pages"), "name": "pages"}
    run_here(kind="annotation.import_documents", payload=pages, stderr=stderr, scope_id=campaign.pk)
    questions = {
        **scope, "path": str(HERE / "questions.jsonl"), "name": "questions.jsonl", "pilot": False,
        "good_rows_only": False,
    }  # fmt: skip
    run_here(kind="annotation.import_items", payload=questions, stderr=stderr, scope_id=campaign.pk)
    return campaign


def _finished(admin: User, *, now: datetime, stderr: Any) -> None:
    title = "Four pages, answered by a synthetic crowd"
    campaign = _campaign(DONE_SLUG, title, admin, now=now, stderr=stderr, is_synthetic=True)
    launch_here(campaign, stderr)
    campaign.refresh_from_db()
    members = _crowd(campaign, (0.05, 0.08, 0.1, 0.12, 0.2, 0.35), now)
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {row["external_id"]: row["expected"] for row in map(json.loads, lines)}
    answer_everything(campaign=campaign, members=members, expected=expected, seed=7, now=now - timedelta(days=2))
    members += _crowd(campaign, (0.05, 0.1, 0.15, 0.2, 0.3) * 4, now)
    study_finish(campaign=campaign, members=members, expected=expected, now=now - timedelta(days=1), stderr=stderr)
    sample = {"campaign": str(campaign.pk), "count": 4, "seed": 7, "experts": 2, "every_answer": False}
    run_here(kind="quality.sample_cases", payload=sample, stderr=stderr, scope_id=campaign.pk)
    numbers_refresh(campaign=campaign, now=now)


def _crowd(campaign: Campaign, slips: tuple[float, ...], now: datetime) -> list[Member]:
    """Return synthetic annotators who agreed to the consent text."""
    text, members = consent_text_current(campaign.pk), []
    for slip in slips:
        surrogate = Surrogate.objects.create()
        if text is not None:
            consent_give(text_id=text.pk, surrogate_id=surrogate.pk, now=now)
        members.append(Member(surrogate.pk, slip))
    return members
