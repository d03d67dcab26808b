"""System checks on the software that the platform depends on."""

import sqlite3
from typing import Any

from django.conf import settings
from django.core import checks

FIRST_SAFE_SQLITE = (3, 51, 3)


@checks.register()
def check_sqlite_version(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn when the SQLite in use has the WAL-reset bug that can corrupt a busy database."""
    uses_sqlite = any(str(database["ENGINE"]).endswith("sqlite3") for database in settings.DATABASES.values())
    if not uses_sqlite or sqlite3.sqlite_version_info >= FIRST_SAFE_SQLITE:
        return []
    return [
        checks.Warning(
            f"SQLite {sqlite3.sqlite_version} can corrupt a database that several processes write.",
            hint="Install the pysqlite3 wheel (requirements.txt does, where one exists) or use PostgreSQL.",
            id="accounts.W001",
        )
    ]
