"""A cache in Redis, with a cache in the database behind it."""

import logging
import time
from typing import Any, ClassVar

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisSilent

from database.cache import BEHIND

AWAY_SECONDS = 10.0  # until Redis is asked again
ANSWER_SECONDS = 1.0

_log = logging.getLogger(__name__)


class RedisOrRows(BaseCache):
    """A cache in Redis that uses the database while Redis is away, so that people can log in and limits hold.

    Limits that were counted in Redis start again in the database. Redis is asked again every ``AWAY_SECONDS``; no
    request waits longer than ``ANSWER_SECONDS`` for it.
    """

    _away_until: ClassVar[float] = 0.0  # of this process

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        limits = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
        self._redis = RedisCache(server, {**params, "OPTIONS": {**limits, **params.get("OPTIONS", {})}})

    def _run(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= RedisOrRows._away_until:
            try:
                return getattr(self._redis, method)(*args, **kwargs)
            except (RedisAway, RedisSilent) as error:
                RedisOrRows._away_until = time.monotonic() + AWAY_SECONDS
                _log.warning("The cache's Redis doesn't respond; using the database for %d s: %s", AWAY_SECONDS, error)
        return getattr(caches[BEHIND], method)(*args, **kwargs)

    def is_there(self) -> bool:
        """Return whether Redis responds."""
        try:
            self._redis.get("ready")
        except (RedisAway, RedisSilent):
            return False
        return True

    def add(self, *args: Any, **kwargs: Any) -> bool:
        """Add a value unless there is one."""
        return bool(self._run("add", *args, **kwargs))

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a value."""
        return self._run("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value."""
        self._run("set", *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        """Set a new time at which a value expires."""
        return bool(self._run("touch", *args, **kwargs))

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        """Delete a value."""
        return bool(self._run("delete", *args, **kwargs))

    def incr(self, *args: Any, **kwargs: Any) -> int:
        """Increase a number."""
        return int(self._run("incr", *args, **kwargs))

    def clear(self) -> None:
        """Delete everything."""
        self._run("clear")
