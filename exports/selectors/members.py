"""The content of a release, in the order in which it is written."""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.utils.crypto import salted_hmac

from accounts.models import ExternalIdentity, RoleWaiver, Surrogate, User
from annotation.models import Annotation, Item, Participation
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Written
from annotation.tasktypes.nq.answers import long_answer_tokens, span_text
from annotation.tasktypes.registry import TASK_TYPES
from documents.html.tokens import Tokenization
from documents.selectors import page_text, tokenization_load
from exports.formats.annotations import annotation_row
from exports.formats.nq import Example, annotation_record, question_tokens
from exports.formats.tables import Row
from exports.models import Release, ReleaseMember, Shortfall


@dataclass(frozen=True, slots=True)
class ReleasedItem:
    """One item of a release: the data for its record, and for the table of its annotations."""

    example: Example
    annotations: list[dict[str, Any]]
    rows: list[Row]


def item_order(release: Release, split: str) -> list[int]:
    """Return the items of a split in the order that a release writes them."""
    rows = ReleaseMember.objects.filter(release=release, item__split__name=split, rank=0)
    return in_order(release, rows.values_list("item_id", "item_id", "item__published_id"))


def in_order(release: Release, rows: Iterable[tuple[int, int, str]]) -> list[int]:
    """Return the keys of rows (key, item, published id), ordered by the release's seed or, without one, by import.

    Both orders are identical on every database.
    """
    seed = release.seed
    if seed is None:
        return [key for key, _item, _published in sorted(rows, key=itemgetter(1))]
    return [key for key, _item, name in sorted(rows, key=lambda row: (seeded(seed, "order", row[2]), row[2]))]


def shard_of(release: Release, order: list[int], shard: int) -> list[int]:
    """Return the keys of a shard: every n-th one, or a contiguous part if the import order is kept."""
    if release.seed is None:
        first, last = (len(order) * number // release.shards for number in (shard, shard + 1))
        return order[first:last]
    return order[shard :: release.shards]


def released_items(release: Release, item_ids: list[int]) -> Iterator[ReleasedItem]:
    """Yield items in the given order, a few in memory at a time."""
    for start in range(0, len(item_ids), 100):
        chunk = item_ids[start : start + 100]
        items = Item.objects.select_related("tokenization__document", "split").in_bulk(chunk)
        members: dict[int, list[tuple[int, Annotation]]] = {}
        rows = ReleaseMember.objects.filter(release=release, item_id__in=chunk).select_related("annotation")
        for member in rows:
            members.setdefault(member.item_id, []).append((member.rank, member.annotation))
        for pk in chunk:
            ranked = sorted(members[pk], key=lambda pair: pair[0])
            yield _released(items[pk], ranked)


def _released(item: Item, ranked: list[tuple[int, Annotation]]) -> ReleasedItem:
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
    made = [annotation_record(int(annotation.published_id), annotation.answer, page) for _, annotation in ranked]
    rows = [
        annotation_row(item.published_id, rank, record, *_words(annotation, page))
        for (rank, annotation), record in zip(ranked, made, strict=True)
    ]
    return ReleasedItem(example, made, rows)


def _words(annotation: Annotation, page: Tokenization) -> tuple[str, list[str]]:
    """Return the text of an annotation's long answer, and of each short answer."""
    spans = annotation.answer["short_answer"]["spans"]
    return " ".join(long_answer_tokens(annotation.answer, page)), [span_text(span, page) for span in spans]


def provenance_of(release: Release) -> dict[str, Any]:
    """Return the sources of a release's content: tokens by source and version, annotations by workforce."""
    tokens = ReleaseMember.objects.filter(release=release, rank=0, item__tokenization__isnull=False).values_list(
        "item__tokenization__source", "item__tokenization__version"
    )
    annotations = release.votes.filter(is_used=True).values_list("annotation__via").annotate(count=Count("pk"))
    return {
        "tokenizers": sorted(f"{source}/{version}" for source, version in tokens.distinct()),
        "annotations_via": dict(annotations.order_by("annotation__via")),
    }


class Pseudonyms:
    """Pseudonyms of annotators in one campaign's releases, from a secret key per person, so they can't be recomputed.

    Erasing a person destroys the key; in later releases their work has another pseudonym. The people in ``rare``
    (surrogate ids as text) have a different pseudonym for each judgment.
    """

    def __init__(self, campaign_id: UUID, rare: Collection[str] = ()) -> None:
        self._campaign = str(campaign_id)
        self._rare = rare
        self._names: dict[str, str] = {}
        self._keys: dict[UUID, bytes] = {}
        people = Participation.objects.filter(campaign=campaign_id).values("surrogate")
        for model in (ExternalIdentity, User):  # experts are no participants: theirs are read one by one
            rows = model.objects.filter(surrogate_id__in=people).values_list("surrogate_id", "key")
            self._keys |= {surrogate_id: bytes(key) for surrogate_id, key in rows if key is not None}

    def of_text(self, who: str) -> str:
        """Return the pseudonym for a person's surrogate id given as text, with or without dashes."""
        if who not in self._names:
            self._names[who] = self.of(UUID(who))
        return self._names[who]

    def of_judgment(self, who: str, annotation: str) -> str:
        """Return the pseudonym for a judgment."""
        if who in self._rare:
            return f"rare-{self._digest(UUID(who), f'{self._campaign}:{annotation}')}"
        return self.of_text(who)

    def of(self, surrogate_id: UUID) -> str:
        """Return the pseudonym of a person."""
        return f"annotator-{self._digest(surrogate_id, self._campaign)}"

    def is_rare(self, who: str) -> bool:
        """Return whether a person has a different pseudonym for each judgment."""
        return who in self._rare

    def _digest(self, surrogate_id: UUID, of: str) -> str:
        if surrogate_id not in self._keys:
            self._keys[surrogate_id] = key_of(surrogate_id)
        return hmac.new(self._keys[surrogate_id], of.encode(), hashlib.sha256).hexdigest()[:12]


def key_of(surrogate_id: UUID) -> bytes:
    """Return a person's own key; for a surrogate without a person, a key derived from its id."""
    for model, name in ((User, "surrogate"), (ExternalIdentity, "surrogate"), (Surrogate, "pk")):
        key = model.objects.filter(**{name: surrogate_id}).values_list("key", flat=True).first()
        if key is not None:
            return bytes(key)
    return salted_hmac("pseudonym", surrogate_id.bytes, algorithm="sha256").digest()


def role_waivers(release: Release) -> Iterator[dict[str, Any]]:
    """Yield the reasons, up to the freeze, for letting managers of this campaign also annotate or judge; no names."""
    rows = RoleWaiver.objects.filter(scope_id=release.campaign_id, at__lte=release.created_at).order_by("pk")
    for row in rows:
        yield {"reason": row.reason, "on": row.at.date().isoformat()}


def shortfall_rows(release: Release) -> Iterator[dict[str, Any]]:
    """Yield the items that had too few annotations, by id."""
    rows = Shortfall.objects.filter(release=release).select_related("item__split").order_by("item__published_id")
    if isinstance(TASK_TYPES[release.campaign.task_type], Written):  # an id may be that of a triple
        rows = rows.exclude(item__split__name__in=release.sealed)
    for row in rows.iterator(chunk_size=1000):
        yield {
            "counted": row.counted,
            "example_id": row.item.published_id,
            "external_id": row.item.external_id,
            "split": row.item.split.name,
            "wanted": release.ways,
        }
