"""Reading the votes of people on a release's items, and the labels of a model."""

from pathlib import Path

from evaluation.files import EvaluationError
from evaluation.item_lines import read_label_lines
from exports.released.folder import FolderError, ReleasedFolder

MOST_VOTES = 2_000_000
MOST_ITEMS = 1_000_000
COUNTED, FIRST = "counted", 1
Votes = dict[str, dict[str, str]]  # by item and annotator: the label, as text


def read_votes(folder: Path) -> Votes:
    """Return the counted votes of the first round; later votes were requested because people disagreed.

    Raises
    ------
    EvaluationError
        The folder isn't a release, or its task type has no votes.
    """
    try:
        return _votes(ReleasedFolder(folder))
    except FolderError as error:
        raise EvaluationError(str(error)) from error


def _votes(released: ReleasedFolder) -> Votes:
    found: Votes = {}
    known: dict[str, str] = {}  # one text for each annotator and label, and not for each vote
    if "labels" not in released.tables:
        raise FolderError(f"{released.path}: this release has no labels: its task type has no vote")
    wanted = ("item_id", "annotator", "state", "round", "label")
    for number, row in enumerate(released.rows("judgments", wanted), 1):
        if number > MOST_VOTES:
            raise FolderError(f"{released.path}: has more than {MOST_VOTES:,} judgments")
        who, label = row["annotator"], str(row["label"])
        if row["state"] == COUNTED and row["round"] == FIRST and who is not None and row["item_id"] is not None:
            found.setdefault(row["item_id"], {})[known.setdefault(who, who)] = known.setdefault(label, label)
    return found


def read_labels(path: Path, votes: Votes) -> dict[str, str]:
    """Return the label that a model gives to each item with votes; labels of other items are ignored.

    Raises
    ------
    EvaluationError
        A line isn't in the expected form, or an item with votes has no label.
    """
    allowed = {label for given in votes.values() for label in given.values()}
    found = {item: label for item, label in read_label_lines(path, allowed, most=MOST_ITEMS) if item in votes}
    missing = sorted(set(votes) - set(found))
    if missing:
        raise EvaluationError(f"{path}: {len(missing):,} items of the release have no label: {', '.join(missing[:20])}")
    return found
