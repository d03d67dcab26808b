#!/usr/bin/env python3
"""Run Quorate's commands: ``manage.py help`` lists them."""

import os
import sys
from io import StringIO

import environ
from django.core.management import execute_from_command_line
from django.db import Error

from database.transactions import is_away
from storage.private import keep_private


def main() -> None:
    """Run a command; print a sentence instead of a traceback for faults outside the program."""
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (Error, OSError) as error:
        if "--traceback" in sys.argv or (isinstance(error, Error) and not is_away(error)):
            raise
        sys.exit(f"Error: {_said(error)}")


def _said(error: Exception) -> str:
    if not isinstance(error, OSError):
        return f"the database doesn't respond: {str(error).strip().splitlines()[0]}"
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def _load_environment() -> None:
    """Load the environment file that QUORATE_ENVIRONMENT names; what is set already stays as it is."""
    if path := os.environ.get("QUORATE_ENVIRONMENT"):
        try:
            text = open(path, encoding="utf-8").read()  # noqa: SIM115, PTH123  closed at once; pathlib costs a start
        except OSError as error:
            sys.exit(f"Error: QUORATE_ENVIRONMENT: {_said(error)}")
        environ.Env.read_env(StringIO(text))


if __name__ == "__main__":
    _load_environment()
    if "".join(sys.argv[1:2]).startswith("marketplace_"):  # a service of its own, with settings of its own
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.marketplace"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    keep_private()
    main()
