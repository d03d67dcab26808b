"""Import Natural Questions as published: tokens, candidates, ids and annotations stay unchanged."""

import hashlib
from datetime import datetime
from typing import IO, Any

from django.utils import timezone

from accounts.models import Surrogate
from annotation.campaigns.services.campaigns import batch_for_import
from annotation.items.services.items import split_of_item, split_weights
from annotation.locks import campaign_lock
from annotation.models import PUBLISHED, Annotation, AnnotationState, Campaign, Item, Slot, SlotState
from annotation.slots.ordering import order_key
from annotation.tasktypes.nq.answers import GOOD, NO_ANSWER, NONE, SPANS
from documents.html.canonical import sha256_of
from documents.html.errors import DocumentError
from documents.html.published import SOURCE, PublishedError, PublishedExample, example_of, read_records
from documents.html.published_rules import KNOWN_FIELDS, Checker
from documents.html.sandbox import PageParser, ParsedPage
from documents.models import Tokenization
from documents.services import limits, page_store, tokenization_record
from jobs.work import Work

VERSION = 1
MOST_TITLE, MOST_URL = 500, 2000  # characters that are kept


def published_import(
    *, work: Work, campaign: Campaign, file: IO[bytes], name: str, with_annotations: bool
) -> dict[str, Any]:
    """Import the examples of one file, each a step of its own; doing it again changes nothing.

    Annotations are put on slots in their order under surrogates made for the campaign: the k-th
    annotation of every item is given to the k-th of them, since the published data says no more.
    Stage-1 judgments, times and people are not published, so releases leave them out. The ``notes`` of the result list
    what isn't kept of a record.
    """
    result = {name: work.job.result.get(name, 0) for name in ("examples", "annotations", "unchanged", "failed")}
    result["errors"] = work.job.result.get("errors", [])
    result["notes"] = work.job.result.get("notes", [])
    start = work.job.result.get("next_line", 0)
    surrogates = [Surrogate(pk=pk) for pk in work.job.result.get("surrogates", [])]
    checker = Checker()
    with PageParser(limits=limits()) as parser:
        for line, record in read_records(file):
            if line <= start:
                continue
            try:
                example = _checked(line, record, checker)
                _refuse_double(campaign, example)
                page = _page(parser, example)
            except (PublishedError, DocumentError) as error:
                result["failed"] += 1
                result["errors"] = [*result["errors"], {"where": name, "error": f"line {line}: {error}"}][:1000]
                with work.step(done=line, next_line=line, **result):
                    continue
            annotations = example.annotations if with_annotations else []
            result["notes"] = [*result["notes"], *_notes(line, record, example)][:MOST_NOTES]
            while len(surrogates) < len(annotations):
                surrogates.append(Surrogate.objects.create())
            sha256, tokens_sha256 = page_store(page)
            message = f"{name}, line {line}"
            with work.step(done=line, message=message, surrogates=[str(one.pk) for one in surrogates]):
                now = timezone.now()
                tokenization = tokenization_record(
                    page=page,
                    sha256=sha256,
                    tokens_sha256=tokens_sha256,
                    title=example.document_title[:MOST_TITLE],
                    url=example.document_url[:MOST_URL],
                    source=SOURCE,
                    version=VERSION,
                    now=now,
                )
                item = _item(campaign, example, tokenization, len(annotations), now)
                if item is not None:
                    _annotations(campaign, item, annotations, surrogates, now)
                result["examples"] += 1
                result["annotations"] += len(annotations) if item is not None else 0
                result["unchanged"] += item is None
                work.checkpoint(next_line=line, **result)
    return result


def _checked(line: int, record: dict[str, Any], checker: Checker) -> PublishedExample:
    """Return the example of a record, after checking all rules of the format."""
    wrong = next(checker.problems({"document_title": "", "question_tokens": [], "annotations": [], **record}), None)
    if wrong is not None:
        raise PublishedError(line, f"{wrong[0]}: {wrong[1]}")
    return example_of(line, record)


