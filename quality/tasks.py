"""The jobs and periodic tasks of the quality app, by subject."""

from quality.certificates import tasks as certificates
from quality.dashboard import tasks as dashboard
from quality.examination import tasks as examination
from quality.experts import tasks as experts
from quality.gold import tasks as gold
from quality.labels import tasks as labels
from quality.people import tasks as people
from quality.plans import tasks as plans
from quality.studies import tasks as studies

JOBS = [
    *examination.JOBS,
    *gold.JOBS,
    *labels.JOBS,
    *certificates.JOBS,
    *people.JOBS,
    *experts.JOBS,
    *plans.JOBS,
    *studies.JOBS,
    *dashboard.JOBS,
]
SWEEPS = [*examination.SWEEPS, *people.SWEEPS, *labels.SWEEPS, *certificates.SWEEPS, *dashboard.SWEEPS]
