"""The studies of the Natural Questions paper for a campaign: their inputs (`measures.studies` computes)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from random import Random
from typing import Any

import orjson
from django.db.models import Max, Q

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, PUBLISHED, Annotation, AnnotationState, Campaign, Item, ItemState
from annotation.tasktypes.base import Extractive
from annotation.tasktypes.registry import TASK_TYPES
from documents.models import Tokenization
from documents.selectors import tokenization_of
from measures import studies
from quality.experts.selectors import opinions_deciding
from quality.labels.selectors.answers import answers_as_text
from quality.models import REFERENCE, CaseReason
from web.errors import KeyedError

REFERENCES = 5
MOST_PAGES = 2_000  # read for the tags of boxes
MOST_EXAMPLES = 12
Find = Callable[[Any], Hashable | None]


class StudyError(KeyedError):
    """A study isn't possible with the collected annotations; the message says what is missing."""


def extractive(campaign: Campaign) -> Extractive:
    """Return the task type of a campaign whose annotators find answers on pages.

    Raises
    ------
    StudyError
        The campaign has another kind of task.
    """
    found = TASK_TYPES[campaign.task_type]
    if not isinstance(found, Extractive):
        raise StudyError("study_of_pages", task_type=str(found.title))
    return found


def studies_of(campaign: Campaign) -> dict[str, Any]:
    """Return all studies of a campaign as JSON, each with ``why`` if it isn't possible. Use it only in jobs.

    Studies of many annotations use the highest number of annotations that items want.
    """
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    ways = items.aggregate(most=Max("n"))["most"] or 0
    wanted = items.filter(n=ways).count()
    options = {"references": REFERENCES, "alpha": studies.usual_alpha(ways - REFERENCES)}
    computed: dict[str, Callable[[], dict[str, Any]]] = {
        "statistics": lambda: statistics_of(campaign),
        "precision": lambda: precision_of(campaign),
        "variability": lambda: variability_of(campaign, _enough(ways)),
        "examples": lambda: {"items": examples_of(campaign, _enough(ways))},
        "bounds": lambda: bounds_of(campaign, _enough(ways), **options),
    }
    found: dict[str, Any] = {"ways": ways, "wanted": wanted}
    for name, compute in computed.items():
        try:
            found[name] = studies.as_json(compute())
        except StudyError as error:
            found[name] = {"why": str(error), "key": error.key, "data": error.data}
    return found


def _enough(ways: int) -> int:
    """Return a number of annotations that leaves some for the prediction.

    Raises
    ------
    StudyError
        No item wants more annotations than the references need.
    """
    if ways <= REFERENCES:
        raise StudyError("study_needs_more", references=REFERENCES)
    return ways


def statistics_of(campaign: Campaign, split: str = "") -> dict[str, Any]:
    """Return the data statistics of section 3.3 and the path shares of Figure 2, over one annotation of each item.

    The annotation is that of the first slot: a fair draw among the item's annotators, so that n-way splits count like
    others.
    """
    task_type, found = TASK_TYPES[campaign.task_type], extractive(campaign)
    references = _references(campaign, split)
    if not references:
        raise StudyError("study_empty")
    answers = list(references.values())
    paths = Counter(task_type.path(answer) for answer in answers)
    boxes = _boxes({item: found.finds["passage"](answer) for item, answer in references.items()})
    return {
        "items": len(answers),
        "paths": {
            path: studies.share_of([task_type.path(one) == path for one in answers]) for path, _ in paths.most_common()
        },
        "found": {
            kind: studies.share_of([find(one) is not None for one in answers]) for kind, find in found.finds.items()
        },
        "boxes": {tag: studies.share_of([one == tag for one in boxes]) for tag, _ in Counter(boxes).most_common()},
    }


def precision_of(campaign: Campaign) -> dict[str, Any]:
    """Return section 4.3 and Table 2 over the samples that experts decided, for each reference that isn't null."""
    found, judged = extractive(campaign), _judged(campaign)
    good, grades = found.good_grades, TASK_TYPES[campaign.task_type].grades
    return {kind: studies.precision(list(judged[kind].values()), good, grades) for kind in found.finds}


def variability_of(campaign: Campaign, ways: int) -> dict[str, Any]:
    """Return section 4.4 over items with a judged reference and all these annotations: Figure 4 and coverage."""
    found, grades, judged = extractive(campaign), TASK_TYPES[campaign.task_type].grades, _judged(campaign)
    rows = rows_of(campaign, ways)
    return {kind: _variability(rows, judged[kind], find, grades) for kind, find in found.finds.items()}


def _variability(rows: Mapping[int, list[Any]], judged: Mapping[int, Any], find: Find, grades: Any) -> dict[str, Any]:
    chosen = [item for item in sorted(judged) if item in rows]
    items = [[find(answer) for answer in rows[item]] for item in chosen]
    given = [judged[item] for item in chosen]
    if not items:
        return {"items": 0}
    alone = studies.non_null(items, without_reference=True)
    return {
        "items": len(items),
        "figure_4": studies.by_agreement(studies.non_null(items), given, grades),
        "figure_4_without_reference": studies.by_agreement(alone, given, grades),
        "coverage": studies.coverage(items),
        "distinct": studies.distinct(items),
    }


