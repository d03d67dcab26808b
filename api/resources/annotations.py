"""Annotations and labels, without those of sealed splits."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from django.db.models import CharField, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import StreamingHttpResponse
from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import Annotation, AnnotationState
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore
from api.http.checks import Reply, Sent
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.problems import Refused
from api.http.rows import row_of
from api.models import TokenScope
from quality.models import Verdict

router = Router()
NDJSON = "application/x-ndjson"
CHUNK = 2_000


class AnnotationReply(Reply):
    """A submitted answer."""

    id: int
    item_id: int
    external_id: str
    annotator: str = Field(description="The id of the person, as in `people`.")
    round: int | None
    index: int | None
    state: str
    answer: Any
    guideline: int | None
    via: str
    submitted_at: datetime
    seconds: float
    active_seconds: float | None


class AnnotationQuery(PageQuery):
    """The filters of annotations."""

    state: str = Field("", max_length=12, description="For example, counted.")
    split: str = Field("", max_length=200)


class ExcludeSent(Sent):
    """The reason for excluding an annotation."""

    because: str = Field(min_length=1, max_length=300)


class LabelReply(Reply):
    """The label of an item, with its votes."""

    id: int = Field(validation_alias="pk")
    item_id: int
    external_id: str = Field(validation_alias="item.external_id")
    split: str = Field(validation_alias="item.split.name")
    label: Any
    rule: str
    policy: int = Field(validation_alias="policy.version")
    annotations: list[int] = Field(description="The annotations that it was computed from.")
    decided_at: datetime
    superseded_at: datetime | None

    @staticmethod
    def resolve_annotations(row: Verdict) -> list[int]:
        """Return the keys of the input annotations."""
        return sorted(one.pk for one in row.annotations.all())


class LabelQuery(PageQuery):
    """The filters of labels."""

    split: str = Field("", max_length=200)
    history: bool = Field(False, description="Include superseded labels.")


_COLUMNS = (
    "pk",
    "item_id",
    "item__external_id",
    "who",
    "slot__round",
    "slot__index",
    "state",
    "said",
    "guideline__version",
    "via",
    "submitted_at",
    "seconds",
    "active_seconds",
)
_NAMES = tuple(AnnotationReply.model_fields)


def _annotations(request: ApiRequest, asked: AnnotationQuery) -> "QuerySet[Annotation]":
    rows = Annotation.objects.filter(unsealed(), campaign=request.campaign)
    if asked.state:
        rows = rows.filter(state=asked.state)
    if asked.split:
        rows = rows.filter(item__split__name=asked.split)
    return rows


def _row(values: tuple[Any, ...]) -> dict[str, Any]:
    found = dict(zip(_NAMES, values, strict=True))
    return {**found, "answer": orjson.loads(found["answer"])}


def _line(values: tuple[Any, ...]) -> bytes:
    """Return a row as a line of JSON; the answer's text is passed on without parsing it."""
    found = dict(zip(_NAMES, values, strict=True))
    found["answer"] = orjson.Fragment(found["answer"])
    return orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


@operation(router, "GET", "/campaigns/{campaign}/annotations", Page[AnnotationReply], action=Action.SEE_ANSWERS)
def annotation_list(request: ApiRequest, campaign: str, asked: Query[AnnotationQuery]) -> Any:
    """List annotations, or stream all of them.

    With `Accept: application/x-ndjson`, the answer has one annotation per line: all that exist at one moment, without
    pages. Annotations of sealed splits are left out.
    """
    rows = _annotations(request, asked)
    if NDJSON in request.headers.get("Accept", ""):
        return StreamingHttpResponse(_lines(_with_text(rows)), content_type=NDJSON)
    page = page_of(request, rows.only("pk"), asked)
    keys = [row.pk for row in page["results"]]
    found = {values[0]: _row(values) for values in _with_text(Annotation.objects.filter(pk__in=keys))}
    return {**page, "results": [found[key] for key in keys]}


def _with_text(rows: "QuerySet[Annotation]") -> "QuerySet[Annotation, tuple[Any, ...]]":
    texts = rows.annotate(who=Cast("surrogate_id", CharField()), said=Cast("answer", TextField()))
    return texts.order_by("pk").values_list(*_COLUMNS)


def _lines(rows: "QuerySet[Annotation, tuple[Any, ...]]") -> Iterator[bytes]:
    """Yield lines in pieces, by one statement: it sees the rows of one moment, and memory doesn't grow with them."""
    lines = []
    for values in rows.iterator(chunk_size=CHUNK):
        lines.append(_line(values))
        if len(lines) == CHUNK:
            yield b"".join(lines)
            lines.clear()
    yield b"".join(lines)


def _annotation(request: ApiRequest, annotation_id: int) -> Annotation:
    return row_of(Annotation.objects.filter(unsealed(), campaign=request.campaign), pk=annotation_id)


def _shown(request: ApiRequest, annotation_id: int) -> dict[str, Any]:
    (values,) = _with_text(Annotation.objects.filter(pk=annotation_id))
    return _row(values)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/annotations/{int:annotation_id}/exclude",
    AnnotationReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def annotation_end(request: ApiRequest, campaign: str, annotation_id: int, sent: ExcludeSent) -> Any:
    """Keep an annotation but stop counting it, and reopen its slot."""
    found = _annotation(request, annotation_id)
    done = annotation_exclude(
        annotation=found, because=sent.because, actor_id=request.user.surrogate_id, now=timezone.now()
    )
    found.refresh_from_db()
    if not done and found.state != AnnotationState.EXCLUDED:
        raise Refused(409, "annotation_state", f"This annotation is {found.state}, so it can't be excluded.")
    return _shown(request, annotation_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/annotations/{int:annotation_id}/restore",
    AnnotationReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def annotation_again(request: ApiRequest, campaign: str, annotation_id: int) -> Any:
    """Count an excluded annotation again, if nobody has taken its slot."""
    found = _annotation(request, annotation_id)
    done = annotation_restore(annotation=found, actor_id=request.user.surrogate_id, now=timezone.now())
    found.refresh_from_db()
    if not done and found.state != AnnotationState.COUNTED:
        raise Refused(409, "annotation_state", "This annotation can't be counted again: its slot was taken.")
    return _shown(request, annotation_id)


@operation(router, "GET", "/campaigns/{campaign}/labels", Page[LabelReply], action=Action.SEE_ANSWERS)
def label_list(request: ApiRequest, campaign: str, asked: Query[LabelQuery]) -> Any:
    """List labels with their rule, policy and annotations. Labels of sealed splits are left out."""
    rows = Verdict.objects.filter(unsealed(), campaign=request.campaign)
    rows = rows.select_related("item__split", "policy").prefetch_related("annotations")
    if not asked.history:
        rows = rows.filter(superseded_at=None)
    if asked.split:
        rows = rows.filter(item__split__name=asked.split)
    return page_of(request, rows, asked)
