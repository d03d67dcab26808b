"""The marketplace as a process: commands, dropped connections, the AWS command line, notifications."""

import http.server
import json
import subprocess
import threading
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from simulation.browser import Browser
from tests.conftest import AWS
from tests.marketplace.conftest import HIT
from tests.marketplace.served import served
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def marketplace(tmp_path_factory):
    with served(tmp_path_factory.mktemp("marketplace")) as running:
        yield running


@pytest.fixture(scope="module")
def lab(marketplace):
    return marketplace.requester()


def fault(marketplace, *arguments):
    marketplace.call("marketplace_fault", *arguments)


def attempts(client):
    """Count the HTTP requests that a client sends, by their invocation."""
    seen = []
    client.meta.events.register(
        "before-send.mturk", lambda request, **_: seen.append(request.headers["amz-sdk-invocation-id"])
    )
    return seen


def test_a_connection_dropped_after_the_commit_gives_one_hit_and_one_bonus(marketplace):
    lab = marketplace.requester("dropped")
    client = marketplace.client(lab, attempts=3)
    seen = attempts(client)
    before = client.get_account_balance()
    fault(marketplace, "CreateHIT", "drop-after")
    seen.clear()
    with pytest.raises(ClientError) as caught:
        client.create_hit(**HIT, UniqueRequestToken="dropped")
    assert len(seen) == 2 and len(set(seen)) == 1  # boto3's own retry
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.HitAlreadyExists"
    (hit,) = client.list_hits()["HITs"]
    assert hit["HITId"] in caught.value.response["Message"]
    after = client.get_account_balance()
    assert float(after["OnHoldBalance"]) - float(before["OnHoldBalance"]) == pytest.approx(0.36)

    worker = json.loads(marketplace.call("marketplace_worker", "--email", "w@example.org", "--json"))
    sent = work(marketplace, worker, hit["HITId"])
    fault(marketplace, "SendBonus", "drop-after")
    seen.clear()
    with pytest.raises(ClientError) as caught:
        client.send_bonus(
            WorkerId=worker["worker_id"], AssignmentId=sent, BonusAmount="1.00", Reason="r", UniqueRequestToken="b"
        )
    assert len(seen) == 2
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.RequestAlreadyExists"
    assert client.list_bonus_payments(AssignmentId=sent)["NumResults"] == 1
    spent = float(after["AvailableBalance"]) - float(client.get_account_balance()["AvailableBalance"])
    assert spent == pytest.approx(1.20)


