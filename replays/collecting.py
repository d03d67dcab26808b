"""A simulated manager and expert of ANTIQUE's process, who have a crowd at the marketplace label pairs."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import Surrogate
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.management.campaigns import launch_here
from annotation.models import ORDINARY, Annotation, Campaign, CampaignState, Item, Slot
from annotation.tasktypes.labels import LABEL
from jobs.terminal import run_here
from quality.experts.services.cases import CaseError
from quality.experts.services.inspections import inspection_decide
from quality.experts.services.opinions import opinion_give
from quality.gold.services.keys import gold_import
from quality.models import Case, CaseState, GoldCheck, Inspection, InspectionVerdict, Review, ReviewState, Verdict
from quality.people.services.reviews import review_decide
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from replays.base import Asked, Progress, State
from replays.ensemble import PACE, Ensemble
from replays.pairs import BATCHES, QUESTIONS, REJECTED, TEST_QUESTIONS, Material
from replays.settling import Stuck, settle
from replays.terminals import Quiet, Say
from simulation.crowd import Crowd
from simulation.doors.market import MarketWorker
from simulation.people import people_of
from simulation.world import chance_of
from storage.secrets import new_password
from storage.tables.rows import read_rows
from workforces.kinds.mturk.terms import source_at
from workforces.models import Ticket, TicketState
from workforces.services.refusals import ticket_refuse
from workforces.services.workforces import workforce_add

EXPERT_RIGHT = 0.95
# The next batch is launched when at most this share of all pairs, or this many pairs, is still in the first round.
LATE, FEW_LATE = 0.03, 2
MOST_READ = 200  # inspections at a time
REWARD_CENTS = 2
FEW = 500  # pairs; a smaller replay spends most of its time waiting for deadlines, so they are shorter


def terms_of(material: Material) -> dict[str, Any]:
    """Return the terms of the HITs.

    Times are in seconds where a real campaign has hours, because a synthetic crowd needs no time to read.
    """
    seconds = 30 if material.pairs < FEW else 60
    return {
        "reward_cents": REWARD_CENTS,
        "training_bonus_cents": 10,
        "has_fees": True,
        "qualification": "paper",
        "undo_seconds": 0,
        "approve_after_seconds": seconds // 4,
        "stale_seconds": seconds,
        "assignment_seconds": seconds,
    }


def pace_of(material: Material) -> dict[str, str]:
    """Return the settings for the intervals of rounds.

    A round costs the same for a hundred pairs and for a hundred thousand, so large replays have longer intervals.
    """
    seconds, grace = ("0.5", "5") if material.pairs < FEW else ("2", "30")
    return PACE | {"MTURK_ROUND_SECONDS": seconds, "MTURK_PULL_SECONDS": seconds, "MTURK_GRACE_SECONDS": grace}


def deposit_of(material: Material) -> str:
    """Return the initial deposit, in dollars, of our account at the marketplace."""
    return str(100 + round(material.pairs * 0.5))


def campaign_of(asked: Asked, slug: str, policy: Policy) -> Campaign:
    """Return the campaign for the pairs; create it if it is missing."""
    found = Campaign.objects.filter(slug=slug).first()
    if found is not None:
        return found
    now = timezone.now()
    test = TEST_QUESTIONS / QUESTIONS
    campaign = campaign_create(
        slug=slug,
        title="ANTIQUE again, by a synthetic crowd",
        task_type="antique",
        created_by=None,
        now=now,
        splits=[NewSplit("train", 3, round(1000 * (1 - test))), NewSplit("test", 3, round(1000 * test))],
        seed=asked.seed,
        consent=NewConsent("A replay of a paper.", "Answers and how long they take.", "whoever started this replay"),
        has_training=True,
        is_synthetic=True,
        group_by="question",
    )
    policy_publish(campaign=campaign, policy=policy, actor_id=None, now=now)
    return campaign


@contextmanager
def recalled_is_skipped() -> Iterator[None]:
    """Let an expert skip a case that was recalled after the list was read, because votes on it were excluded."""
    try:
        yield
    except CaseError as error:
        if error.key != "case_over":
            raise


class Collecting:
    """Plays the manager and the expert while the crowd works, until every pair is labeled and everybody is paid."""

    def __init__(self, asked: Asked, state: State, material: Material, campaign: Campaign, say: Say) -> None:
        self.asked, self.state, self.material, self.campaign, self.say = asked, state, material, campaign, say
        self.deadline = time.monotonic() + asked.seconds
        people = state.once(f"{campaign.slug} people", lambda: [str(Surrogate.objects.create().pk) for _ in range(2)])
        self.manager, self.expert = map(UUID, people)

    def run(self, services: Ensemble) -> None:
        """Launch the batches one by one, make pending decisions, and let the crowd work until all pairs are decided."""
        if not self.campaign.workforces.exists():
            workforce_add(
                campaign=self.campaign,
                kind="mturk",
                terms=terms_of(self.material),
                actor_id=None,
                now=timezone.now(),
                source=source_at(services.endpoint_url),
            )
        self._keys()
        with self.state.phase("sign up"):
            workers = self._workers(services)
        if services.worker is None:
            services.start_worker()
        crowd = Crowd(workers, seed=self.asked.seed, threads=8, sitting=40)
        with self.state.phase("collect"):
            crowd.start()
            try:
                self._manage(crowd, services)
            finally:
                crowd.stop()
                self.state.add(
                    {
                        **{f"crowd {outcome}": count for outcome, count in crowd.outcomes.items()},
                        "crowd days": crowd.days,
                        "crowd seconds": sum(worker.seconds for worker in workers),
                        "requests": sum(worker.requests for worker in workers),
                    }
                )

    def settle(self) -> None:
        """Close the campaign and wait until everybody is paid."""
        self.campaign.refresh_from_db()
        if self.campaign.state != CampaignState.CLOSED:
            now = timezone.now()
            campaign_move(campaign=self.campaign, to=CampaignState.CLOSED, actor_id=self.manager, now=now)
        self.say("all pairs are labeled; waiting until all workers are paid")
        settle(self.campaign, self.deadline, self.decide)

    def _keys(self) -> None:
        if Item.objects.filter(campaign=self.campaign, batch__purpose="gold").exists():
            return
        lines = "\n".join(json.dumps(row) for row in self.material.gold)
        path = Path(settings.DATA_DIR) / f"{self.campaign.slug}-gold.jsonl"
        path.write_text(lines, encoding="utf-8")
        with path.open("rb") as file:
            gold_import(
                campaign=self.campaign, rows=read_rows(file, path.name), actor_id=self.manager, now=timezone.now()
            )
        path.unlink()

    def _workers(self, services: Ensemble) -> list[MarketWorker]:
        address = f"w{{}}-{self.asked.slug}@crowd.example"
        password = self.state.once("password", new_password)
        self.state.once(
            "accounts",
            lambda: services.market_command(
                "marketplace_worker",
                "--email",
                address,
                "--count",
                str(self.material.workers),
                f"--password={password}",
                "--approved",
                "6000",
                "--rejected",
                "60",
            ),
        )
        people = people_of(self.material.world.model, self.material.workers, seed=self.asked.seed, spam=REJECTED)
        return [
            MarketWorker(services.market_url, address.format(number), password, person, self.material.world)
            for number, person in enumerate(people)
        ]

    def _manage(self, crowd: Crowd, services: Ensemble) -> None:
        progress = Progress(self.say, "pairs have a label", self.material.pairs)
        launched = self.campaign.batches.filter(purpose="work").exclude(state="draft").count()
        while True:
            imported = self._pairs().count()
            past = self._pairs().filter(self._is_past_first_round()).distinct().count() if launched < BATCHES else 0
            if launched < BATCHES and (imported - past <= max(LATE * imported, FEW_LATE) or self._was_interrupted()):
                self._launch(launched)
                launched += 1
            done = Verdict.objects.filter(campaign=self.campaign, superseded_at=None).count()
            progress.show(done)
            if launched == BATCHES and self.is_done(done):
                return
            self.decide()
            self._check(crowd, services, done)
            self.pause()

    def pause(self) -> None:
        """Wait before the next look at the campaign."""
        if time.monotonic() > self.deadline:
            raise Stuck(f"{self.campaign.slug} is not finished")
        close_old_connections()
        time.sleep(0.5 if self.material.pairs < FEW else 2)

    def is_done(self, labels: int) -> bool:
        """Return whether the collection is complete at this number of labeled pairs."""
        return labels >= self.material.pairs

    def _check(self, crowd: Crowd, services: Ensemble, done: int) -> None:
        if crowd.errors:
            raise crowd.errors[0]
        if services.worker is not None and services.worker.poll() is not None:
            raise Stuck("the job worker ended")
        if time.monotonic() > self.deadline:
            raise Stuck(f"{done:,} of {self.material.pairs:,} pairs have a label")

    def _pairs(self) -> Any:
        return Item.objects.filter(campaign=self.campaign, batch__purpose__in=ORDINARY)

    def _is_past_first_round(self) -> Any:
        labelled = Verdict.objects.filter(item=OuterRef("pk"), superseded_at=None)
        return Exists(labelled) | Exists(Slot.objects.filter(item=OuterRef("pk"), round=2))

    def _was_interrupted(self) -> bool:
        """Return whether a batch was imported but not launched."""
        return self.campaign.batches.filter(purpose="work", state="draft", items__isnull=False).exists()

    def _launch(self, batch: int) -> None:
        """Import a batch and launch it; batches imported before aren't changed."""
        path = Path(settings.DATA_DIR) / f"{self.campaign.slug}-{batch + 1}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in self.material.rows(batch)), encoding="utf-8")
        payload = {
            "campaign": str(self.campaign.pk),
            "path": str(path),
            "name": path.name,
            "pilot": False,
            "good_rows_only": False,
        }
        run_here(kind="annotation.import_items", payload=payload, stderr=Quiet(), scope_id=self.campaign.pk)
        path.unlink()
        self.say(f"batch {batch + 1} of {BATCHES} is imported")
        slots = launch_here(self.campaign, Quiet())
        self.campaign.refresh_from_db()
        self.say(f"batch {batch + 1} of {BATCHES}: {slots:,} votes requested")

    def decide(self) -> None:
        """Make the pending decisions of the manager and the experts."""
        now = timezone.now()
        for review in Review.objects.filter(campaign=self.campaign, state=ReviewState.OPEN):
            checks = GoldCheck.objects.filter(campaign=self.campaign, surrogate_id=review.surrogate_id, is_void=False)
            hits, of = checks.filter(is_hit=True).count(), checks.count()
            # Less than six of ten obvious questions right: that person did not read, and their work is refused with the reason.
            review_decide(
                review=review,
                suspend=True,
                refuse_pay=hits < 0.6 * of,
                actor_id=self.manager,
                now=now,
                reason=f"{of - hits} of {of} questions with an obvious label were answered otherwise.",
            )
        # Work submitted after its person's pay was refused is not covered by that decision.
        late = Ticket.objects.filter(workforce__campaign=self.campaign, state=TicketState.UNMATCHED)
        for ticket in late.select_related("workforce"):
            ticket_refuse(ticket=ticket, reason="As your other answers.", actor_id=self.manager, due_at=now, now=now)
        waiting = Case.objects.filter(campaign=self.campaign, state=CaseState.OPEN).select_related("item", "campaign")
        for case in waiting[:MOST_READ]:
            with recalled_is_skipped():
                self.judge(case)
        unread = Inspection.objects.filter(campaign=self.campaign, verdict="").select_related("annotation__item")
        for inspection in unread[:MOST_READ]:
            found = self._found(inspection.annotation)
            inspection_decide(inspection=inspection, verdict=found, exclude=False, actor_id=self.manager, now=now)

    def judge(self, case: Case) -> None:
        """Have the expert judge a pair."""
        opinion_give(
            case=case,
            surrogate_id=self.expert,
            said={LABEL: self.expert_says(case.item.content)},
            justification="Read twice.",
            now=timezone.now(),
        )

    def expert_says(self, content: dict[str, Any], number: int = 0) -> int:
        """Return an expert's label, which is right nineteen times out of twenty."""
        true, chance = self.material.true(content), chance_of(self.asked.seed, "expert", number, content["answer_id"])
        return true if chance.random() < EXPERT_RIGHT else max(1, true - 1)

    def _found(self, annotation: Annotation) -> InspectionVerdict:
        apart = abs(annotation.answer[LABEL] - self.material.true(annotation.item.content))
        return (InspectionVerdict.GOOD, InspectionVerdict.DEBATABLE)[apart] if apart < 2 else InspectionVerdict.WRONG
