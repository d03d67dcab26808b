"""Uploads that nobody will read are deleted; those that a job reads, or may read again, stay."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from jobs.models import Job, JobState
from jobs.uploads import uploads_forget

pytestmark = pytest.mark.django_db


def stored(hours):
    name = default_storage.save("upload", ContentFile(b"a"))
    then = (timezone.now() - timedelta(hours=hours)).timestamp()
    os.utime(default_storage.path(name), (then, then))
    return name


def test_only_old_uploads_without_a_job_are_deleted():
    now = timezone.now()
    names = {state: stored(30) for state in JobState}
    for state, name in names.items():
        Job.objects.create(kind="a", lane="bulk", state=state, payload={"file": name}, due_at=now, created_at=now)
    new, old = stored(1), stored(30)
    uploads_forget(now)
    left = {name for name in (*names.values(), new, old) if Path(default_storage.path(name)).exists()}
    assert left == {names["queued"], names["running"], names["failed"], new}
