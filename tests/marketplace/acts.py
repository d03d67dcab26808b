"""What workers do, through the services; the browser tests do it through the site."""

import pytest
from botocore.exceptions import ClientError
from django.utils import timezone

from marketplace.services.assignments import assignment_accept, assignment_return, assignment_submit, submit_secret


def accept(worker, hit, now=None):
    return assignment_accept(hit_id=hit["HITId"], worker=worker, now=now or timezone.now())


def submit(assignment, now=None, **fields):
    given = fields or {"port": "Trieste"}
    return assignment_submit(secret=submit_secret(assignment), fields=given.items(), now=now or timezone.now())


def do(worker, hit, now=None, **fields):
    return submit(accept(worker, hit, now), now, **fields)


def give_back(assignment, now=None):
    return assignment_return(assignment_pk=assignment.pk, worker=assignment.worker, now=now or timezone.now())


def refused(code, function, **given):
    """Assert that a call is refused with this code, and return the message."""
    with pytest.raises(ClientError) as caught:
        function(**given)
    answer = caught.value.response
    assert answer.get("TurkErrorCode", answer["Error"]["Code"]) in (f"AWS.MechanicalTurk.{code}", code), answer
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    return answer["Error"]["Message"]
