"""Creation of the tables in an empty database by the first command that runs."""

import os
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection


def prepare() -> None:
    """Create the tables if there are none; migrating an older database is left to ``marketplace_serve``."""
    os.umask(0o077)
    Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
    if "marketplace_requester" not in connection.introspection.table_names():
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
