"""``manage.py baseline``: predictions of baselines, trained or not, and data to try them on."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from baselines import untrained
from baselines.bert_joint import command as bert_joint
from documents.memory import OutOfMemory, add_memory_argument, memory_limited
from evaluation.files import EvaluationError
from storage.json_output import json_line


class Command(BaseCommand):
    """Train a baseline, or write its predictions."""

    requires_system_checks: list[str] = []
    help = (
        "Write the predictions of a baseline of Natural Questions, to hold systems against: first-paragraph, most-frequent "
        "and closest-question (section 6.1 of the paper) need no training; bert-joint is trained on a release first. "
        "generated writes a set of invented pages that a reader can learn. "
        "Example: manage.py baseline first-paragraph --questions 'nq-dev-*.jsonl.gz' --to predictions.json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of each baseline."""
        add_memory_argument(parser)
        names = parser.add_subparsers(dest="name", required=True)
        for name, about in untrained.HELP.items():
            own = names.add_parser(name, help=about, description=f"Predict {about}.")
            untrained.add_arguments(own)
            _add_json(own)
        joint = names.add_parser("bert-joint", help=bert_joint.HELP, description=bert_joint.HELP)
        for act in bert_joint.add_arguments(joint):
            _add_json(act)
        generated = names.add_parser(
            "generated", help="a set that can be learned", description="Write a generated set that a reader can learn."
        )
        generated.add_argument("--questions", type=int, default=300, help="to train on (default 300); 200 more for dev")
        generated.add_argument("--seed", type=int, default=1, help="the same seed gives the same set")
        generated.add_argument("--to", required=True, type=Path, metavar="DIR", help="where train/ and dev/ are made")
        _add_json(generated)

    def handle(self, *args: Any, **options: Any) -> None:
        """Train, predict or generate, and print what came of it."""
        try:
            found, text = self._done(options)
        except (EvaluationError, OutOfMemory, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json_line(found) if options["json"] else text)

    def _done(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if options["name"] == "bert-joint":
            return bert_joint.run(options, self.stderr.write)
        if options["name"] == "generated":
            return _generated(options["to"], questions=options["questions"], seed=options["seed"])
        with memory_limited(options["memory"]):
            found = untrained.predict(options["name"], options)
        return (
            found,
            f"{found['predictions']:,} predictions, {found['answered']:,} of them with an answer, in {options['to']}",
        )


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _generated(to: Path, *, questions: int, seed: int) -> tuple[dict[str, Any], str]:
    """Write the generated set: train with one annotation each, dev with five, as the published files have."""
    from baselines.nq.generated import generated_write  # noqa: PLC0415  tokenizing pages is not for the other baselines

    sets = {"train": (questions, seed, 1), "dev": (200, seed + 1_000, 5)}
    for name, (count, own, ways) in sets.items():
        (to / name).mkdir(parents=True, exist_ok=True)
        generated_write(to / name / f"nq-{name}-00.jsonl.gz", questions=count, seed=own, ways=ways)
    return {
        name: count for name, (count, _, _) in sets.items()
    }, f"{questions:,} questions to train on and 200 for dev in {to}"
