#!/usr/bin/env python3
"""Run Quorate's commands: ``manage.py help`` lists them."""

import os
import sys

from django.core.management import execute_from_command_line

from storage.private import keep_private

if __name__ == "__main__":
    if "".join(sys.argv[1:2]).startswith("marketplace_"):  # a service of its own, with settings of its own
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.marketplace"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    keep_private()
    execute_from_command_line(sys.argv)
