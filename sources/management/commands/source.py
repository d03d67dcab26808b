"""``manage.py source``: a step from raw material towards items."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from sources.step import StepError, read_report, step_again, step_make
from sources.steps import STEPS, elsewhere
from storage.json_output import json_line


class Command(ReadingCommand):
    """Run a step, or rerun it from its report."""

    help = (
        "Prepare items from raw material in steps. Each step writes a folder with a report of what was read, "
        "kept, and dropped, and why. The same files, parameters, and seed give the same bytes. queries: take long"
        " queries from logs as Natural Questions did. kinds: find nouns that name a kind of thing. heuristics: "
        "find queries that look like questions. pages: find the Wikipedia page of each question. questions: "
        "filter nfL6 as ANTIQUE did. bm25: rank a collection. pool: collect the pairs to judge from several runs."
        " triples: draw facts from a knowledge base. sentences: cut texts into sentences. elsewhere: convert "
        "records from other tools. again: repeat a step from its report. No database is needed. Example: "
        "manage.py source questions nfL6.json --sample 3000 --seed 7 --to questions/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of each step."""
        steps = parser.add_subparsers(dest="step", required=True)
        for key, step in STEPS.items():
            own = steps.add_parser(key, help=step.HELP, description=step.HELP)
            step.add_arguments(own)
            own.add_argument("--seed", type=int, default=0, metavar="N", help="seed for random draws (default 0)")
            _add_output(own)
        again = steps.add_parser("again", help="repeat a step and compare the output")
        again.add_argument("folder", type=Path, metavar="DIR", help="folder of the step to repeat")
        again.add_argument(
            "--files",
            type=Path,
            required=True,
            metavar="DIR",
            help="folder that contains the step's input files, at any depth",
        )
        _add_output(again)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the step and print its result."""
        try:
            if options.get("show"):
                self.stdout.write(elsewhere.show(options))
                return
            report, is_new = _again(options) if options["step"] == "again" else _made(options)
        except StepError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json_line(report))
            return
        self.stdout.write(STEPS[report["step"]].text(report))
        verb = "written to" if is_new else "is there already, nothing was written:"
        self.stdout.write(f"step {report['run']} {verb} {options['to']}")


def _add_output(parser: Any) -> None:
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="output folder, which must not exist yet")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _made(options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    step = STEPS[options["step"]]
    return step_make(
        step, inputs=step.inputs(options), parameters=step.parameters(options), seed=options["seed"], to=options["to"]
    )


def _again(options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    report = read_report(options["folder"])
    if report["step"] not in STEPS:
        raise StepError(f"{options['folder']}: there is no step called {report['step']}")
    return step_again(STEPS[report["step"]], report=report, files=options["files"], to=options["to"]), True
