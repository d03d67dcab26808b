"""``source pool``: selects the pairs to judge from several systems' results."""

from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from annotation.slots.ordering import seeded
from sources.records import read_collection, read_questions
from sources.rules.near_duplicates import Overlap, near_duplicates
from sources.rules.pools import Depth, Pooled, Taken, pool, taken
from sources.rules.questions import Question
from sources.rules.terms import terms_of
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import add_collection, collection_of, share
from sources.trec import TieOrder, result_of
from storage.text_files import LineFault, naming, text_lines

KEY, VERSION = "pool", 1
HELP = (
    "Pool the best answers of several runs with the question's own answers, in random order, for judging. You"
    " can import pairs.jsonl. The asker's best answer isn't judged."
)
PAIRS, DROPPED = "pairs.jsonl", "dropped.jsonl"
ONCE, EMPTY = "near duplicate", "no text"
MOST_LISTED = 1_000
Runs = dict[str, dict[str, dict[str, float]]]  # by name, question and answer


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    add_collection(parser)
    parser.add_argument(
        "--run",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="TREC run; repeatable",
    )
    parser.add_argument(
        "--depth", type=int, default=10, metavar="K", help="answers per question to take from each run (default 10)"
    )
    parser.add_argument(
        "--ties",
        choices=[*TieOrder],
        default=TieOrder.GREATER_ID,
        help="order of answers with equal scores: greater id first, as in trec_eval (default), or lesser id first",
    )
    parser.add_argument(
        "--whole-ties", action="store_true", help="also take all answers with the same score as the last answer taken"
    )
    parser.add_argument(
        "--without-own",
        action="store_true",
        help="pool only the answers from the runs, without the question's own answers",
    )
    parser.add_argument(
        "--once",
        type=share,
        metavar="SHARE",
        help="of answers to a question that share more than this part of the longer answer's terms, judge only one",
    )


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files."""
    return {**collection_of(options), "runs": options["run"]}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the pool's parameters.

    Raises
    ------
    StepError
    """
    if options["depth"] < 1 or options["once"] == 1:
        raise StepError("the depth is at least 1, and no share is above 1")
    once = None if options["once"] is None else str(options["once"])
    return {
        "depth": options["depth"],
        "ties": str(options["ties"]),
        "whole_ties": options["whole_ties"],
        "once": once,
        "without_own": options["without_own"],
    }


