"""The marketplace as people run it: a process of its own, started by its command."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from functools import cached_property
from http.cookies import SimpleCookie

import boto3
from botocore.config import Config

from tests.conftest import ROOT


def client_for(url, key, *, attempts=1, service="mturk", **options):
    return boto3.client(
        service,
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=key[0],
        aws_secret_access_key=key[1],
        config=Config(retries={"mode": "standard", "total_max_attempts": attempts}, read_timeout=30, **options),
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


LOGGED_IN = """
from django.conf import settings
from django.test import Client
from django.utils import timezone
from marketplace.services.workers import worker_create
now = timezone.now()
client = Client()
client.force_login(worker_create(email={email!r}, password=None, now=now, agreed_at=now))
print(client.cookies[settings.SESSION_COOKIE_NAME].OutputString())
"""


class Served:
    """A running marketplace, addressed by its commands and by boto3."""

    def __init__(self, folder, port, **environment):
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DJANGO", "MARKETPLACE", "DATABASE"))
        }
        self._one_at_a_time = threading.Lock()
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.environment = kept | {
            "QUORATE_DATA": str(folder),
            "MARKETPLACE_DEVELOPMENT": "1",
            "MARKETPLACE_API_URL": self.url,
            "MARKETPLACE_SWEEP_SECONDS": "0.2",
            "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder}/marketplace.sqlite3",
            **environment,
        }

    def command(self, *arguments):
        """Run a command as people do, in a process of its own."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def call(self, *arguments):
        """Run a command in the process that stays for them (:mod:`tests.marketplace.commands`); return what it printed.

        Raises:
            AssertionError: The command failed.
        """
        with self._one_at_a_time:
            self._commands.stdin.write(json.dumps(arguments) + "\n")
            self._commands.stdin.flush()
            code, out, err = json.loads(self._commands.stdout.readline())
        assert code == 0, err
        return out

    @cached_property
    def _commands(self):
        return subprocess.Popen(
            [sys.executable, "-m", "tests.marketplace.commands"],
            cwd=ROOT,
            env=self.environment | {"DJANGO_SETTINGS_MODULE": "config.settings.marketplace"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self):
        """End the process of :meth:`call`, if there is one."""
        if "_commands" in vars(self):
            self._commands.communicate(timeout=30)

    def requester(self, name="lab", deposit="100", *arguments):
        return json.loads(self.call("marketplace_requester", name, "--deposit", deposit, "--json", *arguments))

    def worker(self, email):
        """Make a worker who has agreed and logged in; return the site's address and the cookie of the session.

        The page for logging in has tests of its own, and checking a password takes half a second.
        """
        cookie = SimpleCookie(self.call("shell", "--no-imports", "-v0", "-c", LOGGED_IN.format(email=email)))
        return f"http://worker.localhost:{self.port}", next(iter(cookie.values()))

    def client(self, made, **options):
        return client_for(made["endpoint_url"], (made["aws_access_key_id"], made["aws_secret_access_key"]), **options)


@contextmanager
def served(folder, **environment):
    """Start the marketplace and wait until it answers; end it, and only it, afterwards."""
    marketplace = Served(folder, free_port(), **environment)
    arguments = [sys.executable, "manage.py", "marketplace_serve", "--bind", f"127.0.0.1:{marketplace.port}", "--quiet"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(arguments, cwd=ROOT, env=marketplace.environment, stdout=log, stderr=log)
    try:
        for _attempt in range(600):
            try:
                urllib.request.urlopen(f"{marketplace.url}/healthz", timeout=2).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
        yield marketplace
    finally:
        marketplace.close()
        process.send_signal(signal.SIGTERM)
        process.wait(30)
