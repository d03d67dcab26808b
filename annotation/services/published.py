"""Import Natural Questions as published: tokens, candidates, ids and annotations stay what they are."""

import hashlib
from datetime import datetime
from typing import IO, Any

from django.utils import timezone

from accounts.models import Surrogate
from annotation.documents.display import display_html
from annotation.documents.published import SOURCE, PublishedExample, read_examples
from annotation.documents.sandbox import ParsedPage
from annotation.models import Annotation, Campaign, Item, Slot, SlotState, Split
from annotation.ordering import drawn_split, order_key
from annotation.services.campaigns import batch_for_import
from annotation.services.documents import page_store, tokenization_record
from annotation.tasktypes.nq.answers import GOOD, NO_ANSWER, NONE, SPANS
from jobs.work import Work

VERSION = 1


def published_import(
    *, work: Work, campaign: Campaign, file: IO[bytes], name: str, with_annotations: bool
) -> dict[str, Any]:
    """Import the examples of one file, each a step of its own; doing it again changes nothing.

    Annotations are put on slots in their order under surrogates made for the campaign: the k-th
    annotation of every item is given to the k-th of them, since the published data says no more.
    Stage-1 judgments are not published; an imported null answer counts as a good question.
    """
    counts: dict[str, Any] = {"examples": 0, "annotations": 0, "unchanged": 0, **work.job.result}
    start = counts.get("next_line", 0)
    surrogates = [Surrogate(pk=pk) for pk in work.job.result.get("surrogates", [])]
    for example in read_examples(file):
        if example.line <= start:
            continue
        wanted = len(example.annotations) if with_annotations else 0
        while len(surrogates) < wanted:
            surrogates.append(Surrogate.objects.create())
        page = ParsedPage(
            example.document_html,
            example.tokenization,
            display_html(example.document_html, example.tokenization.candidates),
        )
        sha256, tokens_sha256 = page_store(page)
        counts["examples"] += 1
        counts["annotations"] += wanted
        kept: dict[str, Any] = {
            "surrogates": [str(surrogate.pk) for surrogate in surrogates],
            "next_line": example.line,
        }
        with work.step(done=counts["examples"], message=f"{name}, line {example.line}", **counts, **kept):
            now = timezone.now()
            tokenization = tokenization_record(
                page=page, sha256=sha256, tokens_sha256=tokens_sha256, title=example.document_title,
                url=example.document_url, source=SOURCE, version=VERSION, now=now,
            )  # fmt: skip
            item = _item(campaign, example, tokenization.pk, wanted, now)
            if item is None:
                counts["unchanged"] += 1
            elif with_annotations:
                _annotations(campaign, item, example, surrogates, now)
    return counts


def _item(
    campaign: Campaign, example: PublishedExample, tokenization_id: int, wanted: int, now: datetime
) -> Item | None:
    """Return the new item of an example; None when the campaign has it already."""
    if Item.objects.filter(campaign=campaign, external_id=example.example_id).exists():
        return None
    identity = hashlib.sha256(example.question_text.encode()).hexdigest()
    same = Item.objects.filter(campaign=campaign, content_sha256=identity).first()
    if same is not None:
        raise ValueError(f"line {example.line}: the question of example {example.example_id} is already item {same}")
    splits = [
        (split, split.weight) for split in Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")
    ]
    split = drawn_split(campaign.seed, f"item {example.example_id}", splits)
    return Item.objects.create(
        campaign=campaign,
        batch=batch_for_import(campaign=campaign, pilot=False, now=now),
        split=split,
        tokenization_id=tokenization_id,
        external_id=example.example_id,
        published_id=example.example_id,
        content={"question_text": example.question_text, "question_tokens": example.question_tokens},
        content_sha256=identity,
        n=max(wanted, split.n),
        created_at=now,
    )


def _annotations(
    campaign: Campaign, item: Item, example: PublishedExample, surrogates: list[Surrogate], now: datetime
) -> None:
    for index, published in enumerate(example.annotations):
        slot = Slot.objects.create(
            campaign=campaign, item=item, round=1, index=index, state=SlotState.FILLED,
            order_key=order_key(campaign.seed, batch=1, round_=1, wave=0, item=item.external_id, index=index),
        )  # fmt: skip
        Annotation.objects.create(
            published_id=str(published["annotation_id"]), campaign=campaign, item=item, slot=slot,
            surrogate=surrogates[index], answer=answer_of(published), answer_version=1, counted=True,
            submitted_at=now, seconds=0.0,
        )  # fmt: skip


def answer_of(published: dict[str, Any]) -> dict[str, Any]:
    """Return the answer that a published annotation stands for."""
    spans = [[span["start_token"], span["end_token"]] for span in published["short_answers"]]
    yes_no = published["yes_no_answer"].lower()
    kind = SPANS if spans else NONE if yes_no == "none" else yes_no
    index = published["long_answer"]["candidate_index"]
    return {
        "question": {"first": GOOD, "label": GOOD, "reason": ""},
        "long_answer": {"candidate_index": index if index >= 0 else NO_ANSWER, "reason": ""},
        "short_answer": {"kind": kind, "spans": spans},
    }
