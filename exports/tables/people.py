"""Who annotated, under pseudonyms."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import median

from django.db.models import CharField
from django.db.models.functions import Cast

from annotation.models import PUBLISHED, AnnotationState
from annotation.tasktypes.columns import Column, Kind
from exports.formats.tables import Row, Table
from exports.models import Release
from exports.selectors.members import Pseudonyms

_COLUMNS = (
    Column("annotator", Kind.TEXT, "The pseudonym of the table judgments."),
    Column("judgments", Kind.INTEGER, "Rows in the table judgments."),
    Column("counted", Kind.INTEGER, "Of these, how many count."),
    Column("excluded", Kind.INTEGER, "Of these, how many were excluded."),
    Column("median_seconds", Kind.NUMBER, "From claim to submission, over all of them."),
)


def annotators_table(release: Release, pseudonyms: Pseudonyms) -> Table:
    """Return the table of annotators, by pseudonym."""

    def rows() -> Iterator[Row]:
        states: dict[str, Counter[str]] = defaultdict(Counter)
        seconds: dict[str, list[float]] = defaultdict(list)
        votes = release.votes.exclude(annotation__via=PUBLISHED).annotate(
            who=Cast("annotation__surrogate_id", CharField())
        )
        for who, state, spent in votes.values_list("who", "state", "annotation__seconds").iterator(5000):
            states[who][state] += 1
            seconds[who].append(spent)
        for name, who in sorted((pseudonyms.of_text(who), who) for who in states if not pseudonyms.is_rare(who)):
            found = states[who]
            yield (
                name,
                found.total(),
                found[AnnotationState.COUNTED],
                found[AnnotationState.EXCLUDED],
                round(median(seconds[who]), 1),
            )

    return Table("annotators", "One row a person who annotated, but those who did little.", _COLUMNS, rows)
