"""What examining a backlog of votes costs: ``python -m perf.verdicts [--pairs N] [--most 20 80]``.

Three votes a pair, two of them alike; the sizes of a transaction in turns, on the same votes.
"""

import argparse
from itertools import count

from perf.calibration import calibration
from perf.campaigns import FOLDER, created, pairs_import, pairs_launch, pairs_vote, work, write_pairs
from perf.figures import cpu, figures

# isort: split
from django.db import connection

from annotation.models import Annotation, Campaign
from quality.examination import services
from quality.models import Inspection, Verdict

TURNS = 3


def examined(made: Campaign, most: int) -> tuple[float, float]:
    """Return the annotations examined in a second of CPU, and the statements of each."""
    Verdict.objects.all().delete()
    Inspection.objects.all().delete()
    votes = Annotation.objects.update(is_examined=False)
    services.MOST, statements = most, count()
    begun = cpu()[0]
    with connection.execute_wrapper(lambda execute, *asked: (next(statements), execute(*asked))[1]):
        services.campaign_examine(work=work(), campaign=made)
    spent = cpu()[0] - begun
    assert not Annotation.objects.filter(is_examined=False).exists()
    return votes / spent, next(statements) / votes


def main() -> None:
    """Measure each size in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--most", type=int, nargs="+", default=[20, 80])
    asked = parser.parse_args()
    write_pairs(FOLDER / "pairs.jsonl", asked.pairs)
    made = created("judged")
    pairs_import(made, FOLDER / "pairs.jsonl")
    pairs_launch(made)
    pairs_vote(made, asked.pairs)
    for most in asked.most * TURNS:
        speed, statements = examined(made, most)
        print(f"at most {most}: {speed:,.0f} annotations a second of CPU, {statements:.2f} statements each", flush=True)
    figures(**calibration())


if __name__ == "__main__":
    main()
