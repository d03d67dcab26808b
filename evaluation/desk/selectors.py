"""How systems compare with annotators, by experts' judgments and by the annotators' own answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson
from django.db.models import Max

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Campaign, Item, ItemState
from annotation.tasktypes.base import Answer, Extractive, Part
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.annotator.alternative import EPSILONS, Alignment, alternative_report
from evaluation.files import EvaluationError
from evaluation.models import PredictedAnswer, PredictedSystem
from measures import studies
from measures.rectified import LEAST, Board
from quality.experts.selectors import opinions_deciding
from quality.models import REFERENCE, Case, CaseState
from quality.studies.selectors.studies import REFERENCES, answers_by_annotator, rows_of

EPSILON = EPSILONS["crowd"]
OWN, ANNOTATOR = "own", "annotator"
Find = Callable[[Answer], Hashable | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A drawn item whose case is decided, or that has none: a system's parts, and all parts with the experts' grades."""

    own: list[Part]
    parts: list[Part]
    said: Mapping[str, Any]

    def counts(self, kind: str, who: str, good: Sequence[Any]) -> tuple[bool, bool, bool]:
        """Return whether the annotator or the system was right, gave an answer, and whether there was one to give.

        There was one if the experts found an answer of this kind good, no matter who gave it.
        """
        fit = {part["key"] for part in self.parts if part["what"] == kind and self.said[part["key"]] in good}
        mine = self.own if who == OWN else [part for part in self.parts if part.get(REFERENCE)]
        given = {part["key"] for part in mine if part["what"] == kind}
        return bool(given & fit), bool(given), bool(fit)


def predictions_scored(campaign: Campaign) -> dict[str, Any]:
    """Return the comparison of a campaign's systems with its annotators, by kind of answer.

    Reads all answers and opinions: use it only in jobs.
    """
    task_type = TASK_TYPES[campaign.task_type]
    systems = dict(PredictedSystem.objects.filter(campaign=campaign).order_by("name").values_list("pk", "name"))
    if not systems or not isinstance(task_type, Extractive):
        return {}
    drawn = _drawn(campaign)
    judged = {name: _judged(campaign, drawn.get(pk, [])) for pk, name in systems.items()}
    answers = {name: _answers(pk) for pk, name in systems.items()}
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    ways = items.aggregate(most=Max("n"))["most"] or 0
    rows = rows_of(campaign, ways) if ways > REFERENCES else {}
    people = answers_by_annotator(campaign)
    return {
        "names": list(systems.values()),
        "states": _states([row for rows in drawn.values() for row in rows]),
        "ways": ways,
        "epsilon": EPSILON,
        "kinds": {
            kind: {
                "judged": _judged_rows(judged, kind, task_type.good_grades),
                "bounds": _bounds(rows, answers, find, ways),
                "alternative": (tests := _alternative(people, answers, find)),
                "is_tested": any("tested" in one for one in tests),
            }
            for kind, find in task_type.finds.items()
        },
    }


def _drawn(campaign: Campaign) -> dict[int, list[PredictedAnswer]]:
    """Return the drawn answers of each system."""
    rows = PredictedAnswer.objects.filter(unsealed(), system__campaign=campaign).exclude(drawn_at=None)
    found = defaultdict(list)
    for row in rows.select_related("case").order_by("item"):
        found[row.system_id].append(row)
    return found


def _states(rows: Sequence[PredictedAnswer]) -> dict[str, int]:
    """Return the number of drawn items, and of those that are judged, wait for experts, or were withdrawn."""
    items = {row.item_id: _state(row.case) for row in rows}
    counts = Counter(items.values())
    judged, withdrawn = counts[CaseState.DECIDED], counts[CaseState.RECALLED]
    return {"drawn": len(items), "judged": judged, "withdrawn": withdrawn, "waiting": len(items) - judged - withdrawn}


def _state(case: Case | None) -> str:
    """Return the state of a drawn item's case; without anything to judge, it is decided."""
    return case.state if case else CaseState.DECIDED


