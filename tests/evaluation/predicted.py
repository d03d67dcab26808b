"""Systems as additional annotators: pages whose answers are known, predictions, and experts who know the truth."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Item
from documents.selectors import tokenization_of
from jobs.models import Job
from quality.experts.services.opinions import opinion_give
from quality.models import Case, CaseState
from tests import factories
from tests.quality.worlds import expert_of, nq

RIGHT, WRONG, NOTHING = 0, 1, None  # boxes; where the number of an item divides by three, the page has no answer


def truth(number):
    return NOTHING if number % 3 == 0 else RIGHT


def number_of(item):
    return int(item.external_id.removeprefix("q"))


def asked_campaign(items=24, n=1, careless=(), **options):
    """Return a campaign whose annotators say the truth, but find box 1 in the items named."""
    campaign = nq(n=n, items=items, **options)
    for _ in range(n):
        person = factories.annotator(campaign)
        for _ in range(items):
            held = factories.claim(campaign, person)
            number = number_of(Item.objects.get(pk=held.item_id))
            box = WRONG if number in careless else truth(number)
            factories.submit(factories.answer(held, box=-1 if box is None else box, kind="yes"))
    factories.examine(campaign)
    return campaign


def prediction(item, box, kind="yes", score=1.0, short_score=1.0):
    """Return a prediction for an item in the official format: a box of its page with yes or no, or none."""
    page = tokenization_of(item.tokenization)
    long = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}
    if box is not None:
        found = page.candidates[box]
        long = {name: getattr(found, name) for name in long}
    return {
        "example_id": int(item.published_id),
        "long_answer": long,
        "long_answer_score": score,
        "short_answers": [],
        "short_answers_score": short_score,
        "yes_no_answer": kind if box is not None else "none",
    }


def predictions(campaign, box_of, **options):
    """Return a file with a prediction for each item, whose box the function returns for the item's number."""
    items = Item.objects.filter(campaign=campaign, batch__purpose="work").select_related("tokenization")
    rows = [prediction(item, box_of(number_of(item)), **options) for item in items.order_by("pk")]
    return json.dumps({"predictions": rows}).encode()


def upload(campaign, content, system, who=None, **thresholds):
    """Upload a system on the page; return the job."""
    client = Client()
    client.force_login(who or factories.user(is_admin=True))
    sent = {"do": "add", "system": system, "file": SimpleUploadedFile("found.json", content), **thresholds}
    answer = client.post(reverse("systems", args=[campaign.slug]), sent)
    assert answer.status_code == 302, answer.content.decode()
    factories.run_jobs()
    return Job.objects.filter(kind="evaluation.predictions").latest("created_at")


def draw(campaign, count=20, experts=1, who=None):
    """Send answers to experts on the page; return the job."""
    while len(experts_there(campaign)) < experts:
        expert_of(campaign)
    client = Client()
    client.force_login(who or factories.user(is_admin=True))
    answer = client.post(reverse("systems", args=[campaign.slug]), {"do": "draw", "count": count, "experts": experts})
    assert answer.status_code == 302, answer.content.decode()
    factories.run_jobs()
    return Job.objects.filter(kind="evaluation.sample_predictions").latest("created_at")


def experts_there(campaign):
    return list(campaign.scope.memberships.filter(role="expert").select_related("user").order_by("pk"))


def judge_all(campaign, most=1_000):
    """Have all experts judge open cases by the truth."""
    cases = Case.objects.filter(campaign=campaign, state=CaseState.OPEN).select_related("item").order_by("pk")
    for case in cases[:most]:
        judge_case(campaign, case)


def judge_case(campaign, case):
    good = truth(number_of(case.item))
    said = {part["key"]: "correct" if part["box"] == good else "wrong" for part in case.parts}
    for membership in experts_there(campaign)[: case.experts]:
        who = membership.user.surrogate_id
        opinion_give(case=case, surrogate_id=who, said=said, justification="", now=timezone.now())
