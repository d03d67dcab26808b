"""The demo from nothing, served by real processes that may be killed."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3
import pytest

from tests.conftest import ROOT


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


pytestmark = [pytest.mark.slow, pytest.mark.on_sqlite]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/demo.sqlite3",
        "CELERY_BROKER_URL": "",
        "PYTHONUNBUFFERED": "1",
        "QUORATE_JOB_LEASE_SECONDS": "5",
    }
    address = f"127.0.0.1:{free_port()}"
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "demo", "--bind", address],
        env=environment,
        cwd=ROOT,
        stdout=log,
        stderr=log,
    )
    until = time.monotonic() + 400  # a quarter of a minute on a quiet machine
    while "Log in as" not in (folder / "log").read_text() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.2)
    yield f"http://{address}", folder, process
    process.terminate()
    assert process.wait(timeout=120) == 0
    log.close()


def get(url):
    with urllib.request.urlopen(url, timeout=20) as response:
        return response.status, response.read().decode(), dict(response.headers)


def wait_until_ready(address):
    """Wait until the worker was seen, which is a moment after the web server answers."""
    until = time.monotonic() + 30
    while True:
        try:
            assert get(f"{address}/readyz")[0] == 200
        except urllib.error.HTTPError as error:
            if time.monotonic() > until:
                raise AssertionError(error.read()) from error
            time.sleep(0.3)
        else:
            return


def children(process):
    return [int(pid) for pid in open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()]


def test_the_demo_prints_its_address_and_logins_and_answers(demo):
    address, folder, _ = demo
    log = (folder / "log").read_text()
    assert address in log
    assert len(re.findall(r"@demo\.example +\S{8,}", log)) == 8
    assert (folder / "demo-logins.json").stat().st_mode & 0o777 == 0o600
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    status, body, headers = get(f"{address}/account/login/")
    assert status == 200
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    wait_until_ready(address)
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', body):
        assert re.search(r"\.[0-9a-f]{12}\.", path), path
        assert get(address + path)[0] == 200


def at_work(page, demo):
    """Log an annotator in and go to the page that shows them an item."""
    address, folder, _ = demo
    logins = json.loads((folder / "demo-logins.json").read_text())
    page.goto(f"{address}/account/login/?next=/work/demo/")
    page.fill("[name=login]", "anna@demo.example")
    page.fill("[name=password]", logins["anna@demo.example"])
    page.click("main form button.primary")
    page.click("[data-key=Enter]")
    page.wait_for_url("**/consent/")
    page.click("main form button.primary")
    page.wait_for_selector("[data-stage]")


@pytest.mark.browser
def test_a_cold_page_of_work_is_few_requests_and_few_bytes(demo, browser):
    context = browser.new_context()
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    at_work(page, demo)
    network, pages, loaded = context.new_cdp_session(page), {}, {}
    network.on("Network.requestWillBeSent", lambda event: pages.update({event["requestId"]: event["loaderId"]}))
    network.on("Network.loadingFinished", lambda event: loaded.update({event["requestId"]: event["encodedDataLength"]}))
    network.send("Network.enable")
    network.send("Network.clearBrowserCache")
    page.reload(wait_until="networkidle")
    context.close()
    # A page is named like the request for it. What the page before had asked for may come in now, too.
    sizes = [size for request, size in loaded.items() if pages.get(request) in pages]
    assert errors == []
    assert 5 <= len(sizes) <= 8
    assert 20_000 < sum(sizes) <= 60_000


def _endpoint(folder):
    return re.search(r"Post HITs with boto3 at (http://\S+):", (folder / "log").read_text())[1]


def test_the_marketplace_beside_it_has_a_requester_and_open_hits(demo):
    _, folder, _ = demo
    endpoint = _endpoint(folder)
    environment = {**os.environ, "QUORATE_DATA": str(folder)}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, str(ROOT / "manage.py"), "marketplace_requester", "demo", "--json"]
    made = json.loads(subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True).stdout)
    client = boto3.client(
        "mturk",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=made["aws_access_key_id"],
        aws_secret_access_key=made["aws_secret_access_key"],
    )
    for _attempt in range(120):
        hits = [hit for page in client.get_paginator("list_hits").paginate() for hit in page["HITs"]]
        ours = [hit for hit in hits if hit["Title"] == "Judge how well an answer fits a question"]
        if ours:  # the platform has posted its campaign by now
            break
        time.sleep(0.5)
    assert ours
    assert len(hits) - len(ours) == 8
    hits = [hit for hit in hits if hit not in ours]
    assert {hit["HITStatus"] for hit in hits} == {"Assignable"}


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux's /proc to find the children")
def test_web_worker_and_marketplace_come_back_after_kill_9(demo):
    address, folder, process = demo
    until = time.monotonic() + 30
    while len(before := children(process)) < 3 and time.monotonic() < until:
        time.sleep(0.3)  # one may just be coming back
    assert len(before) == 3
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            up = get(f"{address}/readyz")[0] == get(f"{_endpoint(folder)}/healthz")[0] == 200
            if up and len(set(children(process)) - set(before)) == 3:
                break
        except OSError:
            pass
        time.sleep(0.3)
    assert not set(children(process)) & set(before)
    wait_until_ready(address)


@pytest.mark.django_db
def test_getting_ready_a_second_time_says_nothing_on_standard_output(capsys, settings, tmp_path):
    from django.core.management import call_command

    from console.serving import prepare

    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "quorate_cache"}
    }
    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    for _ in range(2):
        prepare(call_command)
    assert capsys.readouterr().out == ""
