"""The generated set is what the platform itself releases of the same pages: imported, annotated and exported."""

import gzip
import json

import pytest
from django.core.management import call_command

from annotation.campaigns.services.campaigns import NewSplit
from baselines.nq.generated import generated_records
from simulation.learnable import learnable_pages
from tests import factories

pytestmark = pytest.mark.django_db
PAGES, SEED = 8, 21


def test_a_release_of_the_platform_has_the_same_tokens_boxes_and_answers(tmp_path):
    pages = {page.asked.question: page for page in learnable_pages(PAGES, SEED)}
    expected = {record["question_text"]: record for record in generated_records(questions=PAGES, seed=SEED, ways=1)}
    assert len(pages) == PAGES
    made = factories.campaign(splits=[NewSplit("train", 1)])
    for number, page in enumerate(pages.values()):
        factories.import_page(made, page.html, f"{number}.html")
    factories.import_rows(
        made, [{"id": f"q{at}", "question": question, "document": f"{at}.html"} for at, question in enumerate(pages)]
    )
    factories.launch(made)
    person = factories.annotator(made)
    for _ in range(PAGES):
        assignment = factories.claim(made, person)
        right = expected[assignment.item.content["question_text"]]["annotations"][0]
        box = right["long_answer"]["candidate_index"]
        spans = [[one["start_token"], one["end_token"]] for one in right["short_answers"]]
        kind = "spans" if spans else right["yes_no_answer"].lower()
        factories.submit(factories.answer(assignment, box=box, kind=kind, spans=spans))
    call_command("release", made.slug, "--format", "nq-original", "--ways", "1", "--to", str(tmp_path / "out"))
    released = [json.loads(line) for line in gzip.open(tmp_path / "out/nq-train-00.jsonl.gz")]
    assert len(released) == PAGES
    for record in released:
        generated = expected[record["question_text"]]
        for name in ("document_tokens", "long_answer_candidates", "document_html", "question_tokens"):
            assert record[name] == generated[name]
        (mine,), (theirs,) = record["annotations"], generated["annotations"]
        for name in ("long_answer", "short_answers", "yes_no_answer"):
            assert mine[name] == theirs[name]
    answered = [row["annotations"][0]["long_answer"]["candidate_index"] >= 0 for row in released]
    assert 0 < sum(answered) < PAGES
