"""``manage.py study`` reads what a campaign collected: references of first slots, k annotations, judged samples."""

import json
from io import StringIO

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.items.services.items import item_retire
from annotation.slots.services.exclusions import annotation_exclude
from jobs.services import job_enqueue
from quality.experts.services.cases import case_ask
from quality.experts.services.opinions import opinion_give
from quality.models import REFERENCE, Case, CaseReason
from quality.studies.selectors import studies
from tests import factories
from tests.quality.worlds import expert_of, nq

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
# What is said in the first, second, third and fourth slot of each question: box, and kind of short answer or its spans.
ANSWERS = {
    0: [(0, "yes"), (1, "yes"), (0, "none"), (-1, None)],
    1: [(1, "none"), (1, "none"), (1, "none"), (1, "none")],
    2: [(-1, None), (0, "no"), (-1, None), ("bad", None)],
}


@pytest.fixture
def collected():
    """Return a campaign of three questions with four annotations each, of which experts judged the references."""
    campaign = nq(n=4, items=3)
    numbers = {item.pk: n for n, item in enumerate(campaign.items.filter(batch__purpose="work").order_by("pk"))}
    for _turn in range(4):
        person = factories.annotator(campaign)
        for _ in range(3):
            assignment = factories.claim(campaign, person)
            box, kind = ANSWERS[numbers[assignment.item_id]][assignment.slot.index]
            said = {"label": "bad"} if box == "bad" else {"label": "good", "box": box, "kind": kind or "none"}
            factories.submit(factories.answer(assignment, **said))
    expert = expert_of(campaign)
    job_enqueue(
        kind="quality.sample_cases",
        now=timezone.now(),
        scope_id=campaign.pk,
        payload={"campaign": str(campaign.pk), "count": 3, "seed": 0, "experts": 1, "every_answer": False},
    )
    job_enqueue(
        kind="quality.sample_cases",
        now=timezone.now(),
        scope_id=campaign.pk,
        payload={"campaign": str(campaign.pk), "count": 3, "seed": 1, "experts": 1, "every_answer": False, "least": 5},
    )
    factories.run_jobs()
    assert Case.objects.count() == 2  # of the first sample: no item wants five annotations
    for case in Case.objects.all():
        said = dict.fromkeys((part["key"] for part in case.parts), "correct" if numbers[case.item_id] else "debatable")
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="", now=timezone.now())
    return campaign


