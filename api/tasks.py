"""The jobs and sweeps of the API app."""

from api.webhooks.sending import webhooks_send
from api.webhooks.services import PUBLISH_JOB, SEND_JOB, events_due, events_publish
from jobs.registry import JobKind, Lane

JOBS = [JobKind(PUBLISH_JOB, events_publish, Lane.UPKEEP), JobKind(SEND_JOB, webhooks_send, Lane.MARKETPLACE)]
SWEEPS = [events_due]
