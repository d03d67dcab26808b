"""schemathesis against a live server, with each role's token: no 5xx, no answer that the description doesn't have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.utils import timezone

from jobs.ticks import tick
from tests.api.client import Api
from tests.guards.world import World

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
# The one who may do most gets every case of the description; of the others, each operation gets a few examples.
RUNS = {
    "manager": ("coverage,fuzzing", 10),
    **dict.fromkeys(("admin", "researcher", "expert", "annotator"), ("fuzzing", 3)),
}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,unsupported_method"
)


@pytest.mark.parametrize("principal", list(RUNS))
def test_whatever_is_sent_each_answer_is_one_that_is_described(principal, live_server, settings, tmp_path):
    settings.API_REQUESTS_PER_MINUTE = 1_000_000
    tick(now=timezone.now())
    world = World()
    api = Api(world.people[principal])
    (tmp_path / "schemathesis.toml").write_text(
        f'[parameters]\n"path.campaign" = "{world.campaign.slug}"\n"path.number" = 1\n"path.ordinal" = 1\n'
        f'"query.wait" = 0\n"path.item_id" = {world.values["item_id"]}\n"path.job_id" = "{world.values["job_id"]}"\n'
    )
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "schemathesis"),
            "--config-file",
            str(tmp_path / "schemathesis.toml"),
            "run",
            f"{live_server.url}/api/v1/openapi.json",
            "--header",
            f"Authorization: Bearer {api.secret}",
            "--checks",
            CHECKS,
            "--phases",
            RUNS[principal][0],
            "--max-examples",
            str(RUNS[principal][1]),
            "--suppress-health-check",
            "filter_too_much",
            "--warnings",
            "off",
            "--seed",
            "39",
            "--no-color",
            "--generation-database",
            "none",
        ],
        cwd=tmp_path,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.api.schemathesis_hooks", "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[:12_000] + done.stdout[-3_000:] + done.stderr[-2_000:]
