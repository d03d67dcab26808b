"""Break the lines that count, claim, vote, pay and freeze, one at a time, and see whether a test notices.

By hand: ``python -m perf.mutants [--most 60] [--only counting]``; the result goes into docs/explanation/mutants.md.
Each mutant is made in a copy of the project and gets the tests of its room, which stop at the first failure.
"""

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUARDS = "tests/database/test_transactions.py"
ROOMS = {
    "counting": (
        "annotation/slots/services/counting.py",
        [
            GUARDS,
            "tests/annotation",
            "tests/quality",
            "tests/workforces/test_contract.py",
            "tests/workforces/link/test_panel_lists.py",
        ],
    ),
    "claims": (
        "annotation/slots/services/claims.py",
        [GUARDS, "tests/annotation", "tests/concurrency/test_races.py"],
    ),
    "voting": ("quality/labels/ties_and_rounds.py", ["tests/quality"]),
    "verdicts": (
        "quality/labels/services/verdicts.py",
        [GUARDS, "tests/quality", "tests/annotation/slots/test_counting.py", "tests/api/test_webhooks.py"],
    ),
    "pay": (
        "workforces/services/pay.py",
        [GUARDS, "tests/workforces/mturk/test_money.py", "tests/workforces", "tests/web/test_metrics.py"],
    ),
    "freeze": ("exports/families/verdicts.py", ["tests/exports", "tests/annotation/people/test_withdrawal.py"]),
}
COMPARISONS = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def mutants(tree: ast.Module):
    """Yield (line, what was done, undo) with the tree changed in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            before = node.ops[0]
            node.ops[0] = COMPARISONS[type(before)]()
            yield node.lineno, f"{type(before).__name__} → {type(node.ops[0]).__name__}"
            node.ops[0] = before
        elif isinstance(node, ast.BoolOp):
            before = node.op
            node.op = ast.Or() if isinstance(before, ast.And) else ast.And()
            yield node.lineno, "and ↔ or"
            node.op = before
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            before = node.value
            node.value = ast.Constant(value=None)
            yield node.lineno, f"without {ast.unparse(before)[:60]}"
            node.value = before
        elif isinstance(node, ast.If):
            before = node.test
            node.test = ast.Constant(value=False)
            yield node.lineno, f"never: if {ast.unparse(before)[:60]}"
            node.test = before


def is_killed(folder: Path, path: str, source: str, tests: list[str]) -> bool:
    """Return whether a test fails, or never ends, with this source."""
    (folder / path).write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "-m", "not browser", *tests]
    try:
        return subprocess.run(command, check=False, cwd=folder, capture_output=True, timeout=600).returncode != 0
    except subprocess.TimeoutExpired:  # it runs for ever: that is noticed too
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--only", choices=list(ROOMS))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    found = []
    for room, (path, _tests) in ROOMS.items():
        tree = ast.parse((ROOT / path).read_text())
        if options.only in (None, room):
            found += [(room, line, what, ast.unparse(tree)) for line, what in mutants(tree)]
    chosen = random.Random(options.seed).sample(found, min(options.most, len(found)))
    killed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "quorate"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", ".venv*", "var", "*_cache"))
        for number, (room, line, what, source) in enumerate(sorted(chosen), start=1):
            path, tests = ROOMS[room]
            kept = (folder / path).read_text()
            dead = is_killed(folder, path, source, tests)
            (folder / path).write_text(kept)
            killed += dead
            print(f"{number:3} {'killed' if dead else 'SURVIVED':9} {room}:{line} {what}", flush=True)
    print(f"{killed} of {len(chosen)} killed ({100 * killed / len(chosen):.0f}%); {len(found)} could be made")


if __name__ == "__main__":
    main()
