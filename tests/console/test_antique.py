"""The whole ANTIQUE process by its command, with the job worker killed on the way."""

import json

import pytest

from console.demo.relevance import CONTENT
from tests.console.processes import result_of

pytestmark = [pytest.mark.slow, pytest.mark.own_database]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the process with a crowd of one mind, so that every run has the same verdicts, and three kills."""
    arguments = ("--seed", "5", "--pairs", "6", "--kills", "3", "--unanimous")
    return result_of(tmp_path_factory.mktemp("antique"), "demo_antique", *arguments, seconds=600)


def test_every_pair_has_the_verdict_it_would_have_without_the_kills(ran):
    result, said = ran
    assert said.count("killed the job worker") == 3
    lines = (CONTENT / "antique_pairs.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    rows = [json.loads(line) for line in lines]
    expected = {str(label): 0 for label in (1, 2, 3, 4)}
    for row in rows:
        expected[str(row["true_label"])] += 1
    expected["4"] += len({row["possibly_correct_id"] for row in rows})
    assert result["summary"]["labels"] == expected
    assert result["summary"]["verdicts"] == 6


def test_nobody_was_paid_twice_or_not_at_all_and_no_hit_was_posted_twice(ran):
    result, _ = ran
    books, errands = result["books"], result["errands"]
    assert books["differences"] == []
    assert result["failed_errands"] == []
    assert books["rewards_ours"] == books["rewards_theirs"] == 12 * books["assignments"]
    account = books["account"]
    assert account["paid"] == books["rewards_ours"] + books["bonuses_ours"]
    assert account["fees"] == books["fees_ours"]
    assert account["held"] == 0
    assert errands["publish"] == result["postings"] == result["hits"]
    assert errands["approve"] == books["assignments"]
