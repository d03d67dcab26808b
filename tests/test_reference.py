"""Pages of the reference that follow from the code are what the code says now."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


@pytest.mark.parametrize("name", list(generate.PAGES))
def test_a_generated_page_is_what_the_code_says_now(name):
    assert (ROOT / "docs/reference" / name).read_text() == generate.PAGES[name](), "run make reference"


def test_every_command_has_a_sentence_an_example_and_a_meaning_for_each_option():
    page = (ROOT / "docs/reference/commands.md").read_text()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    commands = {path.stem for path in ROOT.glob("*/management/commands/*.py") if path.stem != "__init__"}
    assert {section.split("`")[1] for section in sections} == commands
    for section in sections:
        name = section.split("`")[1]
        assert f"manage.py {name}" in section, name
        assert not re.search(r"^\| .* \|  \|$", section, re.MULTILINE), name


def test_every_guide_that_it_points_to_is_there():
    for target in generate.GUIDES.values():
        path, _, anchor = target.partition("#")
        text = (ROOT / "docs/reference" / path).resolve().read_text()
        headings = {
            re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-")
            for one in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        }
        assert not anchor or anchor in headings, target
