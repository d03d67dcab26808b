"""The jobs and sweeps of the quality app."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from quality.models import Audit, Review
from quality.selectors.study_plans import StudyDesign
from quality.services.audits import audit_draw, audit_recall
from quality.services.behaviour import behaviour_refresh
from quality.services.cases import cases_sample
from quality.services.examine import campaign_examine, examine_due
from quality.services.gold import gold_import
from quality.services.numbers import numbers_due, quality_numbers_refresh
from quality.services.people import person_exclude, reviews_lapse
from quality.services.person_acts import person_work
from quality.services.pilot_keys import pilot_keys
from quality.services.studies import studies_refresh, study_begin, study_planned
from quality.services.suspensions import person_restore
from quality.services.watching import rule_dry_run
from quality.services.waves import waves_due, waves_look
from storage.tables.rows import read_rows


def examine(work: Work) -> dict[str, Any]:
    """Look at new annotations."""
    return campaign_examine(work=work, campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])))


def numbers(work: Work) -> dict[str, Any]:
    """Compute the numbers of quality control."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    return {}


def restore(work: Work) -> dict[str, Any]:
    """Count again what a suspension that was lifted took out of the votes."""
    review = Review.objects.select_related("campaign").get(pk=work.payload["review"])
    return person_restore(work=work, review=review, now=timezone.now())


def person_work_move(work: Work) -> dict[str, Any]:
    """Take a person's work from a date on out of what counts, or back in."""
    payload = work.payload
    return person_work(
        work=work,
        campaign=Campaign.objects.get(pk=UUID(payload["campaign"])),
        surrogate_id=UUID(payload["surrogate"]),
        since=datetime.fromisoformat(payload["since"]),
        excludes=payload["excludes"],
    )


def dry_run(work: Work) -> dict[str, Any]:
    """Try a rule on stored history."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    return rule_dry_run(work=work, campaign=campaign, fields=work.payload["rule"])


def import_gold(work: Work) -> dict[str, Any]:
    """Import gold keys from a file, all or none."""
    campaign, payload = Campaign.objects.get(pk=UUID(work.payload["campaign"])), work.payload
    with opened(payload) as file:
        rows = read_rows(file, payload["name"])
        made = gold_import(
            campaign=campaign,
            rows=rows,
            actor_id=work.job.requested_by_id,
            now=timezone.now(),
            experts=payload["experts"],
        )
    return {"keys": made, "notes": rows.reading.said()}


def keys_of_pilot(work: Work) -> dict[str, Any]:
    """Make gold keys of the pilot items on which people agree."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    return pilot_keys(work=work, campaign=campaign, experts=work.payload["experts"])


def sample_cases(work: Work) -> dict[str, Any]:
    """Put a sample before the experts."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    names = ("count", "seed", "experts", "every_answer", "least")
    return cases_sample(
        work=work, campaign=campaign, **{name: work.payload[name] for name in names if name in work.payload}
    )


def audit(work: Work) -> dict[str, Any]:
    """Draw an audit of the labels."""
    campaign, payload = Campaign.objects.get(pk=UUID(work.payload["campaign"])), work.payload
    return audit_draw(work=work, campaign=campaign, **{name: payload[name] for name in ("count", "twice", "seed")})


def behaviour(work: Work) -> dict[str, Any]:
    """Compute how people work."""
    behaviour_refresh(campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])), now=timezone.now())
    return {}


def audit_recalled(work: Work) -> dict[str, Any]:
    """Take the items of an audit that was called off back from the experts."""
    return audit_recall(work=work, audit=Audit.objects.select_related("campaign").get(pk=work.payload["audit"]))


def studies(work: Work) -> dict[str, Any]:
    """Compute the studies of the paper."""
    studies_refresh(campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])), now=timezone.now())
    return {}


def plan_study(work: Work) -> dict[str, Any]:
    """Say what a study takes."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    return study_planned(campaign=campaign, design=StudyDesign(**work.payload["design"]))


def begin_study(work: Work) -> dict[str, Any]:
    """Ask for the annotations of a study."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    return study_begin(work=work, campaign=campaign, design=StudyDesign(**work.payload["design"]))


def waves(work: Work) -> dict[str, Any]:
    """Look at the labels of a campaign with a target, and buy votes where they are doubtful."""
    return waves_look(work=work, campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])))


def exclude(work: Work) -> dict[str, Any]:
    """Take a suspended person's work out of the votes."""
    review = Review.objects.select_related("campaign").get(pk=work.payload["review"])
    return person_exclude(work=work, review=review, now=timezone.now())


JOBS = [
    JobKind("quality.examine", examine, Lane.UPKEEP),
    JobKind("quality.numbers", numbers, Lane.UPKEEP),
    JobKind("quality.behaviour", behaviour, Lane.UPKEEP),
    JobKind("quality.exclude", exclude, Lane.UPKEEP),
    JobKind("quality.restore", restore, Lane.UPKEEP),
    JobKind("quality.person_work", person_work_move, Lane.UPKEEP),
    JobKind("quality.dry_run", dry_run, Lane.BULK),
    JobKind("quality.import_gold", import_gold, Lane.BULK, upload_forget),
    JobKind("quality.pilot_keys", keys_of_pilot, Lane.BULK),
    JobKind("quality.sample_cases", sample_cases, Lane.BULK),
    JobKind("quality.audit", audit, Lane.BULK),
    JobKind("quality.audit_recall", audit_recalled, Lane.UPKEEP),
    JobKind("quality.studies", studies, Lane.BULK),
    JobKind("quality.study_plan", plan_study, Lane.BULK),
    JobKind("quality.study_begin", begin_study, Lane.BULK),
    JobKind("quality.waves", waves, Lane.BULK),
]
SWEEPS = [examine_due, reviews_lapse, waves_due, numbers_due]
