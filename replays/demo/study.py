"""A finished study of 25 annotations for the demo: a synthetic crowd annotates, and two synthetic experts judge."""

import random
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import Surrogate
from annotation.models import Campaign
from annotation.tasktypes.nq.judging import CORRECT, DEBATABLE, WRONG
from documents.html.tokens import Tokenization
from documents.selectors import tokenization_of
from jobs.terminal import run_here
from quality.experts.services.opinions import consensus_confirm, consensus_propose, opinion_give
from quality.models import Case, CaseState
from quality.studies.services import studies_refresh
from replays.demo.crowd import Member, answer_everything, box_near

WAYS, ITEMS, SEED = 25, 10, 25
DOUBT = 0.15  # how often an expert finds debatable what is correct


def study_finish(
    *, campaign: Campaign, members: list[Member], expected: dict[str, dict[str, str]], now: datetime, stderr: Any
) -> None:
    """Request 25 annotations for each of ten items, and let the crowd and two experts do the work."""
    scope = {"campaign": str(campaign.pk), "seed": SEED}
    more = {**scope, "split": "dev", "n": WAYS, "sample": ITEMS}
    run_here(kind="annotation.extend", payload=more, stderr=stderr, scope_id=campaign.pk)
    answer_everything(campaign=campaign, members=members, expected=expected, seed=SEED, now=now)
    sample = {**scope, "count": ITEMS, "experts": 2, "every_answer": False, "least": WAYS}
    run_here(kind="quality.sample_cases", payload=sample, stderr=stderr, scope_id=campaign.pk)
    cases_judge(campaign, expected, SEED, now)
    studies_refresh(campaign=campaign, now=now)


def cases_judge(
    campaign: Campaign, expected: dict[str, dict[str, str]], seed: int, now: datetime, *, left: int = 0
) -> None:
    """Let two synthetic experts judge the open cases, but for the last ones."""
    chance = random.Random(seed)  # noqa: S311  a simulation, not a secret
    experts = [Surrogate.objects.create().pk for _ in range(2)]
    waiting = Case.objects.filter(campaign=campaign, state=CaseState.OPEN).order_by("pk")
    cases = list(waiting.select_related("item__tokenization", "campaign"))
    for case in cases[: len(cases) - left]:
        _judge(case, experts, expected[case.item.external_id], chance, now)


def _judge(case: Case, experts: list[UUID], expected: dict[str, str], chance: random.Random, now: datetime) -> None:
    """Have two experts judge a case, each alone.

    If they differ, the first proposes a consensus, and the second confirms it.
    """
    said = _grades(case, expected)
    for expert in experts:
        alone = {
            key: DEBATABLE if grade == CORRECT and chance.random() < DOUBT else grade for key, grade in said.items()
        }
        opinion_give(case=case, surrogate_id=expert, said=alone, justification="", now=now)
    if Case.objects.filter(pk=case.pk, state=CaseState.CONSENSUS).exists():
        proposal = consensus_propose(
            case=case, surrogate_id=experts[0], said=said, justification="It says what was asked.", now=now
        )
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=experts[1], now=now)


def _grades(case: Case, expected: dict[str, str]) -> dict[str, str]:
    """Return correct for the expected box, debatable for a box inside or around it, and wrong for others."""
    page = tokenization_of(case.item.tokenization)
    assert page is not None
    box = box_near(page, expected["near"]) if expected["label"] == "good" else -1
    return {part["key"]: _grade(page, part.get("box", -1), box) for part in case.parts}


def _grade(page: Tokenization, given: int, expected: int) -> str:
    if given == expected:
        return CORRECT
    if min(given, expected) < 0:
        return WRONG
    one, other = page.candidates[given], page.candidates[expected]
    is_nested = min(one.end_token, other.end_token) > max(one.start_token, other.start_token)
    return DEBATABLE if is_nested else WRONG
