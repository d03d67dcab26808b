"""The walker finds what botocore's parser would let pass: a check that cannot fail is none."""

import boto3
import pytest

from tests.marketplace.wire import Coverage, walk_error, walk_output

MODEL = boto3.client("mturk", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b").meta.service_model


@pytest.mark.parametrize(
    "broken",
    [
        {"HIT": {"HITId": "3A", "HITStatus": "Open"}},
        {"HIT": {"HITId": "small"}},
        {"HIT": {"HITId": "3" * 65}},
        {"HIT": {"Reward": "1.234"}},
        {"HIT": {"Reward": 1}},
        {"HIT": {"CreationTime": "2026-11-21T00:00:00Z"}},
        {"HIT": {"MaxAssignments": True}},
        {"HIT": {"Keywords": None}},
        {"HIT": {"Surplus": 1}},
        {"HIT": {"QualificationRequirements": [{"Comparator": "Exists"}]}},
        [],
    ],
)
def test_a_broken_answer_is_found(broken):
    with pytest.raises(AssertionError):
        walk_output(MODEL.operation_model("GetHIT"), broken, Coverage())


@pytest.mark.parametrize(
    "broken",
    [
        {"__type": "RequestError", "Message": "no time at its end", "TurkErrorCode": "AWS.MechanicalTurk.X"},
        {"__type": "RequestError", "Message": "m (1234567890123 s)", "TurkErrorCode": "X"},
        {"__type": "RequestError", "Message": "m", "TurkErrorCode": "AWS.X", "more": 1},
    ],
)
def test_a_broken_error_is_found(broken):
    with pytest.raises(AssertionError):
        walk_error(broken, Coverage())
