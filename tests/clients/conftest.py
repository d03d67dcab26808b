"""The platform of these tests, and the command line in a process that has no Django."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.clients.platform import ROOT, Platform

SOURCE = ROOT / "clients/python/src"


@pytest.fixture(scope="session")
def platform(tmp_path_factory):
    made = Platform(tmp_path_factory.mktemp("platform"))
    made.set_up()
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def secret(platform):
    return platform.token()


@pytest.fixture
def quorate(platform, secret, tmp_path):
    """Run the command line, as someone does who has installed only the client; return its status and its lines."""

    def run(*arguments: str, status: int = 0) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "quorate_client", *arguments],
            env={"PYTHONPATH": str(SOURCE), "QUORATE_URL": platform.url, "QUORATE_TOKEN": secret, "PATH": "/usr/bin"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == status, done.stdout[-2000:] + done.stderr[-4000:]
        return (done.stdout if status == 0 else done.stderr).splitlines()

    return run


def objects(lines: list[str]) -> list[dict]:
    return [json.loads(line) for line in lines]


def run_beside(coroutine):
    """Run a coroutine in a thread of its own: browser tests of the same process leave a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
