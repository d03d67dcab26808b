"""Use an SQLite build that doesn't corrupt data.

SQLite 3.7.0 to 3.51.2 can corrupt a WAL database when two connections write and checkpoint at the
same moment. Distributions still ship such builds, so where the `pysqlite3` wheel is installed it
takes the place of the standard module; this has to happen before Django loads its backend.
"""

import sys


def use_current_sqlite() -> None:
    """Replace `sqlite3` by `pysqlite3`, if it is installed."""
    try:
        import pysqlite3
        from pysqlite3 import dbapi2
    except ImportError:
        return  # no wheel for this platform: the system check `accounts.W001` warns if it matters
    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = dbapi2
