"""The pure arithmetic of the pages, by Node's own runner."""

import hashlib
import json
import subprocess

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage

from tests.conftest import ROOT
from web.static import whole

STATIC = FileSystemStorage(ROOT / "static")
SOURCES = {
    str(path.relative_to(ROOT / "static")): (STATIC, str(path.relative_to(ROOT / "static")))
    for path in (ROOT / "static").rglob("*.*")
}


@pytest.mark.node
def test_the_modules_arithmetic():
    files = sorted(str(path) for path in (ROOT / "tests/js").glob("*.test.js"))
    assert len(files) == 2
    run = subprocess.run(["node", "--test", *files], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout


@pytest.mark.node
@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".js") and not name.startswith("vendor")])
def test_a_module_and_what_it_imports_fit_into_one_file(name, tmp_path):
    text = whole(name, SOURCES)
    assert "import {" not in text
    (tmp_path / "whole.mjs").write_text(text)
    run = subprocess.run(["node", "--check", tmp_path / "whole.mjs"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


def test_each_import_is_written_once_and_one_of_nothing_is_an_error():
    text = whole("annotation/nq.js", SOURCES)
    assert text.count("class Desk ") == text.count("function _(") == 1
    assert text.index("class Draft ") < text.index("class Desk ") < text.index("start({")
    style = whole("css/annotate.css", SOURCES)
    assert style.index(".document {") < style.index("body.desk")
    with pytest.raises(ImproperlyConfigured, match=r"annotation/nq.js: there is no annotation/boxes.js"):
        whole("annotation/nq.js", {"annotation/nq.js": SOURCES["annotation/nq.js"]})


def test_an_import_of_another_form_is_an_error(tmp_path):
    (tmp_path / "a.js").write_text('import * as all from "./b.js";\n')
    with pytest.raises(ImproperlyConfigured, match=r"a.js: 'import \* as all"):
        whole("a.js", {"a.js": (FileSystemStorage(tmp_path), "a.js")})


def test_vendored_files_are_what_the_manifest_says():
    folder = ROOT / "static/vendor"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {entry["file"] for entry in manifest} == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for entry in manifest:
        assert hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
