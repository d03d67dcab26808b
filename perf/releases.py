"""What a release costs: ``python -m perf.releases [--labels N]``.

A judged campaign of relevance labels, three votes each: seconds and CPU of freezing it, of the qrels alone, and of
everything, beside plain gzip copying of the same bytes; and the peak memory of this process.
"""

import argparse
import gzip
import resource
from pathlib import Path

from perf.setup import start

FOLDER = Path(start())

from django.utils import timezone

from annotation.models import Annotation, Campaign, Item
from exports.build import build_release
from exports.families import FAMILIES
from exports.services import release_freeze
from exports.targets import FolderTarget
from perf.campaigns import created, pairs_import, pairs_judge, pairs_launch, pairs_vote, write_pairs
from perf.figures import measured


def judged(labels: int) -> Campaign:
    """Return a campaign with this number of labels by majority."""
    made, path = created("labels"), FOLDER / "pairs.jsonl"
    write_pairs(path, labels)
    pairs_import(made, path)
    pairs_launch(made)
    pairs_vote(made, labels)
    pairs_judge(made, labels)
    return made


def _quiet(*_said: object) -> None:
    pass


def _copied(folder: Path) -> None:
    """Compress the same bytes with gzip, as the floor."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            with gzip.open(FOLDER / "copy.gz", "wb", compresslevel=1) as target:
                target.write(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def main() -> None:
    """Make the campaign and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=30_000)
    options = parser.parse_args()
    campaign = judged(options.labels)
    print(Item.objects.count(), "items", Annotation.objects.count(), "annotations", flush=True)
    made = []

    def freeze() -> None:
        made.append(
            release_freeze(
                campaign=campaign,
                family="antique",
                ways=None,
                splits=[],
                seed=0,
                shards=1,
                actor_id=None,
                now=timezone.now(),
            )
        )

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    measured("freeze", freeze)
    [release], out = made, FOLDER / "release"
    qrels, nothing = FOLDER / "qrels", FOLDER / "part"
    nothing.mkdir()
    measured("qrels alone", lambda: FAMILIES["antique"].write(release, nothing, FolderTarget(qrels), _quiet, {}))
    measured("everything", lambda: build_release(release, FolderTarget(out), _quiet))
    measured("gzip of the same bytes", lambda: _copied(out))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {before / 1024:.0f} MB before, {after / 1024:.0f} MB after", flush=True)


if __name__ == "__main__":
    main()
