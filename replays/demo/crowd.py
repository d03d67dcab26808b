"""A small synthetic crowd for the demo: seeded, plainly labeled, and never mistaken for people.

Its members answer through the same services as real annotators: claim, stage by stage, submit. They
give the expected answers to the demo's own questions, with seeded errors.
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from annotation.models import Assignment, Campaign
from annotation.slots.services.claims import slot_claim_next
from annotation.tasktypes.nq.answers import BAD, BAD_REASONS, GOOD, NO_ANSWER, NONE, SPANS
from annotation.work.services.drafts import stage_advance
from annotation.work.services.submissions import assignment_submit
from documents.html.tokens import Candidate, Tokenization
from documents.selectors import tokenization_of


@dataclass(frozen=True, slots=True)
class Member:
    """A synthetic annotator, with the error rate of each stage."""

    surrogate_id: UUID
    slip: float


def answer_everything(
    *, campaign: Campaign, members: list[Member], expected: dict[str, dict[str, str]], seed: int, now: datetime
) -> int:
    """Let the crowd work until it can get no more items; return the number of answers."""
    chance = random.Random(seed)  # noqa: S311  a simulation, not a secret
    waiting = list(members)
    done = 0
    while waiting:
        member = waiting[chance.randrange(len(waiting))]
        claim = slot_claim_next(campaign=campaign, surrogate_id=member.surrogate_id, now=now)
        if claim.assignment is None:
            waiting.remove(member)
            continue
        now = _answer(claim.assignment, member, expected[claim.assignment.item.external_id], chance, now)
        done += 1
    return done


def _answer(
    assignment: Assignment, member: Member, expected: dict[str, str], chance: random.Random, now: datetime
) -> datetime:
    page = tokenization_of(assignment.item.tokenization)
    if page is None:
        raise ValueError("the demo's items have documents")
    for stage, sent, seconds in _stages(page, expected, member, chance):
        now += timedelta(seconds=seconds)
        assignment = stage_advance(
            assignment_id=assignment.pk,
            surrogate_id=member.surrogate_id,
            stage=stage,
            sent={**sent, "active_seconds": seconds},
            version=assignment.draft_version,
            now=now,
        )
    assignment_submit(assignment_id=assignment.pk, surrogate_id=member.surrogate_id, now=now, another=False)
    return now


def _stages(
    page: Tokenization, expected: dict[str, str], member: Member, chance: random.Random
) -> list[tuple[str, dict[str, Any], float]]:
    slips = chance.random() < member.slip
    label = expected["label"] if not slips or chance.random() < 0.6 else (BAD if expected["label"] == GOOD else GOOD)
    if label == BAD:
        reason = expected["near"] if expected["near"] in BAD_REASONS else ""
        return [("question", {"label": BAD, "reason": reason}, chance.uniform(4, 12))]
    stages: list[tuple[str, dict[str, Any], float]] = [("question", {"label": GOOD}, chance.uniform(3, 8))]
    index = box_near(page, expected["near"]) if expected["label"] == GOOD else NO_ANSWER
    if slips:
        index = chance.choice([NO_ANSWER, chance.randrange(len(page.candidates))])
    stages.append(("long_answer", {"candidate_index": index}, chance.uniform(15, 60)))
    if index != NO_ANSWER:
        stages.append(("short_answer", _short(page, page.candidates[index], expected["short"]), chance.uniform(5, 25)))
    return stages


def box_near(page: Tokenization, near: str) -> int:
    """Return the smallest box that contains a text; a list if the text ends with a line break."""
    if not near:
        return NO_ANSWER
    words = near.split()
    holding = [index for index, box in enumerate(page.candidates) if _find(page, box, words) is not None]
    holding.sort(key=lambda index: page.candidates[index].end_token - page.candidates[index].start_token)
    if near.endswith("\n"):
        holding = [index for index in holding if _is_list(page, index)]
    return holding[0] if holding else NO_ANSWER


def answer_expected(page: Tokenization, expected: dict[str, str]) -> tuple[int, list[list[int]], str]:
    """Return the box, spans, and yes or no of the expected answer to one of the demo's questions."""
    box = box_near(page, expected["near"]) if expected["label"] == GOOD else NO_ANSWER
    if box == NO_ANSWER:
        return NO_ANSWER, [], NONE
    short = _short(page, page.candidates[box], expected["short"])
    spans = short.get("spans", [])
    return box, spans, NONE if spans else short["kind"]


def _is_list(page: Tokenization, index: int) -> bool:
    return page.tokens[page.candidates[index].start_token].token.startswith("<Ul")


def _short(page: Tokenization, box: Candidate, short: str) -> dict[str, Any]:
    if short in ("yes", "no"):
        return {"kind": short}
    spans = []
    for part in filter(None, short.split("|")):
        start = _find(page, box, part.split())
        if start is not None:
            spans.append([start, start + len(part.split())])
    return {"kind": SPANS, "spans": spans} if spans else {"kind": NONE}


def _find(page: Tokenization, box: Candidate, words: list[str]) -> int | None:
    tokens = [token.token for token in page.tokens[box.start_token : box.end_token]]
    cleaned = [word.strip(",") for word in words]
    for start in range(len(tokens) - len(words) + 1):
        if tokens[start : start + len(words)] == cleaned:
            return box.start_token + start
    return None
