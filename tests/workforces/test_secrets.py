"""What no worker may find out: gold answers, others' answers, splits, and that a pair is gold.

A crawler follows every address that a worker's pages offer and reads every answer to the last byte; and of
exposures nothing tells gold from ordinary: not ids, not order, not what the pages are made of.
"""

import random
import re
from collections import Counter
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from annotation.models import Annotation, Assignment, Item
from annotation.slots.services.sweeps import assignments_expire
from quality.policies.policy import Policy
from tests import factories
from workforces.services.workforces import workforce_add

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
CODES = {
    "code_completed": "CODE-DONE",
    "code_screened_out": "CODE-OUT",
    "code_nothing_left": "CODE-LEFT",
    "items_per_ticket": 100,
}
# A crawler answers few items of those that it reads of: it goes on until it met both kinds, which half of the first are.
MOST_READ = 4000
POLICY = Policy(gold_first=6, gold_first_items=12, gold_rate=0.2)


@pytest.fixture
def campaign():
    """Return a campaign with a telling split, gold, and others' answers that would be known anywhere."""
    made = factories.antique(
        items=20, gold=10, policy=POLICY, splits=[NewSplit("verysecretsplit", 3)], deadline_seconds=1800
    )
    for _ in range(2):
        person = factories.annotator(made, f"zqneighbour{random.randint(0, 10**9)}")
        for _ in range(6):
            assignment = factories.claim(made, person)
            factories.submit(factories.label(assignment, 2))
    factories.examine(made)
    return made


def forbidden(campaign):
    """Return texts that must not be in any answer to a worker."""
    found = {"verysecretsplit", "gold", "is_gold", "accepted", "zqneighbour", "injection", "gold_keys"}
    for annotation in Annotation.objects.filter(campaign=campaign):
        found |= {annotation.published_id, str(annotation.surrogate_id), str(annotation.assignment_id)}
    for item in Item.objects.filter(campaign=campaign):
        found |= {item.published_id, item.external_id, item.content["answer_id"], item.content["question_id"]}
    return found


def assert_silent(response, secrets):
    body = response.content.decode("utf-8", "replace")
    heads = " ".join(f"{name}: {value}" for name, value in response.items())
    # Guidelines and worked examples are the same for all and may use any word.
    text = re.sub(r'<div class="prose">.*?</div>\s|<ol class="examples">.*?</ol>', "", body, flags=re.DOTALL) + heads
    text = re.sub(r"T[\d:]{8}\.\d{6}", "", text)  # microseconds of a person's own times can be an item's number
    words = set(re.findall(r"[^\W_]+", text))
    for secret in secrets:  # a number by itself: drawn tokens and ids hold any six digits now and then
        told = secret in words if secret.isdecimal() else secret in text
        assert not told, (secret, response.request["PATH_INFO"])


def crawl(client, start, secrets, *, steps):
    """Follow every link and form within the site, answering on the way; return how many answers were read."""
    seen, todo, read = set(), [("get", start, {})], 0
    while todo and read < steps:
        method, url, data = todo.pop(0)
        if method == "get" and url in seen:
            continue
        seen.add(url)
        headers = {"Accept": "application/json"} if "events" in url else {}
        response = getattr(client, method)(url, data, headers=headers)
        read += 1
        assert_silent(response, secrets)
        assert response.status_code < 500, url
        if response.status_code in (301, 302):
            seen.discard(response["Location"])  # something was done: the same address may say something else
            todo.insert(0, ("get", response["Location"], {}))
            continue
        body = response.content.decode("utf-8", "replace")
        for address in re.findall(r'(?:href|data-[a-z-]*url|data-load)="([^"#]+)"', body):
            path = urlsplit(address.replace("&amp;", "&"))
            local = not path.netloc and path.path.startswith("/") and "static" not in path.path
            if local and not any(word in path.path for word in ("logout", "leave", "i18n", "account")):
                todo.append(("get", path.geturl(), {}))
        for form in re.findall(r"<form[^>]*method=\"post\"[^>]*>.*?</form>", body, re.DOTALL):
            action = re.search(r'action="([^"]*)"', form)
            target = action.group(1) if action else url
            if "/externalSubmit" in target or any(word in target for word in ("logout", "leave", "i18n")):
                continue
            fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
            fields.pop("csrfmiddlewaretoken", None)
            if 'name="label"' in form:
                fields["label"] = "4"  # right for gold: a crawler that misses it is paused before it meets more
            if 'name="reason"' in form:
                fields |= {"reason": "unclear"}
            if 'name="text"' in form and "text" not in fields:
                fields |= {"text": "broken?"}
            todo.append(("post", target, fields))
    return read


def test_no_answer_to_someone_by_a_link_tells_anything(campaign):
    row = workforce_add(campaign=campaign, kind="link", terms=CODES, actor_id=None, now=timezone.now())
    start = f"{row.path}?PROLIFIC_PID=p1&SESSION_ID=s1"
    client = Client()
    gold = Annotation.objects.filter(ticket_work__isnull=False, item__batch__purpose="gold")
    read = 0
    while not gold.exists() and read < MOST_READ:  # where it comes is drawn for each person
        read += crawl(client, start, forbidden(campaign) - {"accepted"}, steps=120)
    assert read > 40
    assert gold.exists()


