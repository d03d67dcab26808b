"""``manage.py baseline``: predictions of baselines, trained or not, and data to try them on."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from baselines import table_command, untrained
from baselines.arguments import predictions_text
from baselines.bert_joint import command as bert_joint
from baselines.nlpcc import command as nlpcc
from baselines.rankers import command as rankers
from baselines.readers import command as readers
from documents.memory import OutOfMemory, add_memory_argument, memory_limited
from evaluation.files import EvaluationError
from storage.json_output import json_line

# Read when PyTorch is loaded: threads that wait leave their core to others. Without it, small steps take 40 times as long
# beside another busy process.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

TRAINED = {"bert-joint": bert_joint, "reader": readers, "rank": rankers}


class Command(BaseCommand):
    """Train a baseline, or write its predictions."""

    requires_system_checks: list[str] = []
    help = (
        "Write the predictions of a baseline, for comparison with other systems. For Natural Questions, "
        "first-paragraph, most-frequent, and closest-question (section 6.1 of the paper) need no training. "
        "bert-joint and the readers of section 6 are first trained on a release. rank trains an answer ranker on "
        "a release in the ANTIQUE format. generated writes synthetic pages, questions, and answers for trying out"
        " the baselines. Example: manage.py baseline first-paragraph --questions 'nq-dev-*.jsonl.gz' --to "
        "predictions.json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of each baseline."""
        add_memory_argument(parser)
        names = parser.add_subparsers(dest="name", required=True)
        for name, about in untrained.HELP.items():
            own = names.add_parser(name, help=about, description=f"Predict {about}.")
            untrained.add_arguments(own)
            _add_json(own)
        for name, about in nlpcc.HELP.items():
            own = names.add_parser(name, help=about, description=f"Predict by {about}.")
            nlpcc.add_arguments(own, name)
            _add_json(own)
        for name, trained in TRAINED.items():
            own = names.add_parser(name, help=trained.HELP, description=trained.HELP)
            for act in trained.add_arguments(own):
                _add_json(act)
        table = names.add_parser("table", help=table_command.HELP, description=table_command.HELP)
        table_command.add_arguments(table)
        _add_json(table)
        generated = names.add_parser(
            "generated",
            help="synthetic data for trying out the baselines",
            description="Write synthetic pages, questions, and answers that a reader can learn from.",
        )
        generated.add_argument(
            "--questions",
            type=int,
            default=300,
            help="number of training questions (default 300); the dev set always has 200",
        )
        generated.add_argument("--seed", type=int, default=1, help="random seed; the same seed gives the same data")
        generated.add_argument(
            "--to",
            required=True,
            type=Path,
            metavar="DIR",
            help="output folder, in which nq/, antique/, and antique-unseen/ are created",
        )
        _add_json(generated)

    def handle(self, *args: Any, **options: Any) -> None:
        """Train, predict or generate, and print the result."""
        try:
            found, text = self._done(options)
        except (EvaluationError, OutOfMemory, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json_line(found) if options["json"] else text)

    def _done(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if options["name"] in TRAINED:
            found, text = TRAINED[options["name"]].run(options, self.stderr.write)
            return found, text
        if options["name"] == "table":
            return table_command.run(options, self.stderr.write)
        if options["name"] == "generated":
            return _generated(options["to"], questions=options["questions"], seed=options["seed"])
        with memory_limited(options["memory"]):
            if options["name"] in nlpcc.HELP:
                return nlpcc.predict(options["name"], options)
            found = untrained.predict(options["name"], options)
        return found, predictions_text(found, options["to"])


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _generated(to: Path, *, questions: int, seed: int) -> tuple[dict[str, Any], str]:
    """Write the generated sets. For pages, train has one annotation each and dev five, like the published files."""
    from baselines.nq.generated import generated_write  # noqa: PLC0415  tokenizing pages is not for the other baselines
    from baselines.rankers.generated import generated_ranking_write, unseen_ranking_write  # noqa: PLC0415

    generated_ranking_write(to / "antique", train=questions, test=100, seed=seed)
    unseen_ranking_write(to / "antique-unseen", train=questions, test=100, seed=seed)
    sets = {"train": (questions, seed, 1), "dev": (200, seed + 1_000, 5)}
    for name, (count, own, ways) in sets.items():
        folder = to / "nq" / name
        folder.mkdir(parents=True, exist_ok=True)
        generated_write(folder / f"nq-{name}-00.jsonl.gz", questions=count, seed=own, ways=ways)
    return {
        name: count for name, (count, _, _) in sets.items()
    }, f"{questions:,} questions to train on and 200 for dev in {to}"
