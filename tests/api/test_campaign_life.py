"""A whole campaign by the interface: from nothing to a scored release, with no page opened."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.models import Invitation
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Campaign, Item
from api.models import KeptAnswer
from jobs.models import Job
from jobs.services import job_run
from quality.models import Inspection, Verdict
from quality.policies.policy import Policy
from tests import factories
from tests.api.client import Api
from tests.api.test_requests import NEW, problem

pytestmark = pytest.mark.django_db
NDJSON = "application/x-ndjson"


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def done(api, answer, status=202):
    """Run the job that an answer names, and return it as it ended."""
    assert answer.status_code == status, answer.content
    assert job_run(job_id=answer.json()["id"])
    found = api.get(f"jobs/{answer.json()['id']}?wait=1")
    assert found.status_code == 200, found.content
    return found.json()


def uploads():
    """Return the names of all stored uploads."""
    return {one.name for one in Path(default_storage.path("")).glob("*")}


@pytest.fixture
def boss():
    return Api(factories.user(is_admin=True))


@pytest.fixture
def slug(boss):
    assert boss.post("campaigns", NEW).status_code == 201
    return NEW["title"].lower().replace(" ", "-")


def test_from_nothing_to_a_release(boss, slug, settings):
    rows = factories.pairs(3)
    path = f"campaigns/{slug}"
    sent = boss.post(f"{path}/items:import?name=pairs.jsonl", data=lines(rows), content_type=NDJSON)
    assert sent["Location"] == f"/api/v1/jobs/{sent.json()['id']}"
    assert done(boss, sent)["result"]["imported"] == 3
    assert not default_storage.exists(Job.objects.get(pk=sent.json()["id"]).payload["file"])
    invited = boss.post(f"{path}/invitations", {"role": "annotator", "uses": 3})
    assert invited.status_code == 201
    assert urlsplit(invited.json()["link"]).path.startswith("/invite/")
    assert boss.get(f"{path}/invitations").json()["results"][0]["link"] is None
    batches = boss.get(f"{path}/batches").json()["results"]
    assert [(one["ordinal"], one["purpose"]) for one in batches if one["purpose"] == "work"] == [(1, "work")]
    done(boss, boss.post(f"{path}/batches/1/launch"))
    campaign = Campaign.objects.get(slug=slug)
    assert boss.get(path).json()["state"] == "open"
    for _ in range(3):
        worker = factories.annotator(campaign)
        for _ in range(3):
            factories.submit(factories.label(factories.claim(campaign, worker), 3))
    factories.examine(campaign)
    labels = boss.get(f"{path}/labels").json()["results"]
    assert [(one["label"], one["rule"], len(one["annotations"])) for one in labels] == [(3, "majority", 3)] * 3
    numbers_refresh(campaign=campaign, now=timezone.now())
    assert boss.get(f"{path}/progress").json()["data"]["annotations"] == 9
    assert boss.get(f"{path}/people").json()["results"][0]["submitted"] == 3
    gold = [{**row, "accepted": [4]} for row in factories.pairs(1, prefix="7")]
    keys = boss.post(f"{path}/gold-keys:import?experts=0", data=lines(gold), content_type=NDJSON)
    assert done(boss, keys)["state"] == "done"
    assert [one["accepted"] for one in boss.get(f"{path}/gold-keys").json()["results"]] == [[4]]
    asked = {"family": "antique", "license": "CC-BY-4.0", "authors": ["Tolliver, Agnes"]}
    made = boss.post(f"{path}/releases", asked)
    assert (made.status_code, made.json()["state"]) == (202, "writing")
    problem(boss.get(f"{path}/releases/1/files"), 409, "release-not-ready")
    job_run(job_id=made.json()["job_id"])
    files = {one["name"]: one for one in boss.get(f"{path}/releases/1/files").json()["results"]}
    whole = b"".join(boss.get(f"{path}/releases/1/files/antique-train.qrel").streaming_content)
    assert len(whole) == files["antique-train.qrel"]["size"]
    part = boss.get(f"{path}/releases/1/files/antique-train.qrel", Range="bytes=5-9")
    assert (part.status_code, b"".join(part.streaming_content)) == (206, whole[5:10])
    assert part["Content-Range"] == f"bytes 5-9/{len(whole)}"
    rest = boss.get(f"{path}/releases/1/files/antique-train.qrel", Range="bytes=10-", If_Range=part["ETag"])
    assert b"".join(rest.streaming_content) == whole[10:]
    assert boss.get(f"{path}/releases/1/files/antique-train.qrel", Range=f"bytes={len(whole)}-").status_code == 416
    problem(boss.get(f"{path}/releases/1/files/../1/manifest.json"), 404, "not-found")
    run = "".join(f"{line.split()[0]} Q0 {line.split()[2]} 1 1.0 x\n" for line in whole.decode().splitlines())
    scored = boss.post(f"{path}/releases/1/scores?split=train", data=run.encode(), content_type="text/plain")
    assert "MRR" in done(boss, scored)["result"]["text"]


def test_a_submission_leaves_only_the_file_that_its_job_reads(judged, boss):
    release = boss.post(f"campaigns/{judged.slug}/releases", {"family": "antique"}).json()
    job_run(job_id=release["job_id"])
    board = {"release": release["number"], "split": "train", "metric": "accuracy"}
    path = f"campaigns/{judged.slug}/boards"
    assert boss.post(path, board).status_code == 201
    assert boss.post(f"{path}/1/team", {"name": "a"}).status_code == 200
    before = uploads()
    body = lines([{"item_id": one.published_id, "label": 2} for one in judged.items.all()])
    sent = boss.post(f"{path}/1/submissions?system=s", data=body, content_type=NDJSON)
    assert sent.status_code == 202, sent.content
    read = set(Job.objects.filter(kind="evaluation.score").values_list("payload__file", flat=True))
    assert uploads() - before == read


def test_rows_that_are_wrong_are_named_and_nothing_is_imported(boss, slug):
    rows = [*factories.pairs(2), {"question": "Without an answer"}]
    sent = boss.post(f"campaigns/{slug}/items:import", data=lines(rows), content_type=NDJSON)
    job = done(boss, sent)
    assert job["state"] == "failed"
    assert "1 of 3 rows" in job["error"]
    assert job["errors"][0]["row"] == 3
    assert job["errors"][0]["field"]
    assert not Item.objects.exists()


def test_a_dry_run_checks_and_imports_nothing(boss, slug):
    sent = boss.post(f"campaigns/{slug}/items:import?dry_run=true", data=lines(factories.pairs(2)), content_type=NDJSON)
    result = done(boss, sent)["result"]
    assert (result["valid"], result["imported"]) == (2, 0)
    assert not Item.objects.exists()


def test_an_upload_that_is_refused_or_repeated_leaves_no_file(boss, slug):
    before = uploads()
    path, body = f"campaigns/{slug}/items:import", lines(factories.pairs(1))
    problem(boss.post(path, data=body, content_type="image/png"), 415, "content-type")
    problem(boss.post(f"{path}?name=a.csv", data=body, content_type=NDJSON), 422, "invalid")
    problem(boss.post("campaigns/nothing/items:import", data=body, content_type=NDJSON), 404, "not-found")
    assert uploads() == before
    first = boss.post(path, data=body, content_type=NDJSON, Idempotency_Key="k")
    again = boss.post(path, data=body, content_type=NDJSON, Idempotency_Key="k")
    assert first.json() == again.json()
    assert len(uploads() - before) == 1
    problem(boss.post(path, data=body + body, content_type=NDJSON, Idempotency_Key="k"), 422, "idempotency-key-reused")
    assert Job.objects.filter(kind="annotation.import_items").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_lost_while_committing_keeps_the_upload_of_the_job(boss, slug, monkeypatch):
    commit, save, kept, lost = connection._commit, KeptAnswer.save, [], []

    def saved(answer, *arguments, **options):
        save(answer, *arguments, **options)
        kept.append(answer.key)

    def committed_and_lost():
        commit()
        if "k" in kept and not lost:
            lost.append(True)
            raise OperationalError("the connection was lost")

    monkeypatch.setattr(KeptAnswer, "save", saved)
    monkeypatch.setattr(connection, "_commit", committed_and_lost)
    path, body = f"campaigns/{slug}/items:import", lines(factories.pairs(2))
    sent = boss.post(path, data=body, content_type=NDJSON, Idempotency_Key="k")
    assert (lost, sent.status_code) == ([True], 202)
    assert done(boss, sent)["result"]["imported"] == 2
    assert Job.objects.filter(kind="annotation.import_items").count() == 1


@pytest.fixture
def judged():
    splits = [factories.NewSplit("train", 1), factories.NewSplit("test", 1)]
    campaign = factories.antique(items=0, splits=splits, policy=Policy(inspection_rate=0))
    factories.import_rows(campaign, factories.pairs(40))
    factories.launch(campaign)
    worker = factories.annotator(campaign)
    for _ in range(40):
        factories.submit(factories.label(factories.claim(campaign, worker), 2))
    factories.examine(campaign)
    return campaign


def test_annotations_stream_as_lines_and_come_as_pages_with_the_same_content(judged, boss):
    path = f"campaigns/{judged.slug}/annotations"
    streamed = boss.get(path, Accept=NDJSON)
    assert streamed["Content-Type"] == NDJSON
    rows = [json.loads(line) for line in b"".join(streamed.streaming_content).splitlines()]
    paged, page = [], boss.get(f"{path}?limit=7").json()
    while True:
        paged += page["results"]
        if page["next"] is None:
            break
        page = boss.get(page["next"]).json()
    assert len(rows) == 40
    assert rows == paged
    assert rows[0]["answer"] == Annotation.objects.get(pk=rows[0]["id"]).answer


def test_of_a_sealed_split_there_are_no_answers(judged, boss):
    sealed = boss.post(f"campaigns/{judged.slug}/splits/test/seal")
    assert sealed.status_code == 200, sealed.content
    assert sealed.json()["sealed_at"]
    items = set(judged.items.filter(split__name="test").values_list("pk", flat=True))
    streamed = boss.get(f"campaigns/{judged.slug}/annotations", Accept=NDJSON)
    rows = [json.loads(line) for line in b"".join(streamed.streaming_content).splitlines()]
    labels = boss.get(f"campaigns/{judged.slug}/labels?limit=1000").json()["results"]
    assert rows
    assert labels
    assert not items & {row["item_id"] for row in (*rows, *labels)}
    hidden = Annotation.objects.filter(item__in=items).first()
    problem(boss.post(f"campaigns/{judged.slug}/annotations/{hidden.pk}/exclude", {"because": "a"}), 404, "not-found")
    assert Verdict.objects.filter(item__in=items).exists()


def test_an_annotation_is_excluded_and_counted_again(judged, boss):
    row = judged.annotations.first()
    path = f"campaigns/{judged.slug}/annotations/{row.pk}"
    assert boss.post(f"{path}/exclude", {"because": "spam"}).json()["state"] == "excluded"
    assert boss.post(f"{path}/restore").json()["state"] == "counted"


def test_managers_invite_who_works_and_administrators_everyone(judged):
    manager = factories.user()
    factories.join(judged, manager, "manager")
    api, path = Api(manager), f"campaigns/{judged.slug}/invitations"
    assert problem(api.post(path, {"role": "manager"}), 422, "invalid")["errors"][0]["field"] == "role"
    assert api.post(path, {"role": "expert"}).status_code == 201
    invitation = Invitation.objects.get()
    assert api.send("DELETE", f"{path}/{invitation.pk}").status_code == 204
    invitation.refresh_from_db()
    assert invitation.uses_left == 0


def test_an_expert_judges_by_the_interface_and_sees_no_earlier_opinion(judged, boss):
    experts = [factories.user() for _ in range(2)]
    for person in experts:
        factories.join(judged, person, "expert")
    item = judged.items.first()
    path = f"campaigns/{judged.slug}"
    assert boss.post(f"{path}/items/{item.pk}/experts", {"experts": 2}).status_code == 200
    apis = [Api(person, ["judge"]) for person in experts]
    for api, label in zip(apis, (1, 4), strict=True):
        (case,) = api.get(f"{path}/cases:judge").json()["results"]
        assert set(case) == {"id", "content", "parts"}
        opinions = f"{path}/cases/{case['id']}/opinions"
        problem(api.get(opinions), 404, "not-found")
        problem(api.post(opinions, {"said": {}}), 409, "opinion-part-missing")
        said = {case["parts"][0]["key"]: label}
        first = api.post(opinions, {"said": said, "justification": "So."})
        assert first.json()["said"] == said
        assert api.post(opinions, {"said": said, "justification": "So."}).json()["id"] == first.json()["id"]
    assert [one["is_own"] for one in apis[0].get(opinions).json()["results"]] == [True, False]
    proposal = apis[0].post(f"{path}/cases/{case['id']}/consensus", {"said": said, "justification": "It is."}).json()
    agreed = apis[1].post(f"{path}/cases/{case['id']}/consensus/confirm", {"proposal": proposal["id"]})
    assert agreed.json()["phase"] == "consensus"
    problem(boss.get(f"{path}/cases:judge"), 404, "not-found")  # administrators don't judge


def test_the_policy_changes_by_versions(judged, boss):
    path = f"campaigns/{judged.slug}/policy"
    first = boss.get(path)
    changed = boss.send("PATCH", path, {"policy": {"gold_rate": 0.1}}, If_Match=first["ETag"])
    assert changed.json()["version"] == first.json()["version"] + 1
    assert changed.json()["policy"] == {**first.json()["policy"], "gold_rate": 0.1}
    problem(boss.send("PATCH", path, {"policy": {"gold_rate": 0.2}}, If_Match=first["ETag"]), 412, "changed-meanwhile")
    for wrong in ({"gold_rate": 7}, {"gold": 1}, {"target": {"error": 1}}, {"gold_rate": "a"}):
        problem(boss.send("PATCH", path, {"policy": wrong}, If_Match=changed["ETag"]), 422, "policy-invalid")


def test_recruitment_is_estimated_before_it_is_opened_in_cents_and_seconds(judged, boss):
    path = f"campaigns/{judged.slug}/workforces"
    terms = {
        "reward_cents": 12,
        "items_per_ticket": 1,
        "cap_cents": 5000,
        "floor_cents_per_hour": 900,
        "people": 20,
        "seconds_each": 30,
        "code_completed": "A1",
        "code_screened_out": "A2",
        "code_nothing_left": "A3",
    }
    estimate = boss.post(f"{path}:estimate", {"kind": "link", "terms": terms})
    assert estimate.status_code == 200, estimate.content
    assert estimate.json()["hourly_cents"] == 12 * 3600 // 30
    assert estimate.json()["cents"] >= 40 * 12
    assert boss.get(path).json()["results"] == []
    opened = boss.post(path, {"kind": "link", "terms": terms})
    assert opened.status_code == 201, opened.content
    kept = opened.json()
    assert (kept["terms"]["reward_cents"], kept["terms"]["cap_cents"], kept["currency"]) == (12, 5000, "USD")
    wrong = boss.post(path, {"kind": "link", "terms": {**terms, "reward": 1}})
    assert problem(wrong, 422, "invalid")["errors"][0]["field"] == "terms.reward"
    problem(boss.post(path, {"kind": "internet", "terms": {}}), 422, "workforce-kind")


def test_managers_decide_check_answer_and_watch(judged, boss):
    path = f"campaigns/{judged.slug}"
    row = judged.annotations.first()
    Inspection.objects.create(campaign=judged, annotation=row, because="sample")
    [check] = boss.get(f"{path}/spot-checks").json()["results"]
    assert "annotator" not in str(check)
    decided = boss.post(f"{path}/spot-checks/{check['id']}/decide", {"verdict": "wrong", "exclude": True})
    assert decided.json()["verdict"] == "wrong"
    row.refresh_from_db()
    assert row.state == "excluded"
    report, _entry = factories.question(row.item, factories.user())
    assert [one["text"] for one in boss.get(f"{path}/questions").json()["results"]] == [report.text]
    answered = boss.post(f"{path}/questions/{report.pk}/answer", {"answer": "Choose the second."})
    assert answered.json()["answer"] == "Choose the second."
    problem(boss.post(f"{path}/questions/{report.pk}/answer", {"answer": "Again."}), 409, "question-settled")
    published = boss.post(f"{path}/faq", {"question": "What is enough?", "answer": "Half of it."}).json()
    assert boss.post(f"{path}/faq/{published['id']}/retire").json()["retired_at"]
    rule = {"collector": "gold", "limit": 0.4, "act": "warn"}
    made = boss.post(f"{path}/rules", rule)
    assert made.status_code == 201
    assert done(boss, boss.post(f"{path}/rules:test", rule))["state"] == "done"
    assert boss.post(f"{path}/rules/{made.json()['id']}/end").json()["ended_at"]
    person = str(row.surrogate_id)
    acted = boss.post(f"{path}/people/{person}/act", {"act": "pause", "reason": "Look at this."})
    assert acted.json()["standing"] == "paused"
    [review] = boss.get(f"{path}/reviews").json()["results"]
    assert review["person"] == person
    closed = boss.post(f"{path}/reviews/{review['id']}/decide", {"choice": "reinstate", "reason": "All is well."})
    assert closed.status_code == 200, closed.content
    assert boss.get(f"{path}/reviews").json()["results"] == []
