"""Annotators with accounts, who work on the pages of a replay until no item is open."""

import time
from typing import Any

import numpy as np
from django.db import close_old_connections

from annotation.models import Annotation, Campaign, Slot, SlotState
from replays.base import Asked, Progress, State
from replays.ensemble import Ensemble
from replays.settling import Stuck
from replays.terminals import Say
from simulation.crowd import Crowd
from simulation.doors.member import Member
from simulation.model import CrowdModel, Floats, Pace
from simulation.people import Habits, Person

HIRED = Habits(returns=0, skips=0.002)  # people who are paid by the hour leave little out
STALLED = 180.0  # seconds without an answer after which no one is left to answer
QUIET_LOOKS = 2  # in a row at which nothing is open


def crowd_of(care: Floats, pace: Pace) -> CrowdModel:
    """Return a crowd model in which only care and pace matter.

    The right answers about a page come from the crowd's world.
    """
    people = len(care)
    return CrowdModel(
        ("1", "2"),
        np.ones(2) / 2,
        np.eye(2),
        np.ones(2),
        care,
        np.ones((people, 2)) / 2,
        np.ones(people) / people,
        pace,
    )


class MembersAtWork:
    """Lets members answer the open items of a campaign, and stores the time and counts."""

    def __init__(self, asked: Asked, state: State, campaign: Campaign, services: Ensemble, say: Say) -> None:
        self.asked, self.state, self.campaign, self.services, self.say = asked, state, campaign, services, say
        self.deadline = time.monotonic() + asked.seconds

    def members(self, emails: list[str], password: str, people: list[Person], world: Any) -> list[Member]:
        """Return members, one per account and person."""
        return [
            Member(self.services.web_url, self.campaign.slug, email, password, person, world)
            for email, person in zip(emails, people, strict=True)
        ]

    def until_done(self, members: list[Member], what: str) -> None:
        """Let the members work until no slot is open and no further work is requested.

        Raises
        ------
        Stuck
            The time is over, or no member is left to answer the open slots.
        """
        crowd = Crowd(members, seed=self.asked.seed, threads=8, sitting=40)
        watch = _Watch(self.campaign, Progress(self.say, what, Slot.objects.filter(campaign=self.campaign).count()))
        try:
            crowd.run(watch.is_over, seconds=max(0.0, self.deadline - time.monotonic()), look_every=1.0)
            if watch.open_slots():
                raise Stuck(f"{watch.open_slots():,} {what} are open, and no one is left to answer them")
        finally:
            self.state.add(
                {
                    "crowd seconds": sum(member.seconds for member in members),
                    "crowd days": crowd.days,
                    "requests": sum(member.browser.requests for member in members),
                    "answers": sum(len(member.desk.times) for member in members),
                }
            )
            self.state.save()


class _Watch:
    """Monitors the progress of a campaign."""

    def __init__(self, campaign: Campaign, progress: Progress) -> None:
        self.campaign, self.progress = campaign, progress
        self.answers, self.since, self.quiet = -1, time.monotonic(), 0

    def open_slots(self) -> int:
        """Return the number of open or held slots."""
        return Slot.objects.filter(campaign=self.campaign, state__in=[SlotState.OPEN, SlotState.HELD]).count()

    def is_over(self) -> bool:
        """Return whether no slot is open, or no member is still answering."""
        close_old_connections()
        left, answers = self.open_slots(), Annotation.objects.filter(campaign=self.campaign).count()
        self.progress.show(self.progress.total - left)
        if answers != self.answers:
            self.answers, self.since = answers, time.monotonic()
        # Quality control may ask for more: a review, another try.
        unseen = Annotation.objects.filter(campaign=self.campaign, is_examined=False).exclude(state="provisional")
        self.quiet = 0 if left or unseen.exists() else self.quiet + 1
        return self.quiet >= QUIET_LOOKS or time.monotonic() - self.since > STALLED