def examples_of(campaign: Campaign, ways: int) -> list[dict[str, Any]]:
    """Return Figures 5 and 6: judged items drawn at random, with their references.

    Each reference has the number of annotators who found an answer, and who found the same one.
    """
    finds, task_type = extractive(campaign).finds, TASK_TYPES[campaign.task_type]
    judged, rows = _judged(campaign), rows_of(campaign, ways)
    shown = sorted({item for one in judged.values() for item in one if item in rows})
    drawn = sorted(Random(0).sample(shown, min(len(shown), MOST_EXAMPLES)))  # noqa: S311  a draw, not a secret
    items = Item.objects.select_related("tokenization").in_bulk(drawn)
    return [
        {
            "item": item,
            "lines": task_type.summarise(rows[item][0], tokenization_of(items[item].tokenization)).lines,
            "answers": {kind: _alike(rows[item], judged[kind].get(item), find) for kind, find in finds.items()},
        }
        for item in drawn
    ]


def _alike(row: list[Any], grade: Any, find: Find) -> dict[str, Any]:
    """Return the number of annotators with an answer and with the reference's answer, and the experts' grade of it."""
    reference, found = find(row[0]), [find(answer) for answer in row]
    same = 0 if reference is None else found.count(reference)
    return {"found": len(found) - found.count(None), "same": same, "grade": grade}


def bounds_of(campaign: Campaign, ways: int, **options: Any) -> dict[str, Any]:
    """Return section 5.2: the scores of one annotator and the super-annotator on items with all these annotations."""
    found, rows = extractive(campaign), list(rows_of(campaign, ways).values())
    if not rows:
        fullest = max(map(len, _slots(campaign, ways).values()), default=0)
        raise StudyError("study_places", ways=ways, fullest=fullest)
    return {
        kind: {"items": len(rows), **studies.bounds([[find(one) for one in row] for row in rows], **options)}
        for kind, find in found.finds.items()
    }


def _counted(campaign: Campaign) -> Any:
    """Return the counted annotations of the first round; annotations published elsewhere have no assignment."""
    first_round = Q(assignment__slot__round=1) | Q(assignment=None, slot__round=1)
    return Annotation.objects.filter(
        first_round,
        unsealed(),
        campaign=campaign,
        state=AnnotationState.COUNTED,
        item__batch__purpose__in=ORDINARY,
        item__state=ItemState.ACTIVE,
    )


def _references(campaign: Campaign, split: str = "") -> dict[int, Any]:
    """Return the answer in the first slot of each item."""
    rows = _counted(campaign).filter(slot__index=0)
    rows = rows.filter(item__split__name=split) if split else rows
    return {item: orjson.loads(text) for item, _who, text, _state in answers_as_text(rows, "state")}


def rows_of(campaign: Campaign, ways: int) -> dict[int, list[Any]]:
    """Return the answers in the first ``ways`` slots of each item that has them all, in the order of the slots."""
    if ways < 2:
        raise StudyError("study_two")
    return {
        item: [orjson.loads(slots[index]) for index in range(ways)]
        for item, slots in sorted(_slots(campaign, ways).items())
        if len(slots) == ways
    }


def answers_by_annotator(campaign: Campaign) -> dict[int, dict[str, str]]:
    """Return the counted answers of the first round as JSON, by item and annotator.

    Annotations published elsewhere are left out: it isn't known who made them.
    """
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for item, who, text, _state in answers_as_text(_counted(campaign).exclude(via=PUBLISHED), "state"):
        found[item][who] = text
    return found


def _slots(campaign: Campaign, ways: int) -> dict[int, dict[int, str]]:
    """Return the answers, as JSON, in the first ``ways`` slots, by item and slot."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for item, _who, text, index in answers_as_text(_counted(campaign).filter(slot__index__lt=ways), "slot__index"):
        found[item][index] = text
    return found


def _judged(campaign: Campaign) -> dict[str, dict[int, Any]]:
    """Return the grade of each item's reference, by kind of part and item.

    The grade is about the reference as it was drawn, in sampled cases that are decided.
    """
    rows = opinions_deciding(campaign).filter(case__because=CaseReason.SAMPLE)
    task_type, references = TASK_TYPES[campaign.task_type], _references(campaign)
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for row in rows.iterator(chunk_size=2000):
        item, parts = row.case.item_id, [part for part in row.case.parts if part.get(REFERENCE)]
        if not parts and item in references:  # drawn before references were marked: what the first slot says now
            own = {part["key"] for part in task_type.parts([references[item]])}
            parts = [part for part in row.case.parts if part["key"] in own]
        for part in parts:
            found[part["what"]][item] = row.said[part["key"]]
    return found


def _boxes(found: Mapping[int, Any]) -> list[str]:
    """Return the tags of long answers' boxes, read from pages; for a sample if there are many, as each is a file."""
    answered = sorted(item for item, box in found.items() if box is not None)
    wanted = {item: found[item] for item in Random(0).sample(answered, min(len(answered), MOST_PAGES))}  # noqa: S311  a draw
    pages = dict(Item.objects.filter(pk__in=list(wanted)).values_list("pk", "tokenization"))
    by_page: dict[Any, list[int]] = defaultdict(list)
    for item, box in wanted.items():
        by_page[pages[item]].append(box)
    tags = []
    for row in Tokenization.objects.filter(pk__in=list(by_page)).iterator(chunk_size=200):
        page = tokenization_of(row)
        assert page is not None
        tags += [page.tokens[page.candidates[box].start_token].token for box in by_page[row.pk]]
    return tags