def test_no_answer_to_a_member_tells_anything(campaign):
    person = factories.annotator(campaign, "crawler")
    client = Client()
    client.force_login(person)
    own = Annotation.objects.filter(surrogate_id=person.surrogate_id)
    read = 0
    while own.values("item__batch__purpose").distinct().count() < 2 and read < MOST_READ:  # when gold comes is drawn
        read += crawl(client, reverse("work", args=[campaign.slug]), forbidden(campaign), steps=150)
    assert read > 40
    assert set(own.values_list("item__batch__purpose", flat=True)) == {"gold", "work"}


def shown(campaign, people=4, items=12):
    """Return (is gold, assignment, page without its texts, statements) of what people were shown, in order."""
    rows = []
    for _ in range(people):
        person = factories.annotator(campaign)
        client = Client()
        client.force_login(person)
        for _ in range(items):
            with CaptureQueriesContext(connection) as queries:
                page = client.post(reverse("work", args=[campaign.slug]), headers={"HX-Request": "true"})
            live = (
                Assignment.objects.select_related("item__batch")
                .filter(surrogate=person.surrogate, state="live")
                .first()
            )
            if live is None:
                break
            body = page.content.decode()
            for text in (str(live.pk), *live.item.content.values()):
                body = body.replace(text, "") if text else body
            body = re.sub(r'data-(claimed|deadline|done)="[^"]*"|csrfmiddlewaretoken" value="[^"]*"', "", body)
            kinds = Counter(re.sub(r"[0-9a-f-]{32,36}|\d+", "", query["sql"])[:60] for query in queries)
            rows.append((live.item.batch.purpose == "gold", live, body, len(queries), kinds))
            factories.submit(factories.label(live, 4))
    return rows


def test_gold_and_ordinary_exposures_cannot_be_told_apart(campaign):
    rows = shown(campaign)
    gold = [row for row in rows if row[0]]
    ordinary = [row for row in rows if not row[0]]
    assert len(gold) >= 10
    assert len(ordinary) >= 10
    assert {row[2] for row in gold} == {row[2] for row in ordinary}  # the same page to the byte, but for its texts
    assert {row[1].pk.version for row in rows} == {4}  # random, every one
    highest = [row[1].pk.int for row in rows]
    assert sorted(highest) != highest
    # Gold lies anywhere among what people see: not first, not last, not every n-th.
    places = [number % 12 for number, row in enumerate(rows) if row[0]]
    assert len(set(places)) >= 5


def post(client, url, **sent):
    return client.post(url, sent, headers={"HX-Request": "true"})


def answer(client, live):
    return post(client, f"/assignments/{live.pk}/stage/", stage="relevance", version=str(live.draft_version), label="4")


def expire(client, campaign, live):
    Assignment.objects.filter(pk=live.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    assignments_expire(timezone.now())


def skip(client, campaign, live):
    post(client, f"/assignments/{live.pk}/skip/", reason="unclear")


def undo(client, campaign, live):
    """Take the answer before back, and give it again."""
    post(client, f"/work/{campaign.slug}/undo/")
    again = Assignment.objects.get(surrogate=live.surrogate_id, state="live")
    if again.pk != live.pk:
        answer(client, again)


def reload(client, campaign, live):
    """Look at the page once more."""


def reserve(client, campaign, live):
    """Have the next item held, and let that lapse."""
    post(client, f"/work/{campaign.slug}/reserve/")
    Assignment.objects.filter(state="reserved").update(deadline_at=timezone.now() - timedelta(seconds=1))
    assignments_expire(timezone.now())


@pytest.mark.parametrize("deed", [undo, expire, skip, reload, reserve])
def test_what_comes_back_does_not_tell_gold(campaign, deed):
    """After an undo, a deadline, a skip, a reload: the same item or another, alike for both, in answers alike."""
    outcomes = {True: Counter(), False: Counter()}
    for _ in range(3):
        person = factories.annotator(campaign)
        client = Client()
        client.force_login(person)
        post(client, f"/work/{campaign.slug}/")
        for number in range(12):
            own = Assignment.objects.select_related("item__batch").filter(surrogate=person.surrogate_id, state="live")
            live = own.first()
            if live is None:
                break
            if number:
                deed(client, campaign, live)
            page = post(client, f"/work/{campaign.slug}/")
            after = own.first()
            if after is None:  # nothing is left for this person
                break
            if number:
                told = (after.item_id == live.item_id, page.status_code, *sorted(page.headers))
                outcomes[live.item.batch.purpose == "gold"][told] += 1
            answer(client, after)
    assert set(outcomes[True]) == set(outcomes[False]), outcomes
    assert len(set(outcomes[True])) == 1
    assert min(outcomes[True].total(), outcomes[False].total()) >= 5


def test_serving_gold_costs_no_more_statements_than_serving_what_is_open(campaign):
    """A page that takes longer would tell; the database does at most the same for gold."""
    rows = shown(campaign)
    cost = {kind: sorted(row[3] for row in rows if row[0] is kind) for kind in (True, False)}
    assert abs(cost[True][len(cost[True]) // 2] - cost[False][len(cost[False]) // 2]) <= 6


def test_the_export_of_judgments_holds_no_gold(campaign, tmp_path):
    from django.core.management import call_command

    person = factories.annotator(campaign)
    for _ in range(20):
        try:
            factories.vote(campaign, person, 2)
        except AssertionError:
            break
    factories.examine(campaign)
    call_command("release", campaign.slug, "--format", "antique", "--to", str(tmp_path))
    gold = set(Item.objects.filter(batch__purpose="gold").values_list("content__answer_id", flat=True))
    for path in tmp_path.glob("*.txt"):
        assert not any(answer in path.read_text() for answer in gold), path
