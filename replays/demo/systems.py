"""Two systems that the demo compares with the synthetic annotators of its finished questions."""

import json
import random
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.models import ORDINARY, Campaign, Item
from documents.html.tokens import Tokenization
from documents.selectors import tokenization_of
from evaluation.system_scores import scores_refresh
from jobs.terminal import run_here
from replays.demo.crowd import answer_expected
from replays.demo.study import cases_judge

SEED = 2025
DRAWN, LEFT = 24, 4  # items sent to experts, and those that are left to the demo's experts
SLIPS = 0.2  # of the synthetic reader
NOTE = 25  # tokens at most


def systems_compare(*, campaign: Campaign, expected: dict[str, dict[str, str]], now: datetime, stderr: Any) -> None:
    """Compare a synthetic reader and the first paragraph with the annotators; synthetic experts judge all but four items."""
    items = list(
        Item.objects.filter(campaign=campaign, batch__purpose__in=ORDINARY)
        .select_related("tokenization")
        .order_by("external_id")
    )
    chance = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    for system in ("synthetic-reader", "first-paragraph"):
        rows = [
            _prediction(item, expected[item.external_id] if system == "synthetic-reader" else None, chance)
            for item in items
        ]
        _upload(campaign, system, rows, stderr)
    scope = {"campaign": str(campaign.pk), "count": DRAWN, "experts": 2}
    run_here(kind="evaluation.sample_predictions", payload=scope, stderr=stderr, scope_id=campaign.pk)
    cases_judge(campaign, expected, SEED, now, left=LEFT)
    scores_refresh(campaign=campaign, now=now)


def _prediction(item: Item, expected: dict[str, str] | None, chance: random.Random) -> dict[str, Any]:
    """Return a prediction in the official format: the expected answer with some slips, or the first paragraph."""
    page = tokenization_of(item.tokenization)
    assert page is not None
    box, spans, yes_no = (_first_paragraph(page), [], "none") if expected is None else answer_expected(page, expected)
    if expected is not None and chance.random() < SLIPS:
        box, spans, yes_no = chance.randrange(-1, len(page.candidates)), [], "none"
    found = page.candidates[box] if box >= 0 else None
    return {
        "example_id": int(item.published_id),
        "long_answer": _offsets(page, (found.start_token, found.end_token) if found else None),
        "long_answer_score": 1.0,
        "short_answers": [_offsets(page, (start, end)) for start, end in spans],
        "short_answers_score": 1.0,
        "yes_no_answer": yes_no,
    }


def _first_paragraph(page: Tokenization) -> int:
    """Return the first paragraph that is longer than the note above each page of the demo."""
    return next(
        index
        for index, box in enumerate(page.candidates)
        if page.tokens[box.start_token].token.startswith("<P") and box.end_token - box.start_token > NOTE
    )


def _offsets(page: Tokenization, tokens: tuple[int, int] | None) -> dict[str, int]:
    if tokens is None:
        return dict.fromkeys(("start_byte", "end_byte", "start_token", "end_token"), -1)
    start, end = tokens
    return {
        "start_byte": page.starts[start],
        "end_byte": page.ends[end - 1],
        "start_token": start,
        "end_token": end,
    }


def _upload(campaign: Campaign, system: str, rows: list[dict[str, Any]], stderr: Any) -> None:
    file = Path(settings.DATA_DIR) / f"{system}.json"
    file.write_text(json.dumps({"predictions": rows}), encoding="utf-8")
    payload = {"campaign": str(campaign.pk), "path": str(file), "name": file.name, "system": system}
    run_here(kind="evaluation.predictions", payload=payload, stderr=stderr, scope_id=campaign.pk)
    file.unlink()
