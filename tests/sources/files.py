"""Raw material for the tests: questions as nfL6 has them, a collection, runs; and steps over them."""

import json
from io import StringIO

from django.core.management import call_command


def record(key, question, answers=("Turn it slowly.", "Ask a smith."), best=0, category="Home"):
    """Return a record of nfL6."""
    return {
        "main_category": category,
        "question": question,
        "nbestanswers": list(answers),
        "answer": answers[best] if best is not None else "",
        "id": key,
    }


def lines(path, rows):
    """Write rows as JSON lines, or texts as lines."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def step(*arguments, **options):
    """Make a step; return its report."""
    out = StringIO()
    call_command("source", *map(str, arguments), "--json", stdout=out, **options)
    return json.loads(out.getvalue())


def rows(path):
    """Return the rows of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
