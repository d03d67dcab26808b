"""The marketplace's commands in a process that stays: a command a line on standard input, its result a line back.

Starting Python again for each command takes a second, and a test of the workforces gives three of them.
"""

import contextlib
import io
import json
import sys

import django
from django.core.management import execute_from_command_line
from django.db import connections


def run(arguments):
    """Return the exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            execute_from_command_line(["manage.py", *arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
    connections.close_all()
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    django.setup()
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
