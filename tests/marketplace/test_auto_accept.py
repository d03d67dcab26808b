"""What the page around the frame asks after a task was sent: one question, which accepts the next HIT."""

import pytest
from django.test import Client

from marketplace.models import Assignment
from tests.marketplace.acts import accept, give_back, submit
from tests.marketplace.test_access import HOST

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ask(worker):
    client = Client()
    client.force_login(worker)

    def asked(assignment, **fields):
        answer = client.post(f"/work/{assignment.pk}/next/", fields, headers=HOST)
        assert answer.status_code == 200
        return answer.json()

    asked.client = client
    return asked


def held(worker):
    return list(Assignment.objects.filter(worker=worker, state="Accepted").order_by("pk"))


def test_the_next_hit_of_the_group_is_accepted_once_the_task_was_sent(lab, worker, ask):
    first = accept(worker, lab.hit())
    lab.hit()
    lab.hit(Title="Of another group")
    said = ask(first)
    assert (said["state"], "next" in said, held(worker)) == ("Accepted", False, [first])
    assert 0 < said["seconds_left"] <= 600
    submit(first)
    said = ask(first)
    [second] = held(worker)
    assert said["state"] == "Submitted"
    assert said["next"]["page"] == f"/work/{second.pk}/?auto=1"
    assert second.assignment_id in said["next"]["frame"]["url"]
    page = ask.client.get(said["next"]["page"], headers=HOST).content.decode()
    for address in ("state", "auto_accept", "give_back"):
        assert said["next"][address] in page
    submit(second)
    said = ask(second)
    assert (said["go"], "next" in said, held(worker)) == ("/", False, [])
    told = ask.client.get("/", headers=HOST).content.decode()
    assert "Submitted" in told
    assert "There are no more HITs of this kind for you" in told


def test_what_a_lost_response_accepted_is_found_again(lab, worker, ask):
    first = accept(worker, lab.hit())
    for _ in range(3):
        lab.hit()
    submit(first)
    lost = ask(first)
    assert ask(first, again="1")["next"]["page"] == lost["next"]["page"]
    assert len(held(worker)) == 1
    assert ask(first)["next"]["page"] != lost["next"]["page"]  # another window of the same person
    assert len(held(worker)) == 2


def test_again_accepts_one_if_nothing_was_accepted(lab, worker, ask):
    first = accept(worker, lab.hit())
    lab.hit()
    submit(first)
    ask(first, again="1")
    assert len(held(worker)) == 1


@pytest.mark.parametrize("how", ["returned", "blocked"])
def test_nothing_is_accepted_after_a_return_or_for_who_is_blocked(lab, worker, ask, how):
    first = accept(worker, lab.hit())
    lab.hit()
    if how == "returned":
        give_back(first)
        assert ask(first)["state"] == "Returned"
    else:
        submit(first)
        lab.client.create_worker_block(WorkerId=worker.worker_id, Reason="No.")
        assert ask(first)["go"] == "/"
    assert held(worker) == []
