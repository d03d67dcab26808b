"""Agreement in Natural Questions, and the parts of answers that experts judge."""

from collections.abc import Hashable, Sequence

from annotation.tasktypes.base import Answer, Measure, Part, Said, Scale
from annotation.tasktypes.nq.answers import NO, NO_ANSWER, NONE, SPANS, YES

# Kwiatkowski et al. 2019, section 4.2.
CORRECT, DEBATABLE, WRONG = "correct", "debatable", "wrong"
GRADES = (CORRECT, DEBATABLE, WRONG)


def _answered(answer: Answer) -> str | None:
    """Return whether an annotation found an answer on the page; a bad question has none."""
    return "no answer" if answer["long_answer"]["candidate_index"] == NO_ANSWER else "answer"


def _box(answer: Answer) -> frozenset[Hashable] | None:
    index = answer["long_answer"]["candidate_index"]
    return None if index == NO_ANSWER else frozenset({index})


def _short(answer: Answer) -> frozenset[Hashable] | None:
    """Return the set of a short answer's tokens, or of yes or no alone; None if there is no long answer."""
    if answer["long_answer"]["candidate_index"] == NO_ANSWER:
        return None
    short = answer["short_answer"]
    if short["kind"] in (YES, NO):
        return frozenset({short["kind"]})
    return frozenset(token for start, end in short["spans"] for token in range(start, end))


MEASURES = (
    Measure("answered", Scale.NOMINAL, _answered),
    Measure("question", Scale.NOMINAL, lambda answer: answer["question"]["label"]),
    Measure("long_answer", Scale.SETS, _box),
    Measure("short_answer", Scale.SETS, _short),
)


def parts(answers: Sequence[Answer]) -> list[Part]:
    """Return each distinct passage and each distinct short answer that is not null (section 4.2), in document order."""
    found: dict[str, Part] = {}
    for answer in answers:
        index = answer["long_answer"]["candidate_index"]
        if index == NO_ANSWER:
            continue
        part_add(found, passage_part(index))
        if answer["short_answer"]["kind"] != NONE:
            part_add(found, short_part(index, answer["short_answer"]["kind"], answer["short_answer"]["spans"]))
    return sorted(found.values(), key=lambda part: (part.get("box", 0), part["what"] != "passage", part["key"]))


def confirms(said: Said) -> bool:
    """Return whether an expert graded every part of a gold question as correct; debatable ones don't qualify."""
    return bool(said) and all(grade == CORRECT for grade in said.values())


def long_answer_found(answer: Answer) -> Hashable | None:
    """Return the box of a long answer, or None."""
    box = answer["long_answer"]["candidate_index"]
    return None if box == NO_ANSWER else int(box)


def short_answer_found(answer: Answer) -> Hashable | None:
    """Return a short answer as the official evaluation compares it: yes, no or the set of its spans; or None."""
    short = answer["short_answer"]
    if long_answer_found(answer) is None or short["kind"] == NONE:
        return None
    return frozenset(tuple(span) for span in short["spans"]) if short["kind"] == SPANS else str(short["kind"])


FINDS = {"passage": long_answer_found, "short": short_answer_found}


def part_add(found: dict[str, Part], part: Part) -> None:
    """Add a part that is not among those found."""
    found.setdefault(part["key"], part)


def passage_part(box: int) -> Part:
    """Return the part for a box as long answer."""
    return {"key": f"passage-{box}", "what": "passage", "box": box}


def short_part(box: int, kind: str, spans: Sequence[Sequence[int]]) -> Part:
    """Return the part for a short answer in a box."""
    written = "_".join(f"{start}.{end}" for start, end in spans) or kind
    return {
        "key": f"short-{box}-{written}",
        "what": "short",
        "box": box,
        "kind": kind,
        "spans": [list(s) for s in spans],
    }
