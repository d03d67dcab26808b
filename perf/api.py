"""What the API costs: an import beside the same by command, and an export of all judgments.

``python -m perf.api`` starts a platform on SQLite. CPU seconds of the server's processes come from ``/proc``.
"""

import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tests.clients.platform import Platform

sys.path.insert(0, str(Path(__file__).parent.parent / "clients/python/src"))
from quorate_client import Quorate

ROWS, JUDGMENTS = 34_011, 150_000
TICKS = os.sysconf("SC_CLK_TCK")
NEW = {
    "task_type": "antique",
    "splits": [{"name": "train", "n": 5}],
    "consent": {"purpose": "a", "recorded": "b", "contact": "c"},
}
FILL = """
from django.utils import timezone
from accounts.models import Surrogate
from annotation.models import Annotation, AnnotationState, Campaign, Slot, SlotState
campaign = Campaign.objects.get(slug="api")
people = Surrogate.objects.bulk_create([Surrogate() for _ in range(5)])
now, rows = timezone.now(), []
slots = Slot.objects.filter(campaign=campaign).order_by("item_id", "index").values_list("pk", "item_id", "index")[:%d]
for number, (slot, item, index) in enumerate(slots):
    rows.append(Annotation(published_id=str(number), campaign=campaign, item_id=item, slot_id=slot,
        surrogate=people[index], answer={"label": 1 + number %% 4}, answer_version=1, state=AnnotationState.COUNTED,
        submitted_at=now, seconds=12.5, active_seconds=11.25, is_examined=True))
Annotation.objects.bulk_create(rows, batch_size=5000)
print(Annotation.objects.count())
"""


def pairs(path: Path) -> None:
    """Write as many pairs as ANTIQUE has."""
    with path.open("w") as file:
        for number in range(ROWS):
            names = {"question_id": f"q{number // 13}", "answer_id": f"a{number}"}
            texts = {"question": f"How do you repair thing {number // 13}?", "answer": f"Take screw number {number}."}
            file.write(json.dumps({**names, **texts}) + "\n")


def cpu_of(pids: list[int]) -> float:
    """Return the CPU seconds that processes and their ended children have used."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15]))
    return total / TICKS


def memory_of(pids: list[int]) -> float:
    """Return the largest resident set that any of the processes had, in megabytes."""
    peaks = [Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0] for pid in pids]
    return max(map(int, peaks)) / 1024


def command_cpu(platform: Platform, file: Path) -> float:
    before = os.times()
    platform.manage("import_items", str(file), "--campaign", "command")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        platform, file = Platform(Path(folder)), Path(folder) / "pairs.jsonl"
        pairs(file)
        platform.set_up()
        platform.start()
        try:
            measure(platform, file)
        finally:
            platform.stop()


def measure(platform: Platform, file: Path) -> None:
    pids = platform.children()
    with Quorate(platform.url, platform.token(), progress=False) as client:
        for slug in ("api", "command"):
            client.campaigns.create(title=slug, slug=slug, **NEW)
        idle = time.monotonic(), cpu_of(pids)
        time.sleep(5)
        rate = (cpu_of(pids) - idle[1]) / (time.monotonic() - idle[0])
        begin, before = time.monotonic(), cpu_of(pids)
        job = client.jobs.wait(client.items.import_file("api", file))
        seconds = time.monotonic() - begin
        by_api = cpu_of(pids) - before - rate * seconds
        by_command = command_cpu(platform, file)
        print(
            f"import of {job.result['imported']:,} items: API {by_api:.1f} s CPU, command {by_command:.1f} s CPU, "
            f"ratio {by_api / by_command:.2f}; {seconds:.1f} s by the clock"
        )
        client.jobs.wait(client.batches.launch("api", 1))
        print("judgments:", platform.manage("shell", "-c", FILL % JUDGMENTS).split()[-1])
        web = platform.children("gunicorn")
        base = memory_of(web)
        request = urllib.request.Request(
            f"{platform.url}/api/v1/campaigns/api/annotations",
            headers={
                "Authorization": client._transport._http.headers["Authorization"],
                "Accept": "application/x-ndjson",
            },
        )
        begin, size, lines, last = time.monotonic(), 0, 0, 0.0
        with urllib.request.urlopen(request) as response:
            while piece := response.read(2**20):
                size, lines = size + len(piece), lines + piece.count(b"\n")
        last = time.monotonic() - begin
        print(
            f"export of {lines:,} judgments: {size / 1e6:.1f} MB in {last:.2f} s, {size / 1e6 / last:.1f} MB/s; "
            f"peak memory of a web process {base:.0f} MB before, {memory_of(web):.0f} MB after"
        )


if __name__ == "__main__":
    main()
