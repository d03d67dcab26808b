"""What a release takes of memory does not grow with it: measured on processes of their own."""

import os

import pytest

from perf.peak import run

pytestmark = [pytest.mark.slow, pytest.mark.on_sqlite]
SMALL, LARGE = 100, 500

SET_UP = f"""
import random
from annotation.campaigns.services.campaigns import NewSplit
from tests import factories
draw = random.Random(5)
campaign = factories.campaign(n=1, slug="memory", splits=[NewSplit("small", 1, {SMALL}), NewSplit("large", 1, {LARGE})])
for page in range(10):
    words = " ".join("%x" % draw.getrandbits(24) for _ in range(4_000))
    factories.import_page(campaign, f"<p>The harbour was built in 1870.</p><p>{{words}}</p>", f"page{{page}}.html")
rows = [{{"question": f"who built harbour {{n}}", "document": f"page{{n % 10}}.html", "id": str(n)}} for n in range({SMALL + LARGE})]
factories.import_rows(campaign, rows)
for n, item in enumerate(campaign.items.order_by("pk")):
    campaign.items.filter(pk=item.pk).update(split=campaign.splits.get(name="small" if n < {SMALL} else "large"))
factories.launch(campaign)
person = factories.annotator(campaign)
for _ in rows:
    factories.annotate(campaign, person, box=1)
"""


def peak(*command, environment):
    """Run a command; return the most memory that it held, in MiB."""
    ran = run("manage.py", *command, environment=environment)
    assert ran.status == 0, ran.said
    return ran.peak


def test_five_times_as_many_items_take_no_more_memory(tmp_path):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/app.sqlite3",
        "CELERY_BROKER_URL": "",
    }
    peak("migrate", "-v0", environment=environment)
    peak("shell", "-c", SET_UP, environment=environment)
    used = {}
    for split in ("small", "large"):
        out = tmp_path / split
        command = ["release", "memory", "--format", "nq-original", "--ways", "1", "--split", split, "--to", str(out)]
        used[split] = peak(*command, environment=environment)
        assert (out / f"nq-{split}-00.jsonl.gz").stat().st_size > 1_000_000
    print(used)
    assert used["large"] < used["small"] + 25, used
