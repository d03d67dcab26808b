"""The drawing of the rooms in the guide for developers is that of the import contracts and of the installed apps."""

import re
import tomllib
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs/how-to/develop.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```", GUIDE[GUIDE.index("## The rooms") :], re.MULTILINE | re.DOTALL)
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


def rooms(block):
    """Return the rooms of each line of a drawing: its first column."""
    return [[name.strip() for name in re.split(r"  +", line)[0].split("│")] for line in block.splitlines()]


def test_the_drawing_stands_in_the_order_of_the_contract():
    (contract,) = [one for one in LINTER["contracts"] if one["name"] == "Apps depend downwards"]
    assert rooms(BLOCKS[0]) == [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def test_every_room_is_drawn():
    drawn = {name for block in BLOCKS[:2] for line in rooms(block) for name in line}
    assert drawn == set(LINTER["root_packages"])
    assert {
        app.partition(".")[0] for app in settings.INSTALLED_APPS if (ROOT / app.partition(".")[0]).is_dir()
    } <= drawn


def test_every_folder_that_it_names_is_there():
    for line in BLOCKS[0].splitlines():
        (room, *_), text = rooms(line)[0], re.split(r"  +", line, maxsplit=1)[1]
        for names in re.findall(r"(\w+)/(?=[ ){│]|$)", text.partition(" │ ")[0]):
            assert (ROOT / room / names).is_dir(), (room, names)


def test_every_file_that_the_guide_names_is_there():
    for path in re.findall(r"`((?:[\w.]+/)+[\w.]+\.\w+)`", GUIDE):
        found = list(ROOT.glob(path)) or list(ROOT.glob(f"workforces/{path}"))
        assert found, path
