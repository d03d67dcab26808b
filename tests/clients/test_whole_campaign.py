"""A whole campaign by the command line and the client, with no page opened but by the crowd."""

import json
import sys

import pytest

from tests import factories
from tests.clients.conftest import SOURCE, objects, run_beside
from tests.waiting import wait_for

sys.path.insert(0, str(SOURCE))
import quorate_client

pytestmark = [pytest.mark.slow, pytest.mark.on_sqlite]


@pytest.fixture
def client(platform, secret):
    with quorate_client.Quorate(platform.url, secret, progress=False) as made:
        yield made


def _decided(client, campaign: str, items: int) -> int:
    """Return how many labels there are once each item has one or is with the experts, else nothing."""
    labels = len(list(client.labels.list(campaign)))
    return labels if labels + len(list(client.cases.list(campaign))) == items else 0


def test_from_raw_pairs_to_a_scored_release(platform, quorate, client, tmp_path):
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in factories.pairs(12)))
    consent = '{"purpose": "For the tests.", "recorded": "Answers.", "contact": "a@example.org"}'
    splits = '[{"name": "train", "n": 3}]'
    made = ["--title", "Whole", "--task-type", "antique", "--splits", splits, "--consent", consent, "--json"]
    assert objects(quorate("campaigns", "create", *made))[0]["slug"] == "whole"
    assert "whole\tWhole\tdraft" in quorate("campaigns", "list")
    here = ["--campaign", "whole"]
    [tried] = objects(quorate("items", "import", "pairs.jsonl", *here, "--dry-run", "--wait", "--json"))
    assert (tried["result"]["valid"], tried["result"]["imported"]) == (12, 0)
    [job] = objects(quorate("items", "import", "pairs.jsonl", *here, "--wait", "--json"))
    assert (job["state"], job["result"]["imported"]) == ("done", 12)
    gold = [{**row, "accepted": [1, 2]} for row in factories.pairs(2, prefix="7")]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    quorate("gold-keys", "import", "gold.jsonl", *here, "--experts", "0", "--wait")
    assert any("/invite/" in line for line in quorate("invitations", "create", *here, "--role", "expert"))
    client.policy.change("whole", policy={"process": "fixed"}, if_match=client.policy.get("whole").etag)
    quorate("batches", "launch", "1", *here, "--wait")
    platform.manage("crowd", "whole", "--people", "4", "--spam", "0", "--seconds", "600", "--url", platform.url)
    # Three votes that all differ go to experts, so they have no label here. The worker decides after the last vote.
    labels = wait_for(lambda: _decided(client, "whole", 12))
    assert len(quorate("labels", "list", *here)) == labels >= 6
    table = client.annotations.to_pandas("whole", state="counted")
    assert len(table) >= 36
    assert set(table["state"]) == {"counted"}
    assert len(client.labels.to_pandas("whole")) == labels
    (tmp_path / "antique.jsonl").write_text("".join(json.dumps(row) + "\n" for row in factories.pairs(34_011, "8")))
    [job] = objects(quorate("items", "import", "antique.jsonl", *here, "--wait", "--json"))
    assert (job["state"], job["result"]["imported"]) == ("done", 34_011)
    last = objects(quorate("batches", "list", *here, "--json"))[-1]
    [launched] = objects(quorate("batches", "launch", str(last["ordinal"]), *here, "--wait", "--json"))
    assert launched["result"]["slots"] == 3 * 34_011
    [release] = objects(
        quorate("releases", "create", *here, "--family", "antique", "--license", "CC0-1.0", "--wait", "--json")
    )
    assert (release["number"], release["state"]) == (1, "ready")
    quorate("releases", "download", "1", "antique-v1", *here)
    qrels = (tmp_path / "antique-v1/antique-train.qrel").read_text()
    judged = [line.split() for line in qrels.splitlines() if " Q0 " in line]
    assert len(judged) == labels
    run = "".join(f"{question} Q0 {answer} 1 1.0 x\n" for question, _, answer, _label in judged)
    (tmp_path / "run.txt").write_text(run)
    [score] = objects(quorate("releases", "score", "1", "run.txt", *here, "--split", "train", "--wait", "--json"))
    assert "MRR" in score["result"]["text"]
    refused = quorate("campaigns", "move", *here, "--state", "open", "--nonsense", "1", status=2)
    assert "--nonsense" in refused[-1]


def test_wrong_rows_are_named_and_records_of_any_kind_are_logged_once(client, platform):
    client.campaigns.create(
        title="Logged",
        task_type="antique",
        splits=[{"name": "train", "n": 1}],
        consent={"purpose": "a", "recorded": "b", "contact": "c"},
    )
    rows = [{"query": row.pop("question"), **row} for row in factories.pairs(5)]
    with pytest.raises(quorate_client.JobFailed, match="5 of 5") as failed:
        client.items.log("logged", rows)
    assert failed.value.job.errors[0].row == 1
    names = {"query": "question"}
    assert client.items.log("logged", rows, mapping=names).result["imported"] == 5
    pandas = pytest.importorskip("pandas")
    again = client.items.log("logged", pandas.DataFrame(rows), mapping=names)
    assert (again.result["imported"], again.result["unchanged"]) == (0, 5)
    with pytest.raises(quorate_client.JobFailed):
        client.items.log("logged", [*rows, {"query": "no answer"}], mapping=names)
    skipped = client.items.log("logged", [*rows, {"query": "no answer"}], mapping=names, on_error="skip")
    assert (skipped.result["failed"], skipped.result["unchanged"]) == (1, 5)
    assert len(list(client.items.list("logged"))) == 5


def test_errors_are_classes_and_two_writers_do_not_overwrite_each_other(client):
    client.campaigns.create(
        title="Two writers",
        task_type="antique",
        splits=[{"name": "train", "n": 1}],
        consent={"purpose": "a", "recorded": "b", "contact": "c"},
    )
    first, second = client.guidelines.get("two-writers"), client.guidelines.get("two-writers")
    assert client.guidelines.publish("two-writers", body="First.", if_match=first.etag).version == 2
    with pytest.raises(quorate_client.ChangedMeanwhile, match="Someone changed"):
        client.guidelines.publish("two-writers", body="Second.", if_match=second.etag)
    with pytest.raises(quorate_client.NotFound):
        client.campaigns.get("nothing")
    with pytest.raises(quorate_client.Invalid) as wrong:
        client.campaigns.create(title="a", task_type="antique", splits=[], consent={})
    assert {one["field"] for one in wrong.value.errors} >= {"splits", "consent.purpose"}
    with pytest.raises(quorate_client.Conflict):
        client.campaigns.move("two-writers", state="paused")


def test_the_asynchronous_form_does_the_same(platform, secret, client):
    async def names():
        async with quorate_client.AsyncQuorate(platform.url, secret, progress=False) as other:
            token = await other.token.get()
            return token.name, [one.slug async for one in other.campaigns.list()]

    name, slugs = run_beside(names())
    assert (name, slugs) == ("test", [one.slug for one in client.campaigns.list()])


def test_the_client_needs_nothing_of_the_platform():
    text = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert "django" not in text.lower()
