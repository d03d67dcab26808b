"""Systems whose answers people judge in a campaign: tables, uploads, and annotators who know the truth."""

import csv
import io
import random

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.models import Campaign, Item
from annotation.slots.services.claims import slot_claim_next
from annotation.work.services.drafts import stage_advance
from jobs.models import Job
from tests import factories

QUESTIONS, COUNT = 60, 30
COLUMNS = ("question_id", "question", "references", "system", "answer", "score")


def truth(number):
    return f"town {number}"


def answers(system, quality, seed=0):
    """Return rows of a system that is right in a share of the questions, and whose answers are longer when it is."""
    chance = random.Random(f"{system}{seed}")
    for number in range(QUESTIONS):
        right = chance.random() < quality
        answer = f"It is {truth(number)}" if right else f"village {number % 7}"
        score = float(right) if chance.random() < 0.9 else float(not right)
        yield f"q{number}", f"where is place {number}?", truth(number), system, answer, score


def table(*systems):
    out = io.StringIO()
    csv.writer(out).writerows([COLUMNS, *(row for system in systems for row in system)])
    return out.getvalue().encode()


def judging_campaign(n=1, splits=None):
    """Return an open campaign in which people judge answers."""
    made = campaign_create(
        slug=f"judged-{Campaign.objects.count()}",
        title="Judged",
        task_type="correctness",
        splits=splits or [NewSplit("judged", n)],
        created_by=None,
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org"),
        now=timezone.now(),
        seed=7,
    )
    campaign_move(campaign=made, to="open", actor_id=None, now=timezone.now())
    return made


def upload(campaign, content, *, name="systems.csv", count=COUNT, who=None):
    """Upload systems on the page; return the job."""
    client = Client()
    client.force_login(who or factories.user(is_admin=True))
    sent = {"file": SimpleUploadedFile(name, content), "count": count}
    answer = client.post(reverse("systems", args=[campaign.slug]), sent)
    assert answer.status_code == 302, answer.content.decode()
    factories.run_jobs()
    return Job.objects.filter(kind="evaluation.systems").latest("created_at")


def judge_all(campaign):
    """Have one person judge all launched answers by the truth."""
    person = factories.annotator(campaign)
    while held := slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment:
        content = Item.objects.get(pk=held.item_id).content
        label = "correct" if content["references"][0] in content["answer"] else "incorrect"
        stage_advance(
            assignment_id=held.pk,
            surrogate_id=person.surrogate_id,
            stage="correctness",
            sent={"label": label},
            version=held.draft_version,
            now=timezone.now(),
        )
        factories.submit(held)
    factories.examine(campaign)


def shown(campaign, role=Role.RESEARCHER):
    person = factories.user()
    factories.join(campaign, person, role)
    client = Client()
    client.force_login(person)
    return client.get(reverse("systems", args=[campaign.slug])).content.decode()