def study(campaign, name, **options):
    out = StringIO()
    call_command("study", campaign.slug, name, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def shares(found):
    return {name: round(one["share"], 3) for name, one in found.items()}


def test_statistics_are_of_one_annotation_an_item(collected):
    found = study(collected, "statistics")
    assert found["items"] == 3
    assert shares(found["paths"]) == {"yes_no": 0.333, "long_only": 0.333, "no_answer": 0.333}
    assert shares(found["found"]) == {"passage": 0.667, "short": 0.333}
    assert sum(shares(found["boxes"]).values()) == pytest.approx(1)
    assert set(found["boxes"]) <= {"<P>", "<Table>", "<Tr>", "<Ul>", "<Li>", "<Ol>", "<Dl>"}


def test_examples_say_how_many_found_the_answer_of_the_reference(collected, monkeypatch):
    first, second = studies.examples_of(collected, 4)
    assert first["answers"]["passage"] == {"found": 3, "same": 2, "grade": "debatable"}
    assert first["answers"]["short"] == {"found": 2, "same": 2, "grade": "debatable"}
    assert second["answers"]["passage"] == {"found": 4, "same": 4, "grade": "correct"}
    assert second["answers"]["short"] == {"found": 0, "same": 0, "grade": None}
    assert [name for name, _text in first["lines"]] == ["question", "long answer", "short answer"]
    monkeypatch.setattr(studies, "MOST_EXAMPLES", 1)
    assert len(studies.examples_of(collected, 4)) == 1
    assert studies.examples_of(collected, 5) == []


def test_of_many_pages_a_sample_is_read(collected, monkeypatch):
    monkeypatch.setattr(studies, "MOST_PAGES", 1)
    assert [one["items"] for one in study(collected, "statistics")["boxes"].values()] == [1]


def test_precision_is_of_the_references_that_experts_judged(collected):
    found = study(collected, "precision")
    assert (found["passage"]["n"], found["short"]["n"]) == (2, 1)  # the third question's reference is null
    assert found["passage"]["psi"]["share"] == 1
    assert shares(found["passage"]["grades"]) == {"correct": 0.5, "debatable": 0.5, "wrong": 0}


def test_variability_is_of_judged_items_with_as_many_annotations(collected):
    found = study(collected, "variability", ways=4)
    passage = found["passage"]
    assert passage["items"] == 2
    # The first question: 3 of 4 found an answer, 2 of them the same; the second: all the same.
    assert [row["all"]["share"] for row in passage["figure_4"]] == [0, 0, 0, 0.5, 0.5]
    assert [row["all"]["share"] for row in passage["figure_4_without_reference"]] == [0, 0, 0, 0.5, 0.5]
    assert [round(one["share"], 3) for one in passage["coverage"][:2]] == [round(6 / 7, 3), 1]
    assert passage["distinct"] == {"1": 1, "2": 1}
    short = found["short"]
    assert [row["all"]["share"] for row in short["figure_4"]] == [0, 0, 1, 0, 0]
    assert short["distinct"] == {"1": 1}  # yes is yes, whatever the box
    assert study(collected, "variability", ways=5)["passage"] == {"items": 0}


def test_bounds_are_of_all_items_with_as_many_annotations(collected):
    found = study(collected, "bounds", ways=4, references=2, beta=1, partitions=50)
    assert (found["passage"]["items"], found["passage"]["partitions"], found["passage"]["alpha"]) == (3, 50, 1)
    assert len(found["passage"]["sweep"]) == 3
    best = found["passage"]["super"]["f1"]
    assert 0.5 < best["low"] < best["share"] <= best["high"] <= 1 or best["share"] > 0.4


def test_an_annotation_that_does_not_count_is_in_no_study(collected):
    annotation = collected.annotations.get(item=collected.items.order_by("pk").first(), slot__index=0)
    annotation_exclude(annotation=annotation, because="manager", actor_id=None, now=timezone.now())
    assert study(collected, "statistics")["items"] == 2
    assert study(collected, "bounds", ways=4, references=2, beta=1)["passage"]["items"] == 2


def test_what_experts_found_of_a_reference_stays_when_it_is_excluded(collected):
    before = study(collected, "precision")["passage"]
    assert before["n"] == 2
    for annotation in collected.annotations.filter(slot__index=0):
        annotation_exclude(annotation=annotation, because="manager", actor_id=None, now=timezone.now())
    assert study(collected, "precision")["passage"] == before


def test_samples_that_were_drawn_before_references_were_marked_count_too(collected):
    before = study(collected, "precision")
    for case in Case.objects.all():
        Case.objects.filter(pk=case.pk).update(
            parts=[{name: value for name, value in part.items() if name != REFERENCE} for part in case.parts]
        )
    assert study(collected, "precision") == before


def test_an_empty_place_is_the_reason_where_no_item_is_whole(collected):
    for annotation in collected.annotations.filter(slot__index=0):
        annotation_exclude(annotation=annotation, because="manager", actor_id=None, now=timezone.now())
    with pytest.raises(CommandError, match=r"all of its first 4 slots\. The closest item has 3"):
        study(collected, "bounds", ways=4, references=2, beta=1)


def test_a_retired_item_is_in_no_study(collected):
    item = collected.items.filter(batch__purpose="work").order_by("pk").first()
    item_retire(item=item, reason="Broken.", actor_id=None, now=timezone.now())
    assert study(collected, "statistics")["items"] == 2


def test_a_sample_that_meets_items_before_the_experts_is_refused():
    campaign = nq(n=1, items=3)
    for _ in range(3):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=0, kind="yes")
    item, boss = campaign.items.filter(batch__purpose="work").first(), factories.user().surrogate_id
    case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss, now=timezone.now())
    payload = {"campaign": str(campaign.pk), "count": 3, "seed": 0, "experts": 1, "every_answer": False}
    job = job_enqueue(kind="quality.sample_cases", now=timezone.now(), scope_id=campaign.pk, payload=payload)
    factories.run_jobs()
    job.refresh_from_db()
    assert (job.state, Case.objects.count()) == ("failed", 1)
    assert "1 of the drawn items" in job.error


def test_the_text_says_the_same(collected):
    out = StringIO()
    call_command("study", collected.slug, "statistics", stdout=out)
    assert "passage: 66.7% (95%:" in out.getvalue()


def test_the_sweep_begins_at_no_answer(collected):
    out = StringIO()
    call_command("study", collected.slug, "bounds", ways=4, references=2, beta=1, partitions=5, stdout=out)
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert [line[0] for line in lines[lines.index("sweep:") + 1 :][:3]] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"name": "bounds"}, "all of its first 25 slots. The closest item has 4"),
        ({"name": "bounds", "references": 25}, "must satisfy 1 ≤ beta"),
        ({"name": "bounds", "ways": 4, "references": 2, "alpha": 9}, "alpha must be between 0 and 2"),
        ({"name": "variability", "ways": 1}, "at least two"),
    ],
)
def test_what_cannot_be_computed_is_said(collected, options, why):
    with pytest.raises(CommandError, match=why):
        study(collected, **options)


def test_a_campaign_without_pages_has_no_such_study():
    with pytest.raises(CommandError, match="found on a page"):
        study(factories.antique(items=1, n=1), "statistics")
    with pytest.raises(CommandError, match="no campaign"):
        call_command("study", "nobody", "statistics")


def test_the_numbers_of_a_study_are_written_as_a_table(collected, tmp_path):
    found = study(collected, "statistics", tables=tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "statistics.csv").set_index("name")
    assert len(table) > 5
    share = found["found"]["short"]
    assert table.loc["found.short", ["value", "low", "high", "items"]].tolist() == pytest.approx(
        [share["share"], share["low"], share["high"], share["items"]]
    )
