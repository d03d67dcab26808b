"""A cache in the database that strangers cannot empty."""

from datetime import datetime
from typing import Any

from django.core.cache.backends.db import DatabaseCache
from django.db.backends.utils import CursorWrapper


class LastingDatabaseCache(DatabaseCache):
    """Delete what has expired, and nothing else.

    Django's own deletes entries at random once there are many. Rate limits live here: with many entries
    of their own, anyone could have the limits forgotten.
    """

    def _cull(self, db: str, cursor: CursorWrapper, now: datetime, num: int) -> None:
        """Make room, as far as entries have expired."""
        super()._cull(db, cursor, now, 0)  # type: ignore[misc]  # not in the stubs


def cache(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cache; in the database it is one that lasts."""
    if config["BACKEND"] == "django.core.cache.backends.db.DatabaseCache":
        return {**config, "BACKEND": "database.cache.LastingDatabaseCache"}
    return config
