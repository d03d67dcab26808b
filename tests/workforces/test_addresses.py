"""The address that a marketplace opens a frame with: what is understood and what is refused."""

import pytest

from workforces.kinds.base import ArrivalRefused
from workforces.kinds.mturk.kind import MTurk, MTurkTerms, worker_of

SUBMIT = ["https://work.example", "http://worker.localhost:8100"]


GOOD = {"assignmentId": "3ABC", "hitId": "3HIT", "workerId": "AW1", "turkSubmitTo": "https://work.example/"}


@pytest.mark.parametrize(
    ("changes", "submit"),
    [
        ({}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": "https://work.example"}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": ""}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": "https://work.example/s/secret"}, "https://work.example/s/secret/mturk/externalSubmit"),
        ({"workerId": "AW1,AW1"}, "https://work.example/mturk/externalSubmit"),
    ],
)
def test_addresses_as_they_come_are_understood(changes, submit):
    arrival = MTurk(SUBMIT).arrive({**GOOD, **changes}, MTurkTerms())
    assert (arrival.worker, arrival.submit_url) == ("AW1", submit)


@pytest.mark.parametrize(
    "changes",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "javascript:alert(1)"},
        {"turkSubmitTo": "https://work.example.evil.example"},
        {"turkSubmitTo": "https://work.example/?x=1"},
        {"workerId": ""},
        {"workerId": "AW1,AW2"},
        {"workerId": "../x"},
        {"hitId": ""},
        {"assignmentId": "a b"},
    ],
)
def test_addresses_that_lead_elsewhere_are_refused(changes):
    with pytest.raises(ArrivalRefused):
        MTurk(SUBMIT).arrive({**GOOD, **changes}, MTurkTerms())


def test_with_a_secret_an_address_must_be_signed_and_fresh():
    with pytest.raises(ArrivalRefused, match="isn't signed"):
        MTurk(SUBMIT, "secret", 100.0).arrive(GOOD, MTurkTerms())
    with pytest.raises(ArrivalRefused, match="doesn't match"):
        MTurk(SUBMIT, "secret", 100.0).arrive({**GOOD, "quorateSignature": "0", "quorateExpires": "200"}, MTurkTerms())
    assert worker_of("AW1, AW1") == "AW1"
