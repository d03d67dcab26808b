"""Writers of SQLite stand in line: nobody is passed over, and a line whose first was killed moves on."""

import os
import subprocess
import sys
import threading
import time

import pytest
from django.db import connection, connections, transaction

from config.settings.base import database
from database.backends.sqlite3.base import DatabaseWrapper

pytestmark = pytest.mark.django_db(transaction=True)
ONE_WRITER = """
import sys, time
from django.conf import settings
from config.settings.base import database
settings.configure(DATABASES={"default": database("sqlite:///" + sys.argv[1])}, USE_TZ=True)
from django.db import connection, transaction
with transaction.atomic():
    connection.cursor().execute("INSERT INTO t VALUES (99)")
    print("in", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def base(tmp_path):
    """Return a function that opens a connection of its own to one database."""
    opened = []

    def open_():
        settings = {**connections["default"].settings_dict, **database(f"sqlite:///{tmp_path}/x.sqlite3")}
        opened.append(DatabaseWrapper({**settings, "TIME_ZONE": None}, alias=f"x{len(opened)}"))
        opened[-1].inc_thread_sharing()
        return opened[-1]

    with open_().cursor() as cursor:
        cursor.execute("CREATE TABLE t (a INTEGER)")
    yield open_
    for one in opened:
        one.close()


def write(base_, number):
    base_.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    with base_.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (%s)", [number])
    time.sleep(0.01)  # of other work, while the others wait
    base_.commit()
    base_.set_autocommit(True)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_is_passed_over(base):
    """Eight writers who come back at once take turns; SQLite alone lets some wait while others write again and again."""
    order, begun = [], threading.Barrier(8)

    def work(name):
        own = base()
        begun.wait()
        for _ in range(12):
            write(own, name)
            order.append(name)
        own.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(order) == 96
    middle = order[16:64]
    assert all(middle.count(name) >= 3 for name in range(8)), order


def test_a_killed_writer_leaves_the_line(base, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", ONE_WRITER, f"{tmp_path}/x.sqlite3"],
        env={**os.environ, "QUORATE_DATA": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "in\n"
    done = threading.Event()
    thread = threading.Thread(target=lambda: (write(base(), 1), done.set()))
    thread.start()
    assert not done.wait(0.3)
    child.kill()
    child.communicate()
    assert done.wait(10)
    thread.join()
    with base().cursor() as cursor:
        assert cursor.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_a_single_write_stands_in_line_and_a_read_does_not(base):
    first, second = base(), base()
    first.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    with first.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (1)")
    with second.cursor() as cursor:
        assert cursor.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)
    done = threading.Event()

    def insert():
        with second.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES (2)")
        done.set()

    thread = threading.Thread(target=insert)
    thread.start()
    assert not done.wait(0.2)
    first.rollback()
    assert done.wait(10)
    thread.join()
    first.set_autocommit(True)
    with first.cursor() as cursor:
        assert cursor.execute("SELECT a FROM t").fetchall() == [(2,)]


def test_a_transaction_that_failed_gives_its_turn_away():
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone has one writer at a time")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            1 / 0
    assert not connection._is_first
