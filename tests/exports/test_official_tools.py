"""The official evaluation and simplifier, unmodified, on what we export."""

import gzip
import json
import re
import subprocess
import sys

import pytest
from django.core.management import call_command

from tests import factories
from tests.exports.test_release import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def five_way(tmp_path):
    """Return the export of four items by five people whose answers are worked out below by hand."""
    campaign = factories.campaign(n=5, items=4)
    questions = sorted(campaign.items.values_list("external_id", flat=True))
    chosen = {
        # three chose box 0, two of them marked the year; two found nothing
        questions[0]: [{"box": 0, "spans": "1871"}, {"box": 0, "spans": "1871"}, {"box": 0}, {"box": -1}, {"box": -1}],
        # all chose a box, but not the same; two said yes
        questions[1]: [{"box": 1, "kind": "yes"}, {"box": 1, "kind": "yes"}, {"box": 0}, {"box": 0}, {"box": 1}],
        # one alone found an answer: below the threshold of two, so there is none
        questions[2]: [{"box": 0}, {"box": -1}, {"box": -1}, {"label": "bad"}, {"label": "bad"}],
        # the first found nothing where three others did
        questions[3]: [{"box": -1}, {"box": 2}, {"box": 2}, {"box": 2}, {"label": "bad"}],
    }
    people = [factories.annotator(campaign) for _ in range(5)]
    for person in people:
        for _ in questions:
            assignment = factories.claim(campaign, person)
            options = dict(chosen[assignment.item.external_id][assignment.slot.index])
            if "spans" in options:
                options["spans"] = [_find(assignment, options["spans"])]
            factories.submit(factories.answer(assignment, **options))
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "5", "--to", str(tmp_path))
    return campaign, tmp_path / "nq-dev-00.jsonl.gz"


def _find(assignment, word):
    from documents.selectors import tokenization_of

    tokens = tokenization_of(assignment.item.tokenization).tokens
    index = next(index for index, token in enumerate(tokens) if token.token == word)
    return [index, index + 1]


@pytest.mark.peers
def test_the_official_scores_of_one_annotator_are_those_worked_out_by_hand(five_way, tmp_path):
    """Predict what slot 0 answered.

    Long: gold has an answer on items 0, 1 and 3 (two or more of five); the prediction has one on items
    0, 1 and 2. Items 0 and 1 are right, item 2 is wrong (no gold answer), item 3 is missed: precision
    2/3, recall 2/3, F1 2/3. Short: gold on items 0 and 1; predicted on both, both right: all 1.
    """
    campaign, gold = five_way
    predictions = []
    for record in read(gold):
        annotation = record["annotations"][0]
        predictions.append(
            {
                "example_id": record["example_id"],
                "long_answer": annotation["long_answer"],
                "long_answer_score": 1.0,
                "short_answers": annotation["short_answers"],
                "short_answers_score": 1.0,
                "yes_no_answer": annotation["yes_no_answer"],
            }
        )
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"predictions": predictions}))
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "natural_questions.nq_eval",
            f"--gold_path={gold}",
            f"--predictions_path={path}",
            "--num_threads=1",
            "--logtostderr",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    scores = json.loads(re.search(r"\{.*\}", run.stdout, re.DOTALL).group())
    for measure in ("f1", "precision", "recall"):
        assert scores[f"long-best-threshold-{measure}"] == pytest.approx(2 / 3), measure
        assert scores[f"short-best-threshold-{measure}"] == pytest.approx(1), measure


@pytest.mark.peers
def test_the_simplified_release_is_what_the_official_simplifier_makes_of_the_original(five_way, tmp_path):
    from natural_questions import text_utils

    campaign, original = five_way
    call_command("release", campaign.slug, "--format", "nq-simplified", "--ways", "5", "--to", str(tmp_path / "simple"))
    ours = read(tmp_path / "simple/simplified-nq-dev.jsonl.gz")
    assert ours == [text_utils.simplify_nq_example(record) for record in read(original)]
    call_command("validate_nq", str(tmp_path / "simple/simplified-nq-dev.jsonl.gz"))
    with gzip.open(original, "rb") as file:
        assert file.readline().startswith(b'{"annotations":[{"annotation_id":')
