"""Nothing outside its folder names a kind of workforce, or asks for a stage of a task type."""

import re
from pathlib import Path

import pytest

from annotation.tasktypes.registry import TASK_TYPES, pages_of
from workforces.kinds.registry import KINDS

ROOT = Path(__file__).parent.parent.parent
ROOMS = "accounts annotation config console database documents evaluation exports jobs quality sources storage templates web workforces"
FILES = [
    path
    for room in ROOMS.split()
    for path in sorted((ROOT / room).rglob("*"))
    if path.suffix in (".py", ".html") and "migrations" not in path.parts
]
ALLOWED = {
    "annotation/models/work.py": "internal",  # what `Annotation.via` says of members
    "sources/rules/tools/registry.py": "mturk",  # the export format of that name
    "annotation/people/views/people.py": "link",  # an invitation by a link
    "templates/annotation/people.html": "link",
    "templates/allauth/elements/button.html": "link",  # a tag of the form library
    "sources/rules/pages.py": "link",  # a column of a table
}


def mentions(key):
    """Return the files outside a kind's folder that have its key as a string."""
    quoted, own = re.compile(rf"""["']{key}["']"""), ROOT / "workforces/kinds" / key
    return {
        str(path.relative_to(ROOT))
        for path in FILES
        if own not in path.parents and path.name != f"{key}.html" and quoted.search(path.read_text())
    }


@pytest.mark.parametrize("key", sorted(KINDS))
def test_no_file_outside_its_folder_names_a_kind_of_workforce(key):
    assert mentions(key) == {name for name, allowed in ALLOWED.items() if allowed == key}


@pytest.mark.parametrize("key", sorted(KINDS))
def test_no_file_outside_its_folder_imports_a_kind_of_workforce(key):
    line, own = (
        re.compile(rf"^ *(from|import) workforces\.kinds\.{key}\b", re.MULTILINE),
        ROOT / "workforces/kinds" / key,
    )
    found = {str(path.relative_to(ROOT)) for path in FILES if own not in path.parents and line.search(path.read_text())}
    assert found == set()


@pytest.mark.parametrize("task_type", TASK_TYPES.values(), ids=list(TASK_TYPES))
def test_each_stage_has_a_name_and_no_template_of_all_task_types_asks_for_one(task_type):
    assert set(pages_of(task_type.key).stage_names) == set(task_type.stages)
    own = {ROOT / "templates/annotation" / key for key in (*TASK_TYPES, "writing")}
    asks = re.compile(rf"""\bstage\s*[!=]=\s*["']|["']({"|".join(task_type.stages)})["']\s*[!=]=""")
    shared = [path for path in FILES if path.suffix == ".html" and own.isdisjoint(path.parents)]
    assert [str(path) for path in shared if asks.search(path.read_text())] == []
