"""The labels of a release with vote statistics, and the expert opinions that decided labels."""

from collections.abc import Iterator
from math import log2
from typing import Any

import orjson
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from annotation.tasktypes.columns import Column, Kind, kind_of
from annotation.tasktypes.registry import voted
from exports.formats.tables import Row, Table, chunks
from exports.models import Release, ReleaseVerdict
from exports.selectors.members import Pseudonyms
from exports.selectors.votes import Answers, labels_given
from exports.tables.items import CHUNK, EXTERNAL, ITEM, SPLIT
from measures.judgments import Judgments, Repeats, judgments_of
from measures.label_models import dawid_skene
from quality.models import Rule

DIGITS = 6
RULES = ", ".join(f"{rule.value} ({rule.label})" for rule in Rule)  # in English: a lazy text is read when it is written


def _label_column(release: Release) -> Column:
    return Column("label", kind_of(voted(release.campaign.task_type).labels), "The label.")


def labels_table(release: Release, order: list[int]) -> Table:
    """Return the table of labels: the label, the rule that decided it, and the certainty of the votes."""
    labels = voted(release.campaign.task_type).labels
    columns = (
        ITEM,
        EXTERNAL,
        SPLIT,
        _label_column(release),
        Column("rule", Kind.TEXT, f"By which way it was decided: {RULES}."),
        Column("policy_version", Kind.INTEGER, "The version of the campaign's policy by which it was."),
        Column("entropy", Kind.NUMBER, "Of the shares of the votes that count, in bits: 0 where all agree."),
        *(Column(f"votes_{one}", Kind.INTEGER, f"Votes for {one} that count, of both rounds.") for one in labels),
        *(
            Column(
                f"posterior_{one}",
                Kind.NUMBER,
                f"The probability of {one} by the model of Dawid and Skene (1979), over all votes of the release that count. It decides nothing.",
            )
            for one in labels
        ),
    )
    return Table("labels", "One row an item with a label.", columns, lambda: _rows(release, order, labels))


def _rows(release: Release, order: list[int], labels: tuple[Any, ...]) -> Iterator[Row]:
    votes = _judgments(release, labels)
    places = {item: place for place, item in enumerate(votes.items)}
    counts = votes.counts().astype(int)
    posterior = dawid_skene(votes).posterior.round(DIGITS) if len(votes) else ()
    names = ("item_id", "text", "verdict__rule", "verdict__policy__version")
    ids = ("item__published_id", "item__external_id", "item__split__name")
    for chunk in chunks(order, CHUNK):
        rows = (
            _told(release)
            .filter(item_id__gte=chunk[0], item_id__lte=chunk[-1])
            .annotate(text=Cast("verdict__label", TextField()))
        )
        found = {row[0]: row[1:] for row in rows.values_list(*names, *ids)}
        for pk in chunk:
            if pk in found:
                text, rule, version, *who = found[pk]
                place = places.get(pk)
                given = counts[place].tolist() if place is not None else [0] * len(labels)
                belief = posterior[place].tolist() if place is not None else [None] * len(labels)
                yield (*who, orjson.loads(text), rule, version, entropy(given), *given, *belief)


def _told(release: Release) -> "QuerySet[ReleaseVerdict]":
    """Return the labels that a release contains, which exclude those of sealed splits."""
    return release.verdicts.exclude(item__split__name__in=release.sealed)


def _judgments(release: Release, labels: tuple[Any, ...]) -> Judgments:
    answers = Answers(voted(release.campaign.task_type).vote_key)
    return judgments_of(labels_given(release, answers), labels=labels, repeats=Repeats.LAST)


def entropy(counts: list[int]) -> float | None:
    """Return the entropy of the vote shares in bits; None without votes."""
    total = sum(counts)
    if not total:
        return None
    return round(-sum(one / total * log2(one / total) for one in counts if one) + 0.0, DIGITS)


def opinions_table(release: Release, order: list[int], pseudonyms: Pseudonyms) -> Table:
    """Return the table of the expert opinions behind labels of the release."""
    columns = (
        ITEM,
        Column("annotator", Kind.TEXT, "The expert's pseudonym."),
        _label_column(release),
        Column("justification", Kind.TEXT, "Why, in the expert's words."),
    )

    def rows() -> Iterator[Row]:
        decided = _told(release).filter(verdict__opinion__isnull=False)
        known = set(decided.values_list("item_id", flat=True))
        for chunk in chunks((pk for pk in order if pk in known), CHUNK):
            found = {
                row.item_id: row
                for row in decided.filter(item_id__gte=chunk[0], item_id__lte=chunk[-1]).select_related(
                    "item", "verdict__opinion"
                )
            }
            for row in (found[pk] for pk in chunk):
                opinion = row.verdict.opinion
                assert opinion is not None
                name = pseudonyms.of(opinion.surrogate_id)
                yield row.item.published_id, name, opinion.label, opinion.justification

    return Table("opinions", "One row an opinion of an expert that decided a label.", columns, rows)
