"""Jobs have a name and an outcome that people understand."""

import pytest

from jobs.models import Job, JobState
from jobs.registry import kinds
from web.job_titles import TITLES, outcome_of

# Named by the file that they read, or by what was asked for.
NAMED = {
    "annotation.import_documents",
    "annotation.import_items",
    "annotation.import_nq",
    "workforces.confirm_list",
    "workforces.reconcile",
}


def test_each_kind_has_a_title():
    known = set(kinds())
    assert known - set(TITLES) <= NAMED
    assert set(TITLES) <= known


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({}, ""),
        ({"opened": 1}, "1 case sent to experts."),
        ({"keys": 3, "notes": []}, "3 gold questions added."),
        ({"slots": 40}, "40 annotations requested."),
        ({"changed": "x"}, ""),
    ],
)
def test_an_outcome_is_a_sentence(result, said):
    assert outcome_of(result) == said
    job = Job(kind="quality.sample_cases", state=JobState.DONE, result=result)
    assert (str(job.title), job.outcome) == ("Sending a sample to experts", said)
    job.state = JobState.RUNNING
    assert job.outcome == ""
