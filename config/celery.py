"""The Celery application: its messages contain only ids of job rows."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_init

from storage.private import keep_private

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")

keep_private()
app = Celery("quorate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": 3600},
    # A queue for each lane (`jobs.registry.Lane`), so that a worker with `-Q upkeep` is never held up by long jobs.
    task_queues={lane: {} for lane in ("upkeep", "bulk", "marketplace")},
    task_default_queue="upkeep",
    beat_schedule={"tick": {"task": "jobs.tick", "schedule": 10.0, "options": {"expires": 10}}},
)
app.autodiscover_tasks()


@worker_process_init.connect(weak=False)  # type: ignore[untyped-decorator]  # untyped library
def _start_telemetry(**_options: Any) -> None:
    from web.telemetry import telemetry_start  # noqa: PLC0415  only in the processes that run jobs

    telemetry_start()