def _judged(campaign: Campaign, rows: Sequence[PredictedAnswer]) -> dict[int, Judged]:
    """Return the drawn items of a system that are judged, or have nothing to judge."""
    parts = TASK_TYPES[campaign.task_type].parts
    cases = {row.case_id for row in rows}
    said = {one.case_id: one.said for one in opinions_deciding(campaign) if one.case_id in cases}
    return {
        row.item_id: Judged(
            parts([row.answer]), row.case.parts if row.case else [], said[row.case.pk] if row.case else {}
        )
        for row in rows
        if _state(row.case) == CaseState.DECIDED
    }


def _answers(system: int) -> dict[int, Answer]:
    """Return all answers of a system, of splits that aren't sealed."""
    rows = PredictedAnswer.objects.filter(unsealed(), system=system).order_by("item")
    return dict(rows.values_list("item_id", "answer"))


def _judged_rows(judged: Mapping[str, Mapping[int, Judged]], kind: str, good: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the experts' judgment of each system, and of one annotator on the same items."""
    return [_judged_row(name, list(items.values()), kind, good) for name, items in judged.items() if items]


def _judged_row(name: str, items: Sequence[Judged], kind: str, good: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"system": name, "items": len(items), "difference": {"value": None}}
    outcomes = {}
    for who in (OWN, ANNOTATOR):
        counts = np.array([one.counts(kind, who, good) for one in items], dtype=float)
        right, given, wanted = counts.T
        # An answer that is good, or none where nobody found one.
        outcomes[who] = np.where(given, right, 1 - wanted)
        found[who] = studies.as_json(
            {"given": studies.share_of(given), "right": studies.share_of(outcomes[who])}
            | studies.precision_recall_f1(counts)
        )
    if len(items) >= LEAST:
        places, nothing = np.arange(len(items)), np.zeros(len(items))
        board = Board(dict.fromkeys(outcomes, nothing), places, outcomes, np.zeros(len(items), dtype=np.int64))
        [difference] = board.differences()
        bounds = {name: min(max(value, -1.0), 1.0) for name, value in asdict(difference.difference).items()}
        found |= {"difference": bounds, "p": difference.p}
    return found


def _bounds(
    rows: Mapping[int, Sequence[Answer]], answers: Mapping[str, Mapping[int, Answer]], find: Find, ways: int
) -> list[dict[str, Any]]:
    """Return each system's score by the measure of section 5.1, with those of people, on items with all annotations."""
    found = []
    for name, given in answers.items():
        items = [item for item in rows if item in given]
        if items:
            scores = studies.bounds(
                [[find(answer) for answer in rows[item]] for item in items],
                references=REFERENCES,
                alpha=studies.usual_alpha(ways - REFERENCES),
                system=[find(given[item]) for item in items],
            )
            kept = {who: scores[who] for who in ("single", "super", "system")}
            found.append({"system": name, "items": len(items), "scores": studies.as_json(kept)})
    return found


def _alternative(
    people: Mapping[int, Mapping[str, str]], answers: Mapping[str, Mapping[int, Answer]], find: Find
) -> list[dict[str, Any]]:
    """Return the alternative annotator test of each system; only its name if too few annotators share items."""
    labels: dict[Hashable, str] = {}

    def label(answer: Answer) -> str:
        return labels.setdefault(find(answer), str(len(labels)))

    read = dict[str, str]()  # many answers have the same text
    votes = {
        item: {who: read.get(text) or read.setdefault(text, label(orjson.loads(text))) for who, text in given.items()}
        for item, given in people.items()
    }
    found = []
    for name, given in answers.items():
        common = {str(item): votes[item] for item in given if item in votes}
        try:
            report = alternative_report(
                common,
                {str(item): label(given[item]) for item in given if item in votes},
                epsilon=EPSILON,
                alignment=Alignment.ACCURACY,
            )
        except EvaluationError:
            report = {}
        found.append({"system": name} | {key: value for key, value in report.items() if key != "compared"})
    return found
