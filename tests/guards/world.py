"""One campaign with everything in it, someone in each role, and an address for every route."""

import itertools
import re
from typing import Any
from uuid import uuid4

from django.urls import get_resolver
from django.urls.resolvers import URLPattern
from django.utils import timezone

from accounts.models import Invitation, Role
from accounts.services import invitation_create
from annotation.campaigns.services.numbers import numbers_refresh
from api.models import WebhookDelivery
from api.webhooks.services import webhook_create
from evaluation.models import Board
from exports.services import release_request
from jobs.models import Event, Job
from jobs.services import job_run
from quality.policies.policy import Policy
from tests import factories
from tests.workforces.acts import by_link
from workforces.services.workforces import workforce_add

CODES = {"code_completed": "1", "code_screened_out": "2", "code_nothing_left": "3"}


def routes(patterns: Any = None, prefix: str = "") -> "itertools.chain[tuple[str, str]]":
    """Yield (name, pattern) of every route of a URL configuration."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(one, URLPattern):
            yield one.name or "", prefix + str(one.pattern)
        else:
            yield from routes(one.url_patterns, prefix + str(one.pattern))


class World:
    """The campaign, its people by role, and what the addresses name."""

    def __init__(self) -> None:
        now = timezone.now()
        self.campaign = campaign = factories.antique(items=6, n=2, policy=Policy(inspection_rate=1.0))
        worker = factories.annotator(campaign)
        annotation = factories.vote(campaign, worker, 3)
        self.assignment = factories.claim(campaign, worker)
        invitation_create(
            scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=worker.surrogate_id, now=now
        )
        self.link = workforce_add(campaign=campaign, kind="link", terms=CODES, actor_id=None, now=now)
        release = release_request(
            campaign=campaign, family="labels", ways=None, splits=[], seed=0, shards=1, actor_id=None, now=now
        )
        job_run(job_id=release.job_id)
        release.refresh_from_db()
        board = Board.objects.create(  # too few items for one that a person makes
            campaign=campaign,
            release=release,
            number=1,
            split="train",
            metric="accuracy",
            step=0.01,
            a_day=3,
            is_sealed=False,
            created_at=now,
        )
        self.people = {role: factories.user() for role in [*Role.values, "stranger", "admin", "foreign"]}
        for role in Role.values:
            factories.join(campaign, self.people[role], role)
        factories.join(factories.campaign(items=1), self.people["foreign"], "manager")
        self.people["admin"].is_admin = True
        self.people["admin"].save()
        self.case = factories.case_in_discussion(campaign, annotation.item, self.people["expert"])
        [key] = factories.gold_keys(campaign, 1)
        factories.import_page(campaign)
        document = campaign.documents.get()
        report, entry = factories.question(annotation.item, worker)
        job = Job.objects.filter(scope_id=campaign.pk).first()
        event = Event.objects.create(scope_id=campaign.pk, kind="campaign.opened", number=1, at=now)
        webhook = webhook_create(
            campaign=campaign, url="https://lab.example/", form="standard", kinds=[event.kind], actor_id=None, now=now
        )
        self.values = {
            "slug": campaign.slug,
            "item_id": annotation.item_id,
            "annotation_id": annotation.pk,
            "assignment_id": self.assignment.pk,
            "membership_id": self.people["expert"].memberships.get().pk,
            "invitation_id": Invitation.objects.get().pk,
            "workforce_id": self.link.pk,
            "number": release.number,
            "job_id": job.pk if job else uuid4(),
            "key": self.link.key,
            "token": "t",
            "what": "case",
            "pk": 1,
            "name": "manifest.json",
            "uidb36": "1",
            "case_id": self.case.pk,
            "surrogate_id": worker.surrogate_id,
            "key_id": key.pk,
            "figure": "pace",
            "provider_id": "university",
            "organization_slug": "institute",
            "campaign_id": campaign.pk,
            "split_name": "train",
            "board_number": board.number,
            "token_id": uuid4(),
            "webhook_id": webhook.pk,
            "delivery_id": WebhookDelivery.objects.create(webhook=webhook, event=event).pk,
            "document_id": document.pk,
            "report_id": report.pk,
            "entry_id": entry.pk,
        }
        numbers_refresh(campaign=campaign, now=now)  # something to draw
        self.signed_link = by_link(self.link, "p1", "s1")

    def address(self, pattern: str, **values: Any) -> str:
        """Return the address of a route, with what it names in this world or what is given."""
        return address(pattern, {**self.values, **values})


def address(pattern: str, values: dict[str, Any]) -> str:
    """Return the address of a route's pattern, a path or a regular expression."""
    pattern = re.sub(r"\(\?P<(\w+)>\[\^/\]\+\)", r"<\1>", pattern)
    path = pattern.replace("^", "").replace("$", "").replace(r"(?P<key>[-:\w]+)", "<key>")
    path = path.replace("(?P<uidb36>[0-9A-Za-z]+)", "<uidb36>").replace("(?P<key>.+)", "<key>")
    for part in parameters(path):
        path = path.replace(f"<{part}>", str(values[part.rpartition(":")[2]]))
    return f"/{path}"


def parameters(path: str) -> list[str]:
    """Return the parameters of a path with their converters, such as ``int:item_id``."""
    return [piece.split(">")[0] for piece in path.split("<")[1:]]
