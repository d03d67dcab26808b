"""The page with which a stranger checks a certificate: opened from a folder, without a server."""

import os
import shutil

import pytest

from quality.certificates.record import LABELS, RECORD
from tests.quality.certificates.audits import TAMPERED, certified, drawn

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def checked(browser):
    """Return a function that opens the page of a folder, chooses its files, and returns what it says."""
    page = browser.new_page(viewport={"width": 390, "height": 800})

    def check(out):
        page.goto((out / "check.html").as_uri())
        page.set_input_files("#labels", out / LABELS)
        page.set_input_files("#record", out / RECORD)
        page.wait_for_function("document.getElementById('said').className")
        return page.inner_text("#said"), page.inner_text("#found")

    yield check
    if folder := os.environ.get("QUORATE_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/certificate.png", full_page=True)
    page.close()


def test_a_stranger_finds_what_was_changed_and_nothing_else(checked, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "one").mkdir()
    out = certified(tmp_path / "one")
    said, facts = checked(out)
    assert said.startswith("The certificate holds, if the hash and the key below")
    assert (
        "at most 5% of 200 labels are wrong, at a risk of 5%" in facts
        and "4f2a, from (stated before the draw): a beacon" in facts
    )
    for kind, tamper in TAMPERED.items():
        copy = tmp_path / kind
        shutil.copytree(out, copy)
        tamper(copy)
        said, facts = checked(copy)
        assert "problems found" in said, (kind, facts)


def test_an_audit_that_goes_on_is_no_certificate(checked, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    out, _order = drawn(tmp_path)
    said, facts = checked(out)
    assert said == "The record is consistent, and there is no certificate."
    assert "open after 0 judgments" in facts
    (out / RECORD).write_text("no json\n")
    assert "can't be read" in checked(out)[0]
