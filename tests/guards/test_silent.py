"""Other services that take connections and never answer: no page waits for a part that it doesn't need."""

import smtplib
from contextlib import ExitStack

import pytest
from django.core.mail import send_mail
from django.utils import timezone

from jobs.ticks import tick
from tests.guards.test_costs import NO_PAGES, Crowded
from tests.guards.test_matrix import POLICY, own_routes
from tests.silent import silent_server
from workforces.services.workforces import workforce_add

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


def test_no_page_asks_the_mail_server_the_bucket_or_the_marketplace(settings, monkeypatch):
    settings.STYLEGUIDE = True
    tick(now=timezone.now())
    world = Crowded()
    world.grow([1])
    with ExitStack() as stack:
        (mail, mailed), (bucket, fetched), (market, asked) = (stack.enter_context(silent_server()) for _ in range(3))
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", mail, 1
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{bucket}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
            monkeypatch.setenv(name, "x")
        releases = {"BACKEND": "storage.buckets.BucketStorage"}
        settings.STORAGES = settings.STORAGES | {
            "releases": releases | {"OPTIONS": {"place": "s3://releases"}},
            "releases_now": releases | {"OPTIONS": {"place": "s3://releases", "attempts": 1, "seconds": 1}},
        }
        settings.MTURK_ENDPOINT_URL = f"http://127.0.0.1:{market}"
        settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = settings.MTURK_FRAME_SECRET = "x"
        workforce_add(campaign=world.campaign, kind="mturk", terms={}, actor_id=None, now=timezone.now())
        for name, pattern in own_routes():
            if "get" in POLICY[name][0].split() and name not in NO_PAGES:
                client, path = world.page(name, pattern)
                answer = client.get(path)
                assert answer.status_code == 200, name
                if name == "release":
                    assert len(fetched) == 1  # it lists the files, and waits once
                    assert "The file storage isn't responding" in answer.content.decode()
                assert (len(mailed), len(fetched), len(asked)) == (0, name == "release", 0), name
                fetched.clear()
        with pytest.raises((smtplib.SMTPException, OSError)):
            send_mail("Hello", "there", None, ["a@example.org"])
        assert mailed  # a page that asks would be noticed
