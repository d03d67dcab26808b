"""How systems compare with annotators, by experts' judgments and by the annotators' own answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import orjson
from django.db.models import Exists, Max, OuterRef, QuerySet

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, Item, ItemState
from annotation.tasktypes.base import Answer, Extractive, Part
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.annotator.alternative import EPSILONS, Alignment, alternative_report
from evaluation.files import EvaluationError
from evaluation.models import PredictedAnswer, PredictedSystem
from measures import studies
from quality.experts.selectors import opinions_deciding
from quality.models import PENDING, REFERENCE, Case, CaseReason, CaseState
from quality.studies.selectors.studies import REFERENCES, answers_by_annotator, rows_of

EPSILON = EPSILONS["crowd"]
MOST_COMPARED = 2_000  # items with many annotations, drawn at random if there are more
OWN, ANNOTATOR = "own", "annotator"
Finds = Mapping[str, Callable[[Answer], Hashable | None]]


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

    def is_right(self, kind: str, who: str, good: Sequence[Any]) -> bool:
        """Return whether the annotator or the system gave a good answer, or none where nobody gave a good one."""
        right, given, wanted = self.counts(kind, who, good)
        return right if given else not wanted


def predictions_scored(campaign: Campaign) -> dict[str, Any]:
    """Return the comparison of a campaign's systems with its annotators, by kind of answer.

    Reads all answers and opinions: use it only in jobs.
    """
    task_type = TASK_TYPES[campaign.task_type]
    systems = dict(PredictedSystem.objects.filter(campaign=campaign).order_by("name").values_list("pk", "name"))
    if not systems or not isinstance(task_type, Extractive):
        return {}
    drawn, finds = _drawn(campaign), task_type.finds
    said = {one.case_id: one.said for one in opinions_deciding(campaign).filter(case__because=CaseReason.SYSTEMS)}
    judged = {name: _judged(task_type.parts, drawn.get(pk, []), said) for pk, name in systems.items()}
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    ways = items.filter(split__sealed_at=None).aggregate(most=Max("n"))["most"] or 0
    rows, people = _rows(campaign, ways, finds, list(systems)), _people(campaign, finds)
    found: dict[str, dict[str, list[Any]]] = {kind: defaultdict(list) for kind in finds}
    for pk, name in systems.items():
        answers = _answers(pk, finds)
        for kind in finds:
            if judged[name]:
                found[kind]["judged"].append(
                    _judged_row(name, list(judged[name].values()), kind, task_type.good_grades)
                )
            found[kind]["bounds"] += _bounds(name, rows[kind], answers[kind], ways)
            found[kind]["alternative"].append(_alternative(name, people[kind], answers[kind]))
    return {
        "names": list(systems.values()),
        "unjudged": [name for name in systems.values() if not judged[name]],
        "left": items_to_draw(campaign, list(systems)).count(),
        "states": _states([row for rows in drawn.values() for row in rows]),
        "ways": ways,
        "epsilon": EPSILON,
        "kinds": {
            kind: {name: one[name] for name in ("judged", "bounds", "alternative")}
            | {"pairs": _pairs(judged, kind, task_type.good_grades)}
            | {"is_tested": any("tested" in row for row in one["alternative"])}
            | {"most": max(row.get("most", 0) for row in one["alternative"])}
            for kind, one in found.items()
        },
    }


def answered_by_all(items: QuerySet[Item], systems: Sequence[int]) -> QuerySet[Item]:
    """Return the items that all of some systems answered."""
    for system in systems:
        items = items.filter(Exists(PredictedAnswer.objects.filter(system=system, item=OuterRef("pk"))))
    return items


def items_to_draw(campaign: Campaign, systems: Sequence[int]) -> QuerySet[Item]:
    """Return the items that can be drawn for some systems: these and an annotator answered them, and nobody drew them."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, split__sealed_at=None, drawn=None)
    counted = Annotation.objects.filter(item=OuterRef("pk"), state=AnnotationState.COUNTED)
    return answered_by_all(items, systems).filter(Exists(counted.filter(slot__round=1, slot__index=0)))


def _drawn(campaign: Campaign) -> dict[int, list[PredictedAnswer]]:
    """Return the drawn answers of each system, in the order in which the items were drawn."""
    rows = PredictedAnswer.objects.filter(unsealed(), system__campaign=campaign).exclude(drawn=None)
    found = defaultdict(list)
    for row in rows.select_related("drawn__case").order_by("drawn__place"):
        found[row.system_id].append(row)
    return found


def _state(row: PredictedAnswer) -> str:
    """Return the state of a drawn item's case; without anything to judge, it is decided."""
    case: Case | None = row.drawn.case if row.drawn else None
    return case.state if case else CaseState.DECIDED


def _states(rows: Sequence[PredictedAnswer]) -> dict[str, int]:
    """Return the number of drawn items, and of those that are judged, wait for experts, or were withdrawn."""
    items = {row.item_id: _state(row) for row in rows}
    counts = Counter(items.values())
    judged, withdrawn = counts[CaseState.DECIDED], counts[CaseState.RECALLED]
    return {"drawn": len(items), "judged": judged, "withdrawn": withdrawn, "waiting": len(items) - judged - withdrawn}


