"""Commands that run a whole process with processes of its own, for the tests of what it comes to."""

import os
from contextlib import contextmanager

from django.db import connection


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
