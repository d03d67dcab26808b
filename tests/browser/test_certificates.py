"""Certificates in the browser: from frozen labels to the result, and the page with which a stranger checks it."""

import os
import shutil

import pytest

from quality.certificates.entries import LABELS, RECORD
from quality.models import Certificate, CertificateState
from tests import factories
from tests.axe import PHONE, assert_accessible
from tests.quality.certificates.audits import TAMPERED, certified, drawn
from tests.quality.certificates.worlds import ITEMS, go_on, labelled_campaign

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


def test_a_stranger_finds_what_was_changed_and_nothing_else(checked, tmp_path):
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


def test_an_audit_that_goes_on_is_no_certificate(checked, tmp_path):
    out, _order = drawn(tmp_path)
    said, facts = checked(out)
    assert said == "The record is consistent, and there is no certificate."
    assert "open after 0 judgments" in facts
    (out / RECORD).write_text("no json\n")
    assert "can't be read" in checked(out)[0]


@pytest.mark.django_db(transaction=True)
def test_a_campaign_goes_from_frozen_labels_to_a_certificate(open_browser, checked, tmp_path):
    campaign, boss, experts = labelled_campaign()
    manager = open_browser(boss)
    page, url = manager.page, f"/campaigns/{campaign.slug}/certificates/"
    manager.go(url)
    page.fill("#effort_error", "0.2")
    page.get_by_role("button", name="Calculate").click()
    page.get_by_text("Judgments until the certificate (simulated), and hours at 30 seconds per judgment").wait_for()
    page.fill("#id_source", "drand quicknet, round 4711000")
    page.get_by_role("button", name="Freeze labels").click()
    page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    manager.go(url)
    published = page.locator(".copy code").inner_text()
    page.fill("#id_seed", "8F")
    page.get_by_role("button", name="Set the seed and start").click()
    page.get_by_text("Enter digits and letters from a to f, in lower case.").first.wait_for()
    page.fill("#id_seed", "8f3a")
    page.get_by_role("button", name="Set the seed and start").click()
    page.get_by_text("Experts find the items among their cases").wait_for()
    factories.run_jobs()
    desks = [open_browser(expert) for expert in experts]
    while Certificate.objects.get().state == CertificateState.JUDGING:
        for desk in desks:
            judge_all(desk, campaign)
        go_on()
    manager.go(url)
    page.get_by_text(f"At most 20% of the {ITEMS} labels are wrong, at a risk of 5%.").wait_for()
    assert_accessible(page, "certificates")
    for name in (LABELS, RECORD, "check.html"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        download.value.save_as(tmp_path / name)
    said, facts = checked(tmp_path)
    assert said.startswith("The certificate holds") and published in facts
    phone = open_browser(boss, **PHONE)
    phone.go(url)
    assert_accessible(phone.page, "certificates on a phone")


def judge_all(desk, campaign):
    """Judge the open cases of an expert with the keyboard, as 4."""
    desk.go(f"/campaigns/{campaign.slug}/cases/")
    while desk.page.locator("form[data-grades]").count():
        with desk.page.expect_navigation():
            desk.page.keyboard.press("4")
