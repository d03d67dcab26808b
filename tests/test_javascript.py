"""The pure arithmetic of the pages, by Node's own runner."""

import hashlib
import json
import subprocess

import pytest

from tests.conftest import ROOT


@pytest.mark.node
def test_the_modules_arithmetic():
    files = sorted(str(path) for path in (ROOT / "tests/js").glob("*.test.js"))
    assert len(files) == 2
    run = subprocess.run(["node", "--test", *files], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout


def test_vendored_files_are_what_the_manifest_says():
    folder = ROOT / "static/vendor"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {entry["file"] for entry in manifest} == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for entry in manifest:
        assert hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
