"""What is in a release, read in the order it is written."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.utils.crypto import salted_hmac

from accounts.models import ExternalIdentity, RoleWaiver, User
from annotation.models import PUBLISHED, Annotation, Item
from annotation.ordering import seeded
from annotation.tasktypes.nq.answers import long_answer_tokens, span_text
from documents.html.tokens import Tokenization
from documents.selectors import page_text, tokenization_load
from exports.formats.nq import Example, annotation_record, question_tokens
from exports.models import Release, ReleaseMember, Shortfall


@dataclass(frozen=True, slots=True)
class ReleasedItem:
    """One item of a release: what goes into the record, and what goes beside it."""

    example: Example
    annotations: list[dict[str, Any]]
    judgments: list[dict[str, Any]]


def item_order(release: Release, split: str) -> list[int]:
    """Return the items of a split in the order that a release writes them."""
    rows = ReleaseMember.objects.filter(release=release, item__split__name=split, rank=0)
    return in_order(release, rows.values_list("item_id", "item_id", "item__published_id"))


def in_order(release: Release, rows: Iterable[tuple[int, int, str]]) -> list[int]:
    """Return the first of each row (key, item, published id) by the release's seed, or as the items were imported.

    Both orders are the same on every database.
    """
    seed = release.seed
    if seed is None:
        return [key for key, _item, _published in sorted(rows, key=itemgetter(1))]
    return [key for key, _item, name in sorted(rows, key=lambda row: (seeded(seed, "order", row[2]), row[2]))]


def shard_of(release: Release, order: list[int], shard: int) -> list[int]:
    """Return what goes into a shard: every n-th, or the next part where the order of the import is kept."""
    if release.seed is None:
        first, last = (len(order) * number // release.shards for number in (shard, shard + 1))
        return order[first:last]
    return order[shard :: release.shards]


def released_items(release: Release, item_ids: list[int], pseudonyms: "Pseudonyms") -> Iterator[ReleasedItem]:
    """Yield items in the given order, a few in memory at a time."""
    for start in range(0, len(item_ids), 100):
        chunk = item_ids[start : start + 100]
        items = Item.objects.select_related("tokenization__document", "split").in_bulk(chunk)
        members: dict[int, list[tuple[int, Annotation]]] = {}
        rows = ReleaseMember.objects.filter(release=release, item_id__in=chunk).select_related("annotation__guideline")
        for member in rows:
            members.setdefault(member.item_id, []).append((member.rank, member.annotation))
        for pk in chunk:
            ranked = sorted(members[pk], key=lambda pair: pair[0])
            yield _released(items[pk], ranked, pseudonyms)


def _released(item: Item, ranked: list[tuple[int, Annotation]], pseudonyms: "Pseudonyms") -> ReleasedItem:
    row = item.tokenization
    assert row is not None
    page = tokenization_load(row.sha256)
    content = item.content
    example = Example(
        example_id=int(item.published_id),
        question_text=content["question_text"],
        question_tokens=content.get("question_tokens") or question_tokens(content["question_text"]),
        document_title=row.document.title,
        document_url=row.document.url,
        document_html=page_text(row.document.sha256),
        page=page,
    )
    return ReleasedItem(
        example,
        [annotation_record(int(annotation.published_id), annotation.answer, page) for _, annotation in ranked],
        [_judgment(item, rank, annotation, page, pseudonyms) for rank, annotation in ranked],
    )


def _judgment(
    item: Item, rank: int, annotation: Annotation, page: Tokenization, pseudonyms: "Pseudonyms"
) -> dict[str, Any]:
    """Return what the format cannot hold: stage-1 judgment, reasons, times, and who (by pseudonym).

    Of annotations that a published file brought, none of this is known: it is null.
    """
    answer, known = annotation.answer, annotation.via != PUBLISHED
    judgment = {
        "annotator": pseudonyms.of(annotation.surrogate_id),
        "question_first_judgment": answer["question"]["first"],
        "question_judgment": answer["question"]["label"],
        "question_reason": answer["question"]["reason"],
        "no_long_answer_reason": answer["long_answer"]["reason"],
        "submitted_at": annotation.submitted_at.isoformat(timespec="seconds"),
        "seconds": annotation.seconds,
        "active_seconds": annotation.active_seconds,
        "stage_seconds": annotation.stage_seconds,
        "guideline_version": annotation.guideline.version if annotation.guideline else None,
    }
    return {
        "annotation_id": annotation.published_id,
        "example_id": item.published_id,
        "split": item.split.name,
        "rank": rank,
        "via": annotation.via,
        "long_answer_text": " ".join(long_answer_tokens(answer, page)),
        "short_answer_texts": [span_text(span, page) for span in answer["short_answer"]["spans"]],
        **{name: value if known else None for name, value in judgment.items()},
    }


def provenance_of(release: Release) -> dict[str, Any]:
    """Return where the parts of a release come from: tokens by source and version, annotations by workforce."""
    members = ReleaseMember.objects.filter(release=release)
    tokens = members.filter(rank=0, item__tokenization__isnull=False).values_list(
        "item__tokenization__source", "item__tokenization__version"
    )
    annotations = members.values_list("annotation__via").annotate(count=Count("pk")).order_by("annotation__via")
    return {
        "tokenizers": sorted(f"{source}/{version}" for source, version in tokens.distinct()),
        "annotations_via": dict(annotations),
    }


class Pseudonyms:
    """Names for annotators in the releases of one campaign: keyed per person, so nobody can work them out.

    Erasing a person destroys the key; in later releases their work stands under another name.
    """

    def __init__(self, campaign_id: UUID) -> None:
        self._campaign = str(campaign_id)
        self._keys: dict[UUID, bytes] = {}

    def of(self, surrogate_id: UUID) -> str:
        """Return the pseudonym of a person."""
        if surrogate_id not in self._keys:
            self._keys[surrogate_id] = _key_of(surrogate_id)
        key = self._keys[surrogate_id]
        return "annotator-" + hmac.new(key, self._campaign.encode(), hashlib.sha256).hexdigest()[:12]


def _key_of(surrogate_id: UUID) -> bytes:
    """Return a person's own key, or, for a person who was erased, one that nothing leads to."""
    for model in (User, ExternalIdentity):
        key = model.objects.filter(surrogate_id=surrogate_id).values_list("key", flat=True).first()
        if key is not None:
            return bytes(key)
    return salted_hmac("pseudonym", surrogate_id.bytes, algorithm="sha256").digest()


def role_waivers(release: Release) -> Iterator[dict[str, Any]]:
    """Yield why people could manage this campaign and annotate or judge in it, up to the freeze; no names."""
    rows = RoleWaiver.objects.filter(scope_id=release.campaign_id, at__lte=release.created_at).order_by("pk")
    for row in rows:
        yield {"reason": row.reason, "on": row.at.date().isoformat()}


def shortfall_rows(release: Release) -> Iterator[dict[str, Any]]:
    """Yield the items that had too few annotations, by id."""
    rows = Shortfall.objects.filter(release=release).select_related("item__split").order_by("item__published_id")
    for row in rows.iterator(chunk_size=1000):
        yield {
            "counted": row.counted,
            "example_id": row.item.published_id,
            "external_id": row.item.external_id,
            "split": row.item.split.name,
            "wanted": release.ways,
        }
