"""The typed tables of a release, from which the formats of all families are derived."""

from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from exports.formats.tables import Table
from exports.models import Release
from exports.selectors.members import Pseudonyms
from exports.tables.documents import documents_table
from exports.tables.items import items_of, items_table
from exports.tables.judgments import judgments_table
from exports.tables.labels import labels_table, opinions_table
from exports.tables.people import annotators_table


def tables_of(release: Release, pseudonyms: Pseudonyms) -> list[Table]:
    """Return the tables of a release, in reading order."""
    task_type = TASK_TYPES[release.campaign.task_type]
    order = items_of(release)
    tables = [items_table(release, order), judgments_table(release, order, pseudonyms)]
    if isinstance(task_type, Voted):
        tables += [labels_table(release, order), opinions_table(release, order, pseudonyms)]
    if task_type.needs_document:
        tables.append(documents_table(order))
    return [*tables, annotators_table(release, pseudonyms)]