MOST_NOTES = 1000


def _notes(line: int, record: dict[str, Any], example: PublishedExample) -> list[dict[str, str]]:
    """Return notes on the parts of a record that aren't kept unchanged."""
    said = []
    if len(example.document_title) > MOST_TITLE:
        said.append(f"the title was cut at {MOST_TITLE} characters")
    if len(example.document_url) > MOST_URL:
        said.append(f"the address was cut at {MOST_URL} characters")
    if not record.get("document_title"):
        said.append("there is no title")
    if extra := sorted(set(record) - KNOWN_FIELDS):
        said.append(f"not kept: {', '.join(extra)}")
    return [{"where": f"line {line}", "note": text} for text in said]


def _refuse_double(campaign: Campaign, example: PublishedExample) -> None:
    """Refuse a question that another item of the campaign asks already."""
    same = Item.objects.filter(campaign=campaign, content_sha256=_identity(example))
    other = same.exclude(external_id=example.example_id).first()
    if other is not None:
        raise PublishedError(
            example.line, f"the question and page of example {example.example_id} are already item {other}"
        )


def _identity(example: PublishedExample) -> str:
    """Return a hash that is equal for the same example: the same question about another page is another example."""
    return hashlib.sha256(f"{example.question_text}\0{sha256_of(example.document_html)}".encode()).hexdigest()


def _page(parser: PageParser, example: PublishedExample) -> ParsedPage:
    display = parser.display(example.document_html, example.tokenization.candidates)
    return ParsedPage(example.document_html, example.tokenization, display, example.document_title)


def _item(
    campaign: Campaign, example: PublishedExample, tokenization: Tokenization, wanted: int, now: datetime
) -> Item | None:
    """Return the new item of an example; None when the campaign has it already."""
    if Item.objects.filter(campaign=campaign, external_id=example.example_id).exists():
        return None
    campaign_lock(campaign)
    document = tokenization.document.sha256
    split = split_of_item(
        campaign, split_weights(campaign), item=example.example_id, question=example.question_text, document=document
    )
    return Item.objects.create(
        campaign=campaign,
        batch=batch_for_import(campaign=campaign, pilot=False, now=now),
        split=split,
        tokenization=tokenization,
        external_id=example.example_id,
        published_id=example.example_id,
        content={"question_text": example.question_text, "question_tokens": example.question_tokens},
        content_sha256=_identity(example),
        n=max(wanted, split.n),
        votes=split.n,
        created_at=now,
    )


def _annotations(
    campaign: Campaign, item: Item, annotations: list[dict[str, Any]], surrogates: list[Surrogate], now: datetime
) -> None:
    for index, published in enumerate(annotations):
        slot = Slot.objects.create(
            campaign=campaign,
            item=item,
            round=1,
            index=index,
            state=SlotState.FILLED,
            order_key=order_key(campaign.seed, batch=1, round_=1, wave=0, item=item.external_id, index=index),
        )
        Annotation.objects.create(
            published_id=str(published["annotation_id"]),
            campaign=campaign,
            item=item,
            slot=slot,
            surrogate=surrogates[index],
            via=PUBLISHED,
            answer=answer_of(published),
            answer_version=1,
            state=AnnotationState.COUNTED,
            submitted_at=now,
            seconds=0.0,
            is_examined=True,  # nothing is known of who made it, or how: there is nothing to examine
        )


def answer_of(published: dict[str, Any]) -> dict[str, Any]:
    """Return our form of a published annotation's answer."""
    spans = [[span["start_token"], span["end_token"]] for span in published["short_answers"]]
    yes_no = published["yes_no_answer"].lower()
    kind = SPANS if spans else NONE if yes_no == "none" else yes_no
    index = published["long_answer"]["candidate_index"]
    return {
        "question": {"first": GOOD, "label": GOOD, "reason": ""},
        "long_answer": {"candidate_index": index if index >= 0 else NO_ANSWER, "reason": ""},
        "short_answer": {"kind": kind, "spans": spans},
    }
