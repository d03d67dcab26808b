"""The command line of the table of results: it runs missing predictions of trained runs, and scores all systems."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from baselines.arguments import NEEDS, Say, files_of
from baselines.nq import results as nq
from baselines.rankers import results as rankers
from baselines.rankers.data import ranking_read
from baselines.runs import record_read
from baselines.tables import markdown, results_write
from evaluation.files import EvaluationError
from evaluation.statistics import RESAMPLES

HELP = "results table for a paper: untrained baselines, trained baselines, and annotators, with confidence intervals"


class System(NamedTuple):
    """A system of the table: the name that is shown, the key of its published figures, and its predictions."""

    name: str
    key: str
    predictions: Path


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "release",
        type=Path,
        metavar="RELEASE",
        help="folder of a release in the Natural Questions or ANTIQUE format",
    )
    parser.add_argument(
        "runs",
        type=Path,
        nargs="*",
        metavar="RUN",
        help="folders of trained runs (which predict first) or prediction files",
    )
    parser.add_argument(
        "--to", required=True, type=Path, metavar="DIR", help="output folder for the table and predictions"
    )
    parser.add_argument(
        "--train",
        nargs="+",
        default=[],
        metavar="DATA",
        help="training files, for baselines that copy answers from the same page",
    )
    parser.add_argument("--vectors", type=Path, metavar="SOURCE", help="word vectors used by the runs of readers")
    parser.add_argument("--split", default="test", help="split of an ANTIQUE release (default test)")
    parser.add_argument(
        "--resamples",
        type=int,
        default=RESAMPLES,
        metavar="N",
        help=f"number of bootstrap resamples for the intervals (default {RESAMPLES:,})",
    )


def run(options: dict[str, Any], say: Say) -> tuple[dict[str, Any], str]:
    """Predict where needed, score, and write the table; return the files, and the table as text.

    Raises
    ------
    EvaluationError
        A file or run can't be used.
    """
    release, to = options["release"], options["to"]
    folder = to / "predictions"
    folder.mkdir(parents=True, exist_ok=True)
    qrels = release / f"antique-{options['split']}.qrel"
    if qrels.exists():
        ranking = ranking_read(release, options["split"], needs_labels=True)
        untrained = rankers.untrained_write(ranking, folder)
        systems = _systems(options["runs"], untrained, rankers.NAMES, lambda one: _ranked(one, folder, options, say))
        results = rankers.results_of(qrels, systems, resamples=options["resamples"])
    else:
        files = files_of([str(release)])
        untrained = nq.untrained_write(files, files_of(options["train"]), folder)
        systems = _systems(options["runs"], untrained, nq.NAMES, lambda one: _read(one, folder, files, options, say))
        results = nq.results_of(files, systems, resamples=options["resamples"])
    written = results_write(results, to)
    return {"systems": len(results.rows), "files": [path.name for path in written]}, markdown(results)


def _systems(
    runs: list[Path],
    untrained: Mapping[str, Path],
    names: Mapping[str, str],
    predicted: Callable[[Path], System],
) -> dict[str, tuple[str, Path]]:
    """Return each system's key and predictions by its name; systems with the same name get the run's name appended."""
    found = [System(names[key], key, path) for key, path in untrained.items()]
    found += [predicted(one) if one.is_dir() else System(one.stem, "", one) for one in runs]
    several = {one.name for one in found if sum(one.name == other.name for other in found) > 1}
    systems = {}
    for one in found:
        name = f"{one.name} ({one.predictions.stem})" if one.name in several else one.name
        if name in systems:
            raise EvaluationError(f"two systems are called {name}: give their folders or files other names")
        systems[name] = (one.key, one.predictions)
    return systems


def _read(run_folder: Path, folder: Path, files: list[Path], options: Mapping[str, Any], say: Say) -> System:
    """Return a run of Natural Questions with its predictions, which are made now if missing."""
    record = record_read(run_folder)
    recipe, to = record["recipe"], folder / f"{run_folder.resolve().name}.json"
    reader = recipe.get("reader")
    try:
        if reader:
            if options["vectors"] is None:
                raise EvaluationError(f"{run_folder}: a reader needs its word vectors: --vectors")
            from baselines.readers import running  # noqa: PLC0415  only here, since they load PyTorch

            running.predict(run_folder, files=files, vectors=options["vectors"], to=to, say=say)
            return System(nq.NAMES[reader], reader, to)
        from baselines.bert_joint import predicting  # noqa: PLC0415

        if "shape" not in recipe:
            raise EvaluationError(f"{run_folder}: doesn't answer Natural Questions")
        predicting.predict(run_folder, files=files, to=to, say=say)
    except ImportError as error:
        raise EvaluationError(NEEDS.format(what="a trained run")) from error
    control = (
        "without the question" if recipe["shape"]["blind"] else "from random weights" if recipe["from_scratch"] else ""
    )
    name = nq.NAMES["bert-joint"]
    return System(f"{name} {control} (control)" if control else name, "" if control else "bert-joint", to)


def _ranked(run_folder: Path, folder: Path, options: Mapping[str, Any], say: Say) -> System:
    """Return a run of a ranker with its ranking, which is made now."""
    name = record_read(run_folder)["recipe"].get("ranker")
    if name not in rankers.NAMES:
        raise EvaluationError(f"{run_folder}: holds no ranker")
    try:
        from baselines.rankers import ranking  # noqa: PLC0415  only here, since it loads PyTorch
    except ImportError as error:
        raise EvaluationError(NEEDS.format(what="a trained run")) from error
    to = folder / f"{run_folder.resolve().name}.run"
    ranking.rank(run_folder, release=options["release"], split=options["split"], to=to, say=say)
    return System(rankers.NAMES[name], name, to)
