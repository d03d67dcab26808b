"""Questions written in Chinese, through an input method: from the import to a scored release, by accounts, link and marketplace."""

import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation
from tests import factories, writing
from tests.axe import DESKTOP, PHONE, assert_accessible
from tests.browser.test_relevance import LINK, at_market  # noqa: F401  fixture
from tests.workforces.conftest import desk, market  # noqa: F401  fixtures
from tests.workforces.link.panel import confirm
from workforces.services.workforces import workforce_add

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class InputMethod:
    """An input method as Chromium sees one: pieces of a word under composition, then the word that was chosen."""

    def __init__(self, page, target=None):
        self.page = page
        self.session = page.context.new_cdp_session(target or page)

    def write(self, text):
        """Compose a text two signs at a time, each from Latin letters."""
        for start in range(0, len(text), 2):
            chosen = text[start : start + 2]
            for length in (1, 2, 3):
                latin = "pin"[:length]
                self.session.send(
                    "Input.imeSetComposition", {"text": latin, "selectionStart": length, "selectionEnd": length}
                )
            self.session.send("Input.insertText", {"text": chosen})


def remarks(page):
    return page.locator("[data-remarks] li").all_inner_texts()


def saved(page):
    """Wait until the server has the draft."""
    page.wait_for_function(
        "() => !Object.keys(sessionStorage).some((key) => key.includes(document.querySelector('[data-assignment]').dataset.assignment))"
    )


def at_desk(open_browser, campaign, person=None, **options):
    watched = open_browser(person or factories.annotator(campaign), **options)
    watched.go(f"/work/{campaign.slug}/")
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_selector("[data-stage]")
    watched.page.wait_for_load_state()
    return watched


def released(campaign, to):
    """Release a campaign in its own format; return the folder."""
    quiet = {"stdout": StringIO(), "stderr": StringIO()}
    call_command("release", campaign.slug, "--format", campaign.task_type, "--to", str(to), **quiet)
    return to


def scored(capsys, kind, **options):
    capsys.readouterr()
    call_command("evaluate", kind, json=True, resamples=20, **options)
    return json.loads(capsys.readouterr().out)["metrics"]


def imported(open_browser, campaign, rows, tmp_path):
    """Import rows on the manager's page, and launch them."""
    boss = factories.user("boss")
    factories.join(campaign, boss, Role.MANAGER)
    watched = open_browser(boss)
    file = factories.write(tmp_path / "rows.jsonl", rows)
    watched.go(f"/campaigns/{campaign.slug}/import/")
    watched.page.set_input_files("input[name=file]", file)
    with watched.page.expect_navigation():
        watched.page.locator("section.card button").first.click()
    factories.run_jobs()
    factories.launch(campaign)


def handed_in(watched, campaign):
    """Wait until there is nothing more to do, and have what was submitted looked at."""
    watched.page.wait_for_selector(".done-page")
    factories.examine(campaign)


def written_for_a_sentence(watched, copy, question):
    """Choose the second sentence, write a copy of it that is held back, then a question that survives a reload."""
    page, ime = watched.page, InputMethod(watched.page)
    page.keyboard.press("2")
    saved(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=write] mark [data-chosen]")
    assert page.inner_text("mark [data-chosen]") == f"{copy}。"  # without the words that only a screen reader says
    ime.write(copy)
    saved(page)
    page.wait_for_selector("[data-remarks] .bad")
    assert_accessible(page, "a copy is refused")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelector('#announce').textContent")  # held back, and said
    assert page.inner_text("#announce") == remarks(page)[0] and not Annotation.objects.exists()
    page.fill("#text", "")
    page.focus("#text")
    ime.write(question)
    saved(page)
    page.wait_for_function("() => !document.querySelector('[data-remarks] .bad')")
    page.reload()
    assert page.input_value("#text") == question  # the draft was kept
    page.wait_for_load_state()
    page.focus("#text")
    page.keyboard.press("Control+Enter")