class Asked(NamedTuple):
    """A question with the ids and texts of its own answers, and the id of the asker's best answer."""

    question: Question
    own: dict[str, str]
    best: str | None


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write the pool."""
    asked = {one.id: _asked(one) for one in read_questions(given.file("questions"))}
    ids = {key for key, _text in read_collection(given.file("collection"))}
    said = given.parameters
    runs = _runs(given, asked, ids)
    depth = Depth(said["depth"], TieOrder(said["ties"]), said["whole_ties"])
    takens = {key: {name: taken(run.get(key, {}), depth) for name, run in runs.items()} for key in asked}
    judged = {key: [] if said["without_own"] else list(one.own) for key, one in asked.items()}
    pools = {key: list(pool(takens[key], judged[key], [one.best] if one.best else [])) for key, one in asked.items()}
    texts = _texts(given, {answer.answer for found in pools.values() for answer in found})
    out.begin(PAIRS, DROPPED)
    pairs = [pair for key, found in pools.items() for pair in _pairs(given, asked[key], found, texts, out)]
    for pair in sorted(pairs, key=lambda one: seeded(given.seed, "pair", one["question_id"], one["answer_id"])):
        out.row(PAIRS, pair)
    return {
        "questions": len(asked),
        "runs": sorted(runs),
        "pairs": len(pairs),
        "own": sum(pair["origin"]["is_own"] for pair in pairs),
        "dropped": sum(map(len, pools.values())) - len(pairs),
        **_shortfalls(takens, depth),
    }


def _asked(one: Question) -> Asked:
    answers = one.record.get("nbestanswers", [])
    best = one.record.get("answer") or ""
    own = {f"{one.id}_{place}": text for place, text in enumerate(answers)}
    return Asked(one, own, f"{one.id}_{answers.index(best)}" if best in answers and best.strip() else None)


def _runs(given: Given, asked: Mapping[str, Asked], ids: set[str]) -> Runs:
    """Return the runs by name, each with scores by question and answer, for answers that can be judged.

    Raises
    ------
    FileFault
        A score isn't a number, an answer occurs twice, or a question or answer is unknown; names file and line.
    StepError
        Two runs have the same name.
    """
    found: Runs = {}
    for path in given.inputs["runs"]:
        name, run = path.name, dict[str, dict[str, float]]()
        for number, line in text_lines(path):
            with naming(path, number):
                result = result_of(line)
                if result.question not in asked:
                    raise LineFault(f"{result.question} is none of the questions")
                if result.answer not in ids and result.answer not in asked[result.question].own:
                    raise LineFault(f"{result.answer} is not in the collection")
                scores = run.setdefault(result.question, {})
                if result.answer in scores:
                    raise LineFault(f"{result.answer} was returned for {result.question} before")
                scores[result.answer], name = result.score, result.run
        if name in found:
            raise StepError(f"{path}: an earlier file holds a run called {name} too")
        found[name] = run
    if given.parameters["without_own"]:
        return {
            name: {key: _without(scores, asked[key].own) for key, scores in run.items()} for name, run in found.items()
        }
    return found


def _without(scores: Mapping[str, float], own: Collection[str]) -> dict[str, float]:
    return {answer: score for answer, score in scores.items() if answer not in own}


def _texts(given: Given, wanted: set[str]) -> dict[str, str]:
    return {key: text for key, text in read_collection(given.file("collection")) if key in wanted}


def _pairs(
    given: Given, asked: Asked, found: list[Pooled], texts: Mapping[str, str], out: Outputs
) -> Iterator[dict[str, Any]]:
    """Yield the pairs of a question's pool for import; answers that aren't judged go to a file of their own."""
    question = asked.question
    text_of = {one.answer: texts[one.answer] if one.answer in texts else asked.own[one.answer] for one in found}
    for_other = _judged_once(given, question.id, text_of)
    for one in found:
        origin = {
            **given.origin(given.file("questions"), question.row),
            "is_own": one.is_own,
            "runs": one.brought,
            **({"question": question.record["origin"]} if "origin" in question.record else {}),
        }
        if not text_of[one.answer].strip() or one.answer in for_other:
            row = {"question_id": question.id, "answer_id": one.answer, **for_other.get(one.answer, {"why": EMPTY})}
            out.row(DROPPED, {**row, "origin": origin})
            continue
        pair = {
            "question_id": question.id,
            "question": question.record["question"],
            "answer_id": one.answer,
            "answer": text_of[one.answer],
            "category": question.record.get("main_category") or "",
            "origin": origin,
        }
        if asked.best:
            pair |= {"possibly_correct_id": asked.best, "possibly_correct_answer": asked.own[asked.best]}
        yield pair


def _judged_once(given: Given, question: str, text_of: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the answers that aren't judged, each with the near duplicate that is judged instead."""
    if given.parameters["once"] is None:
        return {}
    terms = {answer: frozenset(terms_of(text)) for answer, text in text_of.items()}
    overlap = Overlap(Fraction(given.parameters["once"]))
    choose = lambda group: min(group, key=lambda answer: seeded(given.seed, "once", question, answer))  # noqa: E731
    found = near_duplicates(terms, overlap, choose)
    return {one.text: {"why": ONCE, "kept": one.kept, "share": round(float(one.share), 4)} for one in found}


def _shortfalls(takens: Mapping[str, Mapping[str, Taken]], depth: Depth) -> dict[str, Any]:
    """Return where a run has fewer answers than the depth, and where ties with the last answer are left out."""
    every = [(key, name, found) for key, runs in takens.items() for name, found in runs.items()]
    short = [
        {"question": key, "run": name, "answers": len(found.answers)}
        for key, name, found in every
        if len(found.answers) < depth.k
    ]
    cut = [{"question": key, "run": name, "left_out": found.cut_ties} for key, name, found in every if found.cut_ties]
    return {
        "short": len(short),
        "cut_ties": len(cut),
        "short_runs": short[:MOST_LISTED],
        "tied_runs": cut[:MOST_LISTED],
    }


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    lines = [
        f"{report['pairs']:,} pairs",
        f"questions: {report['questions']:,}; their own answers: {report['own']:,}",
        f"runs: {', '.join(report['runs'])}, to depth {report['parameters']['depth']}",
    ]
    if report["dropped"]:
        lines.append(f"not judged: {report['dropped']:,} ({DROPPED} says why)")
    if report["short"]:
        lines.append(f"questions to which a run has fewer answers, over all runs: {report['short']:,} (short_runs)")
    if report["cut_ties"]:
        lines.append(
            f"places where answers score as the last one taken, and are left out: {report['cut_ties']:,} (tied_runs)"
        )
    return "\n".join(lines)
