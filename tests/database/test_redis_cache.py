"""The cache of rate limits while its Redis is away or frozen: people log in, and limits hold."""

import time

import pytest
from django.core.cache import cache, caches
from django.test import Client
from django.utils import timezone

from console.health import readiness
from database import redis_cache
from database.cache import caches_of
from jobs.ticks import tick
from tests import factories
from tests.silent import silent_server
from web.logins import counted

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["away", "frozen"])
def no_redis(request, settings, monkeypatch):
    """Use a cache whose Redis refuses connections or never answers; return who connected."""
    monkeypatch.setattr(redis_cache.RedisOrRows, "_away_until", 0.0)
    monkeypatch.setattr(redis_cache, "ANSWER_SECONDS", 0.2)
    with silent_server() as (silent, came):
        port = silent if request.param == "frozen" else 1
        made = caches_of({"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": ""}, "unused")
        made["default"]["LOCATION"] = f"redis://127.0.0.1:{port}/0"
        made["rows"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": f"rows-{port}"}
        settings.CACHES = made
        yield came
        caches["rows"].clear()


def test_limits_are_counted_in_the_database(no_redis):
    assert [counted("failures", 60) for _ in range(3)] == [1, 2, 3]
    assert caches["rows"].get("failures") == 3
    cache.set("a", "b", 60)
    assert (cache.get("a"), cache.touch("a", 30), cache.delete("a"), cache.get("a")) == ("b", True, True, None)
    assert len(no_redis) <= 1  # for ten seconds nobody asks again


def test_people_log_in_and_failed_logins_are_limited(no_redis, settings):
    person = factories.user("anna")

    def log_in(password):
        began = time.monotonic()
        answer = Client().post("/account/login/", {"login": person.email, "password": password})
        assert time.monotonic() - began < 20  # a frozen Redis is not waited for
        return answer

    assert log_in("correct horse battery").status_code == 302
    for _ in range(6):
        assert log_in("wrong").status_code in (200, 429)
    assert "Too many" in log_in("correct horse battery").content.decode()


def test_the_probe_names_it(no_redis):
    assert tick(now=timezone.now())
    readiness.forget()
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.content.decode()) == (
        503,
        "the cache doesn't respond; limits of logins are counted in the database\n",
    )


@pytest.mark.redis
def test_a_redis_that_is_there_is_used(settings, monkeypatch, broker):
    monkeypatch.setattr(redis_cache.RedisOrRows, "_away_until", 0.0)
    settings.CACHES = caches_of(
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": broker}, "unused"
    )
    cache.delete("count")
    assert [counted("count", 60), counted("count", 60)] == [1, 2]
    assert cache.is_there()
    cache.delete("count")