@pytest.mark.parametrize("view", [DESKTOP, PHONE])
def test_a_chinese_dbqa_question_goes_from_import_to_a_scored_release(open_browser, tmp_path, capsys, view):
    campaign = writing.campaign("dbqa", rows=[])
    imported(open_browser, campaign, writing.DOCUMENTS[:1], tmp_path)
    author = at_desk(open_browser, campaign, **view)
    assert_accessible(author.page, "choose a sentence")
    written_for_a_sentence(author, "它是世界上最深的淡水湖", "世界上哪个湖的水最深？")
    handed_in(author, campaign)

    reviewer = at_desk(open_browser, campaign, **view)
    assert reviewer.page.inner_text(".asked") == "世界上哪个湖的水最深？"
    assert_accessible(reviewer.page, "review")
    reviewer.page.keyboard.press("2")
    reviewer.page.fill("#text", "世界上最深的淡水湖是哪个？")
    saved(reviewer.page)
    reviewer.page.keyboard.press("Control+Enter")
    handed_in(reviewer, campaign)

    third = at_desk(open_browser, campaign, **view)
    body = third.page.inner_text("#work")
    assert "世界上最深的淡水湖是哪个？" in body and not third.page.locator("[data-chosen]").count()
    assert_accessible(third.page, "answer blind")
    third.page.keyboard.press("2")
    third.page.keyboard.press("Enter")
    handed_in(third, campaign)

    to = released(campaign, tmp_path / "out")
    pairs = (to / "dbqa-train.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[::2] for line in pairs] == [["世界上最深的淡水湖是哪个？", label] for label in "010"]
    scores = tmp_path / "scores"
    scores.write_text("0.1\n0.9\n0.2\n")
    assert scored(capsys, "dbqa", pairs=to / "dbqa-train.tsv", scores=scores)["MRR"] == 1


def written_by_a_link(visitor, row, refused, question):
    """Come by a link, write a question that is refused, then one that is taken; leave, and be confirmed."""
    page, ime = visitor.page, InputMethod(visitor.page)
    visitor.go(f"{row.path}?PROLIFIC_PID=w1&SESSION_ID=s1")
    page.get_by_role("button", name="我同意").click()
    page.wait_for_selector("[data-stage=write]")
    page.wait_for_load_state()
    assert_accessible(page, "write by a link")
    page.focus("#text")
    ime.write(refused)
    saved(page)
    page.wait_for_selector("[data-remarks] .bad")
    assert remarks(page) == ["问题中包含了答案。请换一种问法。"]  # in the language of the campaign
    page.fill("#text", "")
    page.focus("#text")
    ime.write(question)
    saved(page)
    page.keyboard.press("Control+Enter")
    page.get_by_text("DONE7").wait_for()
    assert Annotation.objects.get().state == "provisional"
    confirm(row, "Participant id,Submission id,Status\nw1,s1,APPROVED\n")


def accepted_in_the_marketplace(made, worker, question):
    """Take a HIT, whose frame shows a review, and accept the question by a key."""
    worker.page.get_by_role("button", name="Accept").first.click()
    frame = worker.page.frame_locator("#frame")
    frame.get_by_role("button", name="我同意").press("Enter")
    inner = worker.page.locator("#frame").element_handle().content_frame()
    inner.wait_for_selector("[data-stage=review]")
    inner.wait_for_load_state()
    assert frame.locator(".asked").inner_text() == question
    frame.locator("#question").press("1")
    over = worker.page.get_by_text(re.compile("no HITs of this kind|submitted|Nothing is open", re.IGNORECASE))
    over.first.wait_for()
    made.round()


def test_a_kbqa_question_is_written_by_link_and_reviewed_in_the_marketplace(
    desk,  # noqa: F811
    at_market,  # noqa: F811
    open_browser,
    tmp_path,
    capsys,
):
    campaign, question = writing.campaign(rows=writing.TRIPLES[:1]), "高等数学是哪一年出版的？"
    made = desk(campaign=campaign, sign=True)
    terms = {**LINK, "items_per_ticket": 1}
    row = workforce_add(campaign=campaign, kind="link", actor_id=None, now=timezone.now(), terms=terms)
    written_by_a_link(open_browser(**PHONE), row, "高等数学出版于2004年吗", question)
    factories.examine(campaign)
    written = Annotation.objects.get()
    assert (written.state, written.answer["question"]) == ("counted", question)
    made.round()
    accepted_in_the_marketplace(made, at_market(made, "rev"), question)
    factories.examine(campaign)
    third = at_desk(open_browser, campaign)
    third.page.get_by_text("2004年").click()
    third.page.keyboard.press("Enter")
    handed_in(third, campaign)
    to = released(campaign, tmp_path / "out")
    given = tmp_path / "answers.txt"
    given.write_text("<answer id=1>\t2004年\n", encoding="utf-8")
    assert scored(capsys, "kbqa", gold=to / "kbqa-train.txt", predictions=given)["F1"] == 1
    assert sorted(Annotation.objects.values_list("via", flat=True)) == ["internal", "link", "mturk"]


def test_pasting_can_be_switched_off(open_browser):
    campaign = writing.campaign(rows=writing.TRIPLES[:1], options={"paste": False})
    watched = at_desk(open_browser, campaign)
    page = watched.page
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.setData("text/plain", "粘贴的文字");
        document.querySelector("#text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }""")
    page.locator("#problem").get_by_text("此处已关闭粘贴").wait_for()
    assert page.input_value("#text") == ""
