"""The notebook of the client runs from its first cell to its last, as someone without Django runs it."""

import json
import subprocess
import sys

import pytest

from tests.clients.conftest import SOURCE
from tests.conftest import ROOT

NOTEBOOK = ROOT / "clients/python/examples/whole-campaign.ipynb"


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_the_notebook_goes_from_raw_questions_to_a_scored_release(platform, secret, tmp_path):
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)  # nothing of a run is kept
    (tmp_path / "notebook.py").write_text("\n\n".join("".join(cell["source"]) for cell in cells))
    crowd = f"{sys.executable} {ROOT / 'manage.py'} crowd --people 8 --spam 0 --url {platform.url}"
    environment = {**platform.environment, "PYTHONPATH": str(SOURCE), "QUORATE_CROWD": crowd}
    done = subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=tmp_path,
        env={**environment, "QUORATE_URL": platform.url, "QUORATE_TOKEN": secret},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "MRR" in done.stdout
