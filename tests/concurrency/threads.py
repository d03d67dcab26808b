"""Threads that start together, and transactions that are held open while others go on."""

import threading
from contextlib import contextmanager

from django.db import connection, connections, transaction


def at_once(functions):
    """Run functions in threads that start together; return their results, re-raising what they raised."""
    barrier = threading.Barrier(len(functions))
    results, errors = [], []

    def run(function):
        try:
            barrier.wait(timeout=30)
            results.append(function())
        except Exception as error:  # noqa: BLE001  shown by the assertion below
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not errors, errors[:3]
    return results


@contextmanager
def held_open(change):
    """Make a change in another thread and keep its transaction open, with all its locks, for as long as this lasts."""
    made, release, errors = threading.Event(), threading.Event(), []

    def run():
        try:
            with transaction.atomic():
                change()
                made.set()
                release.wait(timeout=60)
        except Exception as error:  # noqa: BLE001  shown below
            errors.append(error)
        finally:
            made.set()
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    made.wait(timeout=60)
    try:
        assert not errors, errors
        yield
    finally:
        release.set()
        thread.join(timeout=60)
    assert not errors, errors


@contextmanager
def impatient(milliseconds=1500):
    """Let this thread's statements wait for a lock no longer than this (PostgreSQL)."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{milliseconds}ms'")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
