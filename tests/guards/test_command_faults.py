"""Every command that reads files says what is wrong with them in a sentence, and so does every one without a database."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from tests import factories
from tests.conftest import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_sqlite]

OWN = sorted(
    path.stem
    for path in ROOT.glob("*/management/commands/*.py")
    if path.stem != "__init__" and not path.stem.startswith("marketplace_")
)
FILES = {"data", "file", "gold", "questions", "source", "train"}  # arguments that may also be "-", or several files
SERVE = {"serve", "worker", "demo", "demo_archives", "replay", "crowd"}  # start other processes

# Django is started once; each command is a process of its own, forked from there.
EACH = """
import json, os, runpy, signal, sys, traceback
import django
django.setup()
commands, folder = json.loads(sys.argv[1]), sys.argv[2]
for number, words in enumerate(commands):
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    os.dup2(os.open(f"{folder}/{number}", os.O_WRONLY | os.O_CREAT), 2)
    signal.alarm(120)
    sys.argv = ["manage.py", *words]
    try:
        runpy.run_path("manage.py", run_name="__main__")
    except SystemExit as ended:
        print(ended, file=sys.stderr)  # as Python does last
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)
"""


def parsers(name):
    """Yield (leading words, parser) of a command and its sub-commands."""
    command = load_command_class(get_commands()[name], name)
    yield from _below((name,), command.create_parser("manage.py", name))


def _below(words, parser):
    subs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not subs:
        yield words, parser
    for action in subs:
        for word, sub in action.choices.items():
            yield from _below((*words, word), sub)


def names_file(action):
    return action.type is Path or (action.type is None and action.nargs != 0 and action.dest in FILES)


def filled(parser, path, only=None):
    """Return arguments for all that a parser requires, and for one option more; files are all at ``path``."""
    given = []
    for action in parser._actions:
        is_wanted = action.required or action is only
        if not is_wanted or isinstance(action, argparse._HelpAction):
            continue
        value = str(path) if names_file(action) else "1" if action.type in (int, float) else "x"
        value = str(next(iter(action.choices))) if action.choices else value
        values = [value] * (action.nargs if isinstance(action.nargs, int) else 1)
        given += [action.option_strings[-1], *values] if action.option_strings else values
    return given


def read_from():
    """Return (words, action) of every argument that names a file."""
    return [
        (words, action)
        for name in OWN
        if name not in SERVE
        for words, parser in parsers(name)
        for action in parser._actions
        if names_file(action) and action.dest not in ("to", "pythonpath")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("there", ["nothing", "a folder", "a file"])
def test_each_file_argument_of_each_command(tmp_path, there):
    factories.campaign(slug="x")
    path, found = tmp_path / "given", []
    for words, action in read_from():
        if there == "a folder":
            path.mkdir(exist_ok=True)
        elif there == "a file":
            path.write_bytes(b"\x00\xff no file of ours \n")
        [parser] = [parser for one, parser in parsers(words[0]) if one == words]
        try:
            call_command(words[0], *words[1:], *filled(parser, path, action))
        except (CommandError, SystemExit):
            continue
        except Exception as error:  # noqa: BLE001  all that is no sentence
            found.append((" ".join(words), action.dest, repr(error)[:200]))
    assert found == []


@pytest.mark.slow
def test_no_command_prints_a_traceback_where_the_database_is_away(tmp_path):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "QUORATE_DATA": str(tmp_path),
    }
    commands = []
    for name in OWN:
        if name not in SERVE:
            words, parser = next(iter(parsers(name)))
            commands.append([*words, *filled(parser, tmp_path / "none")])
    asked = [sys.executable, "-c", EACH, json.dumps(commands), str(tmp_path)]
    subprocess.run(asked, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, check=True, timeout=600)
    for number, words in enumerate(commands):
        said = (tmp_path / str(number)).read_text()
        assert said, words
        assert "Traceback" not in said, (words, said[-600:])
