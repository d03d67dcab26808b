"""A throwaway installation for measurements, on the database that DATABASE_URL names (default: SQLite)."""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def start() -> str:
    """Set Django up on an empty database in a temporary folder, with the production durability mode; return the folder.

    Started from another measurement, it is the folder of that one.
    """
    if "QUORATE_PERF" in os.environ:
        return os.environ["QUORATE_PERF"]
    folder = tempfile.mkdtemp(prefix="quorate-perf-")
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/perf.sqlite3")
    os.environ["QUORATE_DATA"] = os.environ["QUORATE_PERF"] = folder
    os.environ["QUORATE_LOG_LEVEL"] = "ERROR"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    call_command("flush", verbosity=0, interactive=False) if "postgres" in os.environ["DATABASE_URL"] else None
    return folder