def work(marketplace, worker, hit_id):
    """Accept and submit a HIT through the site, as a browser's requests would."""
    import re

    import urllib3

    http, base, host = urllib3.PoolManager(), marketplace.url, {"Host": f"worker.localhost:{marketplace.port}"}
    jar = {}

    def call(method, path, **fields):
        headers = {**host, "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        if method == "POST":
            fields["csrfmiddlewaretoken"] = jar.get("marketplace_csrf", "")
        answer = http.request(
            method,
            base + path,
            headers=headers,
            redirect=False,
            **({"fields": fields, "encode_multipart": False} if method == "POST" else {}),
        )
        for cookie in answer.headers.getlist("Set-Cookie"):
            name, _, value = cookie.split(";")[0].partition("=")
            jar[name] = value
        return answer

    call("GET", "/account/login/")
    assert call("POST", "/account/login/", login=worker["email"], password=worker["password"]).status == 302
    assert call("POST", "/welcome/").status == 302
    location = call("POST", f"/hits/{hit_id}/accept/").headers["Location"]
    page = call("GET", location).data.decode()
    token = re.search(r"/content/([^/]+)/", page)[1]
    content = http.request("GET", f"{base}/content/{token}/", headers={"Host": f"content.localhost:{marketplace.port}"})
    assert content.status == 200
    submit = re.search(r"turkSubmitTo=http%3A%2F%2Fworker\.localhost%3A\d+(%2Fs%2F[^&]+)", page)[1].replace("%2F", "/")
    assignment_id = re.search(r"assignmentId=(\w+)", page)[1]
    assert (
        http.request(
            "POST",
            f"{base}{submit}/mturk/externalSubmit",
            headers=host,
            fields={"assignmentId": assignment_id, "port": "Trieste"},
            encode_multipart=False,
        ).status
        == 200
    )
    return assignment_id


def test_a_connection_dropped_before_anything_is_done_is_simply_retried(marketplace, lab):
    client = marketplace.client(lab, attempts=3)
    fault(marketplace, "CreateHIT", "drop-before", "--times", "2")
    hit = client.create_hit(**HIT, UniqueRequestToken="again")["HIT"]
    assert hit["HITStatus"] == "Assignable"
    fault(marketplace, "GetHIT", "drop-before")
    with pytest.raises(ConnectionClosedError):
        marketplace.client(lab).get_hit(HITId=hit["HITId"])


@pytest.mark.parametrize(("kind", "status"), [("throttle", 400), ("error-500", 500), ("error-505", 505)])
def test_faults_come_as_often_as_asked_and_no_more(marketplace, lab, kind, status):
    fault(marketplace, "GetAccountBalance", kind)
    client = marketplace.client(lab)
    with pytest.raises(ClientError) as caught:
        client.get_account_balance()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert client.get_account_balance()["AvailableBalance"]


def test_an_answer_that_is_cut_short_is_no_answer(marketplace, lab):
    fault(marketplace, "GetAccountBalance", "truncate")
    client = marketplace.client(lab)
    assert "AvailableBalance" not in client.get_account_balance()
    assert client.get_account_balance()["AvailableBalance"]


@pytest.mark.awscli
def test_the_aws_command_line_lists_creates_and_approves(marketplace, lab, tmp_path):
    environment = {
        "AWS_ACCESS_KEY_ID": lab["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": lab["aws_secret_access_key"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }

    def aws(*arguments):
        result = subprocess.run(
            [AWS, "mturk", "--endpoint-url", marketplace.url, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout or "{}")

    hit = aws(
        "create-hit",
        "--title",
        "From the shell",
        "--description",
        "d",
        "--reward",
        "0.05",
        "--lifetime-in-seconds",
        "600",
        "--assignment-duration-in-seconds",
        "60",
        "--question",
        HIT["Question"],
    )["HIT"]
    assert hit["HITId"] in [one["HITId"] for one in aws("list-hits")["HITs"]]
    worker = json.loads(marketplace.call("marketplace_worker", "--email", "shell@example.org", "--json"))
    assignment = work(marketplace, worker, hit["HITId"])
    aws("approve-assignment", "--assignment-id", assignment)
    listed = aws("list-assignments-for-hit", "--hit-id", hit["HITId"])["Assignments"]
    assert [row["AssignmentStatus"] for row in listed] == ["Approved"]


class Inbox(http.server.BaseHTTPRequestHandler):
    """Takes notifications; the first one of all is refused."""

    messages: list = []
    refuse = 1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if Inbox.refuse:
            Inbox.refuse -= 1
            self.send_response(503)
        else:
            Inbox.messages.append((self.headers["x-amz-sns-message-type"], json.loads(body)))
            self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def inbox():
    Inbox.messages.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Inbox)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/sns"
    server.shutdown()
    server.server_close()


def test_notifications_reach_an_http_endpoint_though_it_stumbles(marketplace, lab, inbox):
    client = marketplace.client(lab)
    note = {"Destination": inbox, "Transport": "SNS", "Version": "2006-05-05", "EventTypes": ["Ping"]}
    client.send_test_event_notification(Notification=note, TestEventType="AssignmentSubmitted")
    wait_for(lambda: not Inbox.refuse)
    marketplace.call("marketplace_clock", "--advance", "30")
    wait_for(lambda: Inbox.messages)
    kind, envelope = Inbox.messages[0]
    body = json.loads(envelope["Message"])
    assert (kind, envelope["Type"]) == ("Notification", "Notification")
    assert set(body) == {"EventDocVersion", "EventDocId", "CustomerId", "Events"}
    assert body["CustomerId"] == lab["customer_id"]
    assert set(body["Events"][0]) == {"EventType", "EventTimestamp", "HITTypeId", "HITId", "AssignmentId"}
    fault(marketplace, "Notification", "duplicate")
    client.send_test_event_notification(Notification=note, TestEventType="Ping")
    wait_for(lambda: len(Inbox.messages) == 3)
    assert Inbox.messages[1] == Inbox.messages[2]
    fault(marketplace, "Notification", "lose")
    client.send_test_event_notification(Notification=note, TestEventType="Ping")
    client.send_test_event_notification(Notification=note, TestEventType="HITExpired")
    wait_for(lambda: len(Inbox.messages) == 4)
    assert "HITExpired" in Inbox.messages[3][1]["Message"]
    marketplace.call("marketplace_clock", "--reset")


def test_notifications_reach_a_queue(tmp_path):
    from moto.server import ThreadedMotoServer

    queue_server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    queue_server.start()
    try:
        host, port = queue_server.get_host_and_port()
        sqs = boto3.client(
            "sqs",
            endpoint_url=f"http://{host}:{port}",
            region_name="us-east-1",
            aws_access_key_id="k",
            aws_secret_access_key="s",
        )
        url = sqs.create_queue(QueueName="events")["QueueUrl"]
        with served(tmp_path, MARKETPLACE_SQS_KEY="k", MARKETPLACE_SQS_SECRET="s") as running:
            made = running.requester()
            client = running.client(made)
            kind = client.create_hit_type(AssignmentDurationInSeconds=60, Reward="0.01", Title="t", Description="d")[
                "HITTypeId"
            ]
            note = {"Destination": url, "Transport": "SQS", "Version": "2014-08-15", "EventTypes": ["HITCreated"]}
            client.update_notification_settings(HITTypeId=kind, Notification=note)
            hit = client.create_hit_with_hit_type(HITTypeId=kind, LifetimeInSeconds=60, Question=HIT["Question"])["HIT"]
            received = wait_for(lambda: sqs.receive_message(QueueUrl=url).get("Messages"))
            event = json.loads(received[0]["Body"])["Events"][0]
            assert (event["EventType"], event["HITId"]) == ("HITCreated", hit["HITId"])
    finally:
        queue_server.stop()


def test_the_commands_make_fund_list_and_rotate(marketplace):
    made = marketplace.requester("second", "12.50")
    assert made["available"] == "12.50"
    assert marketplace.requester("second", "7.50")["available"] == "20.00"
    rotated = json.loads(marketplace.call("marketplace_requester", "second", "--rotate-keys", "--json"))
    assert rotated["aws_access_key_id"] != made["aws_access_key_id"]
    with pytest.raises(ClientError, match="UnrecognizedClient"):
        marketplace.client(made).get_account_balance()
    assert marketplace.client(rotated).get_account_balance()["AvailableBalance"] == "20.00"
    listed = json.loads(marketplace.call("marketplace_requester", "--json"))
    assert "second" in {row["requester"] for row in listed}
    link = json.loads(marketplace.call("marketplace_worker", "--uses", "3", "--json"))["link"]
    assert "/join/" in link
    assert "whole cents" in marketplace.command("marketplace_requester", "second", "--deposit", "0.001").stderr
    assert "no operation" in marketplace.command("marketplace_fault", "GetNothing", "throttle").stderr
    marketplace.environment.pop("MARKETPLACE_DEVELOPMENT")
    for command in (["marketplace_clock", "--advance", "60"], ["marketplace_fault", "GetHIT", "throttle"]):
        assert "only with MARKETPLACE_DEVELOPMENT=1" in marketplace.command(*command).stderr
    marketplace.environment["MARKETPLACE_DEVELOPMENT"] = "1"


def test_boto3_works_on_the_vendored_model_when_its_own_is_gone(marketplace, lab, tmp_path):
    import botocore
    import botocore.session
    from botocore.exceptions import UnknownServiceError

    from marketplace.protocol.service import MODEL

    for entry in (Path(botocore.__file__).parent / "data").iterdir():
        if entry.name != "mturk":
            (tmp_path / entry.name).symlink_to(entry)
    session = botocore.session.get_session()
    loader = session.get_component("data_loader")
    loader._search_paths[:] = [str(tmp_path)]
    given = {
        "endpoint_url": lab["endpoint_url"],
        "region_name": "us-east-1",
        "aws_access_key_id": lab["aws_access_key_id"],
        "aws_secret_access_key": lab["aws_secret_access_key"],
    }
    with pytest.raises(UnknownServiceError):
        session.create_client("mturk", **given)
    fresh = botocore.session.get_session()
    fresh.get_component("data_loader")._search_paths[:] = [str(tmp_path), str(MODEL)]
    assert fresh.create_client("mturk", **given).get_account_balance()["AvailableBalance"]


@pytest.mark.slow
def test_addresses_follow_the_port_and_an_open_port_needs_https(marketplace, tmp_path):
    marketplace.environment.pop("MARKETPLACE_API_URL")
    made = json.loads(marketplace.command("marketplace_requester", "third", "--json").stdout)
    assert made["endpoint_url"] == marketplace.url
    link = json.loads(marketplace.command("marketplace_worker", "--json").stdout)["link"]
    assert link.startswith(f"http://worker.localhost:{marketplace.port}/join/")
    taken = marketplace.command("marketplace_serve", "--bind", f"127.0.0.1:{marketplace.port}")
    assert "another program uses this port" in taken.stderr
    for bind, text in (("0.0.0.0:0", "other machines"), ("8100", "HOST:PORT")):
        refused = marketplace.command("marketplace_serve", "--bind", bind)
        assert text in refused.stderr
        assert refused.returncode == 1
    for wrong in (["--email", "bad"], ["--email", "a@b.example", "--country", "Germany"]):
        assert marketplace.command("marketplace_worker", *wrong).returncode == 1
    printed = marketplace.command("marketplace_requester", "third", "--env").stdout
    assert f"export MARKETPLACE_ENDPOINT={marketplace.url}" in printed


def test_a_synthetic_crowd_gets_accounts_with_one_password(marketplace):
    arguments = (
        "--email",
        "crowd{}@example.org",
        "--count",
        "3",
        "--password",
        "one for all of them",
        "--approved",
        "6000",
    )
    assert json.loads(marketplace.call("marketplace_worker", *arguments, "--json")) == {"made": 3, "count": 3}
    assert json.loads(marketplace.call("marketplace_worker", *arguments, "--json")) == {"made": 0, "count": 3}
    for number in (0, 2):
        browser = Browser()
        form = browser.get(f"http://worker.localhost:{marketplace.port}/account/login/").form_to("/account/login/")
        after = browser.send(form, login=f"crowd{number}@example.org", password="one for all of them")
        assert after.form_to("/account/login/") is None
    with pytest.raises(AssertionError, match="needs an --email with"):
        marketplace.call("marketplace_worker", "--email", "crowd@example.org", "--count", "3", "--password", "x")
