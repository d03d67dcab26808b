"""The folders and ports of a machine in a folder, in place of the system's; as a script it changes files: places.py ROOT PORTS FILE..."""

import json
import re
import sys
from pathlib import Path

FOLDERS = (
    "/opt/quorate",
    "/etc/quorate",
    "/etc/nginx",
    "/etc/systemd",
    "/etc/letsencrypt",
    "/var/lib/quorate",
    "/var/backups",
    "/var/log/nginx",
    "/var/www/html",
    "/run/quorate",
    "/usr/local/bin",
)
_FOLDER = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, FOLDERS)) + r")")


def rewritten(text, root, ports):
    """Return a text with other folders and ports; a text that has them already stays the same."""
    text = _FOLDER.sub(lambda found: f"{root}{found[1]}", text)
    for known, ours in ports.items():
        text = re.sub(rf"(?<=[:\s]){known}\b", ours, text)
    return text


if __name__ == "__main__":
    for name in sys.argv[3:]:
        path = Path(name)
        path.write_text(rewritten(path.read_text(), sys.argv[1], json.loads(sys.argv[2])))
