"""Reading tables: judgments whole, items and a large file row by row.

By hand: ``python -m perf.tables``. The files are made in a temporary folder from a seed.
"""

import random
import resource
import tempfile
import time
from pathlib import Path

from storage.tables.rows import read_rows

ITEMS, JUDGMENTS, LARGE_ROWS = 34_011, 147_381, 330_000


def write(folder: Path) -> None:
    """Write the files."""
    chance, words = random.Random(1), [f"word{number}" for number in range(3_000)]

    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    with (folder / "judgments.csv").open("w") as file:
        file.write("item,worker,label,seconds\n")
        for number in range(JUDGMENTS):
            item = number % ITEMS
            file.write(
                f"{item // 11}_{item % 11},w{chance.randrange(577)},{chance.randrange(1, 5)},{chance.uniform(3, 60):.1f}\n"
            )
    with (folder / "truth.csv").open("w") as file:
        file.write("item,truth\n")
        file.writelines(f"{item // 11}_{item % 11},{chance.randrange(1, 5)}\n" for item in range(0, ITEMS, 10))
    for name, rows, length in (("items.csv", ITEMS, 80), ("large.csv", LARGE_ROWS, 70)):
        with (folder / name).open("w") as file:
            file.write("question_id,question,answer_id,answer\n")
            file.writelines(
                f'{n // 11},"{text(10)}, {n // 11}",{n // 11}_{n % 11},"{text(length)}, so"\n' for n in range(rows)
            )


def main() -> None:
    """Read them, and print the time and memory that it took."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder)
        for name in ("items.csv", "large.csv"):
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            with (folder / name).open("rb") as file:
                rows = sum(1 for _ in read_rows(file, name))
            child = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = child.ru_utime - before.ru_utime + child.ru_stime - before.ru_stime
            size = (folder / name).stat().st_size / 2**20
            print(
                f"{name}: {rows:,} rows, {size:.0f} MiB, {time.perf_counter() - began:.2f} s, child {cpu:.2f} s CPU, at most {child.ru_maxrss / 1024:.0f} MiB"
            )
        from measures.judgment_files import judgments_read, truths_read

        judgments_read(folder / "judgments.csv")  # what is loaded once
        began = time.process_time()
        crowd = judgments_read(folder / "judgments.csv")
        truths_read(folder / "truth.csv", crowd)
        print(f"judgments.csv: {len(crowd.judgments):,} judgments with truths, {time.process_time() - began:.2f} s CPU")


if __name__ == "__main__":
    main()
