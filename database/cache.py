"""The cache of rate limits: in the database, or in Redis with the database behind it. Strangers cannot empty it."""

from datetime import datetime
from typing import Any

from django.core.cache.backends.db import DatabaseCache
from django.db.backends.utils import CursorWrapper

BEHIND = "rows"  # the cache that is used while Redis is away


class LastingDatabaseCache(DatabaseCache):
    """A database cache that deletes only expired entries.

    Django's own deletes random entries once there are many. Rate limits are stored here: by adding many
    entries, anyone could make Django's cache forget the limits.
    """

    def _cull(self, db: str, cursor: CursorWrapper, now: datetime, num: int) -> None:
        """Delete expired entries only."""
        super()._cull(db, cursor, now, 0)  # type: ignore[misc]  # not in the stubs


def caches_of(config: dict[str, Any], table: str) -> dict[str, dict[str, Any]]:
    """Return the setting ``CACHES`` for a cache by its address: in the database, or Redis with the database behind."""
    rows = {"BACKEND": "database.cache.LastingDatabaseCache", "LOCATION": table}
    if config["BACKEND"] == "django.core.cache.backends.db.DatabaseCache":
        return {"default": {**config, "BACKEND": rows["BACKEND"]}}
    if "redis" in config["BACKEND"].lower():
        return {"default": {**config, "BACKEND": "database.redis_cache.RedisOrRows"}, BEHIND: rows}
    return {"default": config}