def _judged(
    parts: Callable[[list[Answer]], list[Part]], rows: Sequence[PredictedAnswer], said: Mapping[int, Mapping[str, Any]]
) -> dict[int, Judged]:
    """Return the judged items of a system, in the order of the draw, up to the first that waits for experts.

    Items on which experts disagree take longer, and those without an answer no time at all: what is judged first isn't
    a random sample, but what was drawn first is.
    """
    found = {}
    for row in rows:
        state = _state(row)
        if state in PENDING:
            break
        case = row.drawn.case if row.drawn else None
        if case is None:
            found[row.item_id] = Judged([], [], {})
        elif state == CaseState.DECIDED and case.pk in said:
            found[row.item_id] = Judged(parts([row.answer]), case.parts, said[case.pk])
    return found


def _judged_row(name: str, items: Sequence[Judged], kind: str, good: Sequence[Any]) -> dict[str, Any]:
    """Return the experts' judgment of a system, and of the annotator on the same items."""
    found: dict[str, Any] = {"system": name, "items": len(items)}
    outcomes = {}
    for who in (OWN, ANNOTATOR):
        counts = np.array([one.counts(kind, who, good) for one in items], dtype=float)
        outcomes[who] = [one.is_right(kind, who, good) for one in items]
        found[who] = studies.as_json(
            {"given": studies.share_of(counts[:, 1]), "right": studies.share_of(outcomes[who])}
            | studies.precision_recall_f1(counts)
        )
    return found | {"difference": studies.as_json(studies.paired_difference(outcomes[OWN], outcomes[ANNOTATOR]))}


def _pairs(judged: Mapping[str, Mapping[int, Judged]], kind: str, good: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the difference of each two systems on the items that both were judged on."""
    found = []
    for first, second in combinations(judged, 2):
        if items := [item for item in judged[first] if item in judged[second]]:
            right = ([judged[name][item].is_right(kind, OWN, good) for item in items] for name in (first, second))
            difference = studies.as_json(studies.paired_difference(*right))
            found.append({"first": first, "second": second, "difference": difference})
    return found


def _answers(system: int, finds: Finds) -> dict[str, dict[int, Hashable]]:
    """Return what a system found in each item, by kind; splits that are sealed are left out."""
    found: dict[str, dict[int, Hashable]] = {kind: {} for kind in finds}
    rows = PredictedAnswer.objects.filter(unsealed(), system=system).order_by("pk").values_list("item_id", "answer")
    for item, answer in rows.iterator(chunk_size=2_000):
        for kind, find in finds.items():
            found[kind][item] = find(answer)
    return found


def _rows(campaign: Campaign, ways: int, finds: Finds, systems: Sequence[int]) -> dict[str, dict[int, list[Hashable]]]:
    """Return what annotators found, by kind and item, in the items with most annotations that all systems answered."""
    rows = rows_of(campaign, ways) if ways > REFERENCES else {}
    answered = answered_by_all(Item.objects.filter(campaign=campaign), systems)
    items = sorted(rows.keys() & set(answered.values_list("pk", flat=True))) if rows else []
    chosen = sorted(Random(0).sample(items, min(len(items), MOST_COMPARED)))  # noqa: S311  a draw, not a secret
    return {kind: {item: [find(one) for one in rows[item]] for item in chosen} for kind, find in finds.items()}


def _bounds(
    name: str, rows: Mapping[int, list[Hashable]], answers: Mapping[int, Hashable], ways: int
) -> list[dict[str, Any]]:
    """Return a system's score by the measure of section 5.1, with those of people; nothing without such items."""
    if not rows:
        return []
    scores = studies.bounds(
        list(rows.values()),
        references=REFERENCES,
        alpha=studies.usual_alpha(ways - REFERENCES),
        system=[answers[item] for item in rows],
    )
    kept = {who: scores[who] for who in ("single", "super", "system")}
    return [{"system": name, "items": len(rows), "scores": studies.as_json(kept)}]


def _people(campaign: Campaign, finds: Finds) -> dict[str, dict[int, dict[str, Hashable]]]:
    """Return what each annotator found, by kind and item; equal answers are read once."""
    read: dict[str, dict[str, Hashable]] = {}
    found: dict[str, dict[int, dict[str, Hashable]]] = {kind: defaultdict(dict) for kind in finds}
    for item, given in answers_by_annotator(campaign).items():
        for who, text in given.items():
            if text not in read:
                answer = orjson.loads(text)
                read[text] = {kind: find(answer) for kind, find in finds.items()}
            for kind in finds:
                found[kind][item][who] = read[text][kind]
    return found


def _alternative(
    name: str, people: Mapping[int, Mapping[str, Hashable]], answers: Mapping[int, Hashable]
) -> dict[str, Any]:
    """Return the alternative annotator test of a system.

    If no annotator shares enough items with others, return the number of items of the one who shares most.
    """
    names: dict[Hashable, str] = {}

    def label(found: Hashable) -> str:
        return names.setdefault(found, str(len(names)))

    items = [item for item in answers if item in people]
    votes = {str(item): {who: label(one) for who, one in people[item].items()} for item in items}
    labels = {str(item): label(answers[item]) for item in items}
    try:
        report = alternative_report(votes, labels, epsilon=EPSILON, alignment=Alignment.ACCURACY)
    except EvaluationError:
        shared = Counter(who for one in votes.values() if len(one) > 1 for who in one)
        report = {"most": max(shared.values(), default=0)}
    return {"system": name} | {key: value for key, value in report.items() if key != "compared"}
