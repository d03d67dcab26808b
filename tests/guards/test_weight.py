"""What start, tests and installation weigh: nothing here is timed."""

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from django.db.migrations.loader import MigrationLoader

from tests import factories
from tests.conftest import ROOT

MOST_MIGRATIONS = 60  # of all apps: 35 in 0.2.0, which can't be merged any more; 53 with those of social accounts
MOST_MODULES = 800  # that `manage.py help` imports: 690 in 0.2.0, 1,390 before
MOST_MEBIBYTES = 600  # of what `make demo` installs, without compiled bytecode: 550 in 0.2.0
HEAVY = {"boto3", "botocore", "celery", "kombu", "matplotlib", "numpy", "pandas", "pyarrow", "scipy"}
HELP = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.dev"
sys.stdout, out = sys.stderr, sys.stdout
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "help"])
out.write(json.dumps(sorted(sys.modules)))
"""

started = []


def _note(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
        started.append(arguments[:2])


sys.addaudithook(_note)


def test_few_migrations_are_loaded():
    assert len(MigrationLoader(None).disk_migrations) <= MOST_MIGRATIONS


def test_help_imports_nothing_heavy(tmp_path):
    environment = {"PATH": "", "QUORATE_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stdout)
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert len(modules) <= MOST_MODULES


def test_a_web_process_prepares_for_its_first_chart_in_the_background(tmp_path):
    code = (
        "import sys, threading; from measures.charts import svg; later = svg.prepare_soon;"
        "svg.prepare_soon = lambda seconds: later(seconds / 1000); import config.wsgi;"
        "[one.join() for one in threading.enumerate() if isinstance(one, threading.Timer)];"
        "sys.exit(not {'matplotlib.figure', 'matplotlib.backends.backend_svg'} <= set(sys.modules))"
    )
    environment = {"PATH": "", "DJANGO_SETTINGS_MODULE": "config.settings.dev", "QUORATE_DATA": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False).returncode == 0


@pytest.mark.django_db
def test_the_worlds_of_fast_tests_start_no_process():
    started.clear()
    questions = factories.campaign(items=1)
    factories.annotate(questions, factories.annotator(questions))
    relevance = factories.antique(items=2, n=1, gold=2)
    factories.vote(relevance, factories.annotator(relevance), 4)
    factories.examine(relevance)
    assert started == []


def test_what_is_installed_to_run_stays_small():
    names = re.findall(r"^([A-Za-z0-9_.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    total = 0
    for name in names:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # for another system
            continue
        total += sum(file.size or 0 for file in files if file.suffix != ".pyc")
    assert len(names) > 30
    assert 100 < total / 2**20 <= MOST_MEBIBYTES
