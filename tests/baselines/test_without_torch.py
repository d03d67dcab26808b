"""Without PyTorch everything else works: no process of the platform loads it, and the command says how to get it."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("torch", "transformers", "tokenizers", "safetensors")


@pytest.fixture
def blocked(monkeypatch):
    """Let the four be as if they weren't installed, and what imports them not be loaded yet."""
    for name in [*sys.modules]:
        if name.startswith("baselines.") or name.partition(".")[0] in HEAVY:
            monkeypatch.delitem(sys.modules, name)
    for name in HEAVY:
        monkeypatch.setitem(sys.modules, name, None)


def test_a_trained_baseline_says_in_one_sentence_what_it_needs(blocked, tmp_path):
    with pytest.raises(CommandError, match="needs PyTorch and transformers: pip install torch"):
        call_command(
            "baseline", "bert-joint", "train", str(tmp_path), "--encoder", str(tmp_path), "--to", str(tmp_path)
        )


def test_the_generated_set_needs_none_of_it_and_its_seed_decides(blocked, tmp_path):
    for folder in ("a", "b"):
        call_command("baseline", "generated", "--questions", "5", "--seed", "3", "--to", str(tmp_path / folder))
    both = [sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file()) for folder in ("a", "b")]
    assert len(both[0]) == len(both[1]) == 12
    assert [path.read_bytes() for path in both[0]] == [path.read_bytes() for path in both[1]]


def test_no_process_of_the_platform_loads_it():
    code = (
        "import sys, django; django.setup()\n"
        "from django.core.wsgi import get_wsgi_application; get_wsgi_application()\n"
        "import config.urls, config.celery; from jobs.registry import kinds, sweeps; kinds(); sweeps()\n"
        f"print(sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
