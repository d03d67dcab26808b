"""Commands that run a whole process with processes of its own, for the tests of what it comes to."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

from django.db import connection

from tests.conftest import ROOT


def result_of(folder, command, *arguments, seconds):
    """Run a command with a database of its own; return its result and what it said on the way."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "DATABASE"))}
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), command, *arguments, "--json"],
        env=kept | {"QUORATE_DATA": str(folder), "DATABASE_URL": f"sqlite:///{folder}/demo.sqlite3"},
        capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout), done.stderr


@contextmanager
def database(name, folder):
    """Give a database of its own on the server that the tests run on, or a file."""
    if connection.vendor != "postgresql":
        yield f"sqlite:///{folder}/{name}.sqlite3"
        return
    import psycopg

    address = os.environ["DATABASE_URL"]
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        server.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{address.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(address, autocommit=True) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
