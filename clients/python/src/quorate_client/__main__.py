"""``python -m quorate_client``: the command line."""

from quorate_client.cli import run

run()
