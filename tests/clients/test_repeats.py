"""What breaks between a client and the platform: one effect, or a clear error, and nothing half done."""

import contextlib
import json
import socket
import sys
import threading
from pathlib import Path

import pytest

from tests import factories
from tests.clients.conftest import SOURCE
from tests.waiting import wait_for

sys.path.insert(0, str(SOURCE))
import quorate_client

ROWS = 34_011  # of ANTIQUE's judged pairs
NEW = {
    "task_type": "antique",
    "splits": [{"name": "train", "n": 1}],
    "consent": {"purpose": "a", "recorded": "b", "contact": "c"},
}


@contextlib.contextmanager
def dropping(address, answers):
    """Stand between a client and a server, and lose the first answers: the server has done what was asked."""
    host, port = address.split(":")
    lost = []

    def serve(near):
        with near, socket.create_connection((host, int(port))) as far:
            near.settimeout(30)
            far.settimeout(30)
            sender = threading.Thread(target=_copy, args=(near, far), daemon=True)
            sender.start()
            while piece := _received(far):
                if len(lost) < answers:
                    lost.append(piece)
                    near.shutdown(socket.SHUT_RDWR)
                    return
                near.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as door:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}", lost
        door.shutdown(socket.SHUT_RDWR)


def _received(connection):
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def _copy(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_an_answer_that_is_lost_has_one_effect(platform, secret):
    with dropping(platform.address, 2) as (url, lost), quorate_client.Quorate(url, secret, progress=False) as client:
        made = client.campaigns.create(title="Lost answers", slug="lost", **NEW)
    assert len(lost) == 2
    assert made.slug == "lost"
    with quorate_client.Quorate(platform.url, secret, progress=False) as client:
        assert [one.slug for one in client.campaigns.list()].count("lost") == 1


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Give ANTIQUE's number of pairs."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    row = factories.pairs(1)[0]
    with path.open("w") as file:
        for number in range(ROWS):
            names = {"question_id": f"q{number // 13}", "answer_id": f"a{number}"}
            texts = {"question": f"How do you repair thing {number // 13}?", "answer": f"Take screw number {number}."}
            file.write(json.dumps({**row, **names, **texts}) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_web_and_worker_killed_in_the_middle_of_an_import_lose_and_double_nothing(platform, secret, pairs):
    with quorate_client.Quorate(platform.url, secret, progress=False, attempts=20) as client:
        client.campaigns.create(title="Killed", slug="killed", **NEW)
        killed = threading.Timer(0.3, platform.kill, ["gunicorn"])
        killed.start()
        job = client.items.import_file("killed", pairs)  # a request that broke off is sent again with its key
        killed.join()
        wait_for(lambda: client.jobs.get(job.id).done > 0, 120)
        platform.kill("worker")
        job = client.jobs.wait(job)
        assert (job.result["imported"], job.result["failed"]) == (ROWS, 0)
        assert sum(1 for one in client.jobs.list("killed") if one.kind == "annotation.import_items") == 1
        assert sum(1 for _item in client.items.list("killed")) == ROWS


def test_where_nobody_answers_the_client_says_so():
    with socket.create_server(("127.0.0.1", 0)) as door:
        url = f"http://127.0.0.1:{door.getsockname()[1]}"
    with (
        quorate_client.Quorate(url, "quorate_a", attempts=2) as client,
        pytest.raises(quorate_client.ConnectionFailed, match=r"127\.0\.0\.1"),
    ):
        client.token.get()
    with pytest.raises(ValueError, match="QUORATE_URL"):
        quorate_client.Quorate()
    with pytest.raises(ValueError, match="no URL"):
        quorate_client.Quorate("quorate.example", "quorate_a")


def test_the_generated_parts_are_those_of_the_openapi_file():
    import subprocess

    build = Path(SOURCE).parent / "build.py"
    done = subprocess.run([sys.executable, str(build), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
