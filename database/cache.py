"""A cache in the database that strangers cannot empty."""

from datetime import datetime
from typing import Any

from django.core.cache.backends.db import DatabaseCache
from django.db.backends.utils import CursorWrapper


class LastingDatabaseCache(DatabaseCache):
    """A database cache that deletes only expired entries.

    Django's own deletes random entries once there are many. Rate limits are stored here: by adding many
    entries, anyone could make Django's cache forget the limits.
    """

    def _cull(self, db: str, cursor: CursorWrapper, now: datetime, num: int) -> None:
        """Delete expired entries only."""
        super()._cull(db, cursor, now, 0)  # type: ignore[misc]  # not in the stubs


def cache(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cache; in the database, it is a `LastingDatabaseCache`."""
    if config["BACKEND"] == "django.core.cache.backends.db.DatabaseCache":
        return {**config, "BACKEND": "database.cache.LastingDatabaseCache"}
    return config
