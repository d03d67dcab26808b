"""The worker site in Chromium: frames on a different site, no cookie in them, from preview to earnings."""

import http.server
import threading
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from marketplace.models import Assignment
from marketplace.services.clockwork import clock_advance
from tests.axe import VARIANTS, assert_accessible
from tests.browser.watched import Watched
from tests.marketplace.acts import accept as accept_behind_the_page
from tests.marketplace.acts import do
from tests.marketplace.conftest import HIT, external
from tests.marketplace.quiz import ANSWER_KEY, TEST

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TASK = """<!doctype html><html lang="en"><title>A task</title><body><h1>Which port?</h1>
<form id="form" method="post"><input type="hidden" name="assignmentId" id="assignmentId">
<label>Port <input name="port"></label><button>Send</button></form>
<script>
const given = new URLSearchParams(location.search);
document.getElementById("assignmentId").value = given.get("assignmentId");
document.getElementById("form").action = given.get("turkSubmitTo") + "/mturk/externalSubmit";
document.title = given.get("workerId") || "preview";
</script></body></html>"""


class Tasks(http.server.BaseHTTPRequestHandler):
    """A requester's own site: serves the task, tries to set cookies, remembers what it was asked."""

    asked: list = []

    def do_GET(self):
        Tasks.asked.append((self.path, self.headers.get("Cookie")))
        body = TASK.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Set-Cookie", "tracker=1; SameSite=None; Secure")
        self.send_header("Set-Cookie", "plain=1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def tasks():
    Tasks.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tasks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://platform.localhost:{server.server_port}/task"
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_worker(browser, site, settings):
    """Return a function that opens a watched browser as a worker, at the worker site's own host."""
    opened = []

    def open_as(worker=None, **options):
        # Chromium warns of every frame with both tokens; what keeps this one apart is its other origin.
        known = ("has both allow-scripts and allow-same-origin",)
        watched = Watched(browser, settings.MARKETPLACE_URL, expected=known, **options)
        if worker is not None:
            watched.log_in(worker)
        opened.append(watched)
        return watched

    yield open_as
    for watched in opened:
        watched.close()


def test_from_preview_to_earnings_with_two_workers_across_sites(lab, make_worker, open_worker, tasks):
    ann, bob = make_worker("ann"), make_worker("bob")
    hit = lab.hit(Question=external(tasks, 400), MaxAssignments=2, Title="Ports")
    first, second = open_worker(ann), open_worker(bob)
    submissions = []
    for watched in (first, second):
        watched.context.on(
            "request", lambda request: submissions.append((request.url, request.all_headers().get("cookie")))
        )
    _preview(first)
    _accept_and_send(first, "Trieste")
    _accept_and_send(second, "Ancona")
    assert first.page.locator("button:has-text('Accept the next HIT')").count() == 0

    listed = lab.client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    answers = {row["WorkerId"]: row["Answer"] for row in listed}
    assert "<FreeText>Trieste</FreeText>" in answers[ann.worker_id]
    lab.client.approve_assignment(AssignmentId=listed[0]["AssignmentId"], RequesterFeedback="Well done.")
    lab.client.reject_assignment(AssignmentId=listed[1]["AssignmentId"], RequesterFeedback="Another port.")
    lab.client.send_bonus(
        WorkerId=ann.worker_id, AssignmentId=listed[0]["AssignmentId"], BonusAmount="0.55", Reason="The first one."
    )
    first.page.click("text=Earnings >> nth=0")
    for text in ("$0.10", "$0.55", "Well done.", "The first one.", "approved"):
        first.page.wait_for_selector(f"table >> text={text}")
    second.go("/earnings/")
    second.page.wait_for_selector("table >> text=Another port.")

    assert len(Tasks.asked) == 3
    assert all(cookie is None for _, cookie in Tasks.asked)  # third-party cookies are blocked, and not needed
    sent = [(url, cookie) for url, cookie in submissions if url.endswith("externalSubmit")]
    assert len(sent) == 3  # one of them from the preview
    assert all(cookie is None for _, cookie in sent)
    shown = parse_qs(urlsplit(Tasks.asked[0][0]).query)
    assert shown["assignmentId"] == ["ASSIGNMENT_ID_NOT_AVAILABLE"]
    assert "workerId" not in shown
    assert list(parse_qs(urlsplit(Tasks.asked[1][0]).query)) == ["assignmentId", "hitId", "turkSubmitTo", "workerId"]


def _preview(watched):
    watched.go("/")
    watched.page.click("h2 a:has-text('Ports')")
    watched.page.wait_for_selector("text=This is a preview")
    frame = watched.page.frame_locator("iframe")
    frame.locator("[name=port]").fill("too early")
    frame.locator("button").click()
    frame.locator("h1:has-text('This was a preview')").wait_for()
    assert not Assignment.objects.exists()


def _accept_and_send(watched, port):
    watched.go("/")
    watched.page.click("button:has-text('Accept')")
    frame = watched.page.frame_locator("#frame")
    frame.locator("[name=port]").fill(port)
    frame.locator("[name=port]").press("Enter")
    watched.page.wait_for_selector("h1:has-text('Submitted')")


def test_what_was_sent_before_the_script_ran_is_noticed(lab, worker, open_worker, tasks):
    lab.hit(Question=external(tasks, 400), MaxAssignments=1, Title="Ports")
    watched = open_worker(worker)
    held = []
    watched.page.route("**/work.js", lambda route: held.append(route))
    watched.go("/")
    watched.page.click("button:has-text('Accept')", no_wait_after=True)
    frame = watched.page.frame_locator("#frame")
    frame.locator("[name=port]").fill("Trieste")
    frame.locator("button").click()
    frame.locator("h1:has-text('Which port')").wait_for(state="detached")
    held[0].continue_()
    watched.page.wait_for_selector("h1:has-text('Submitted')")


def test_returning_expiry_and_the_next_one(lab, worker, open_worker):
    for _ in range(3):
        lab.hit(MaxAssignments=1)
    watched = open_worker(worker)
    page = watched.page
    watched.go("/")
    page.click("button:has-text('Accept')")
    page.click("button:has-text('Return')")
    page.wait_for_selector("h1:has-text('Returned')")
    assert Assignment.objects.get().state == "Returned"
    page.click("button:has-text('Accept the next HIT')")
    page.wait_for_selector("#frame")
    page.wait_for_load_state("networkidle")  # a frame that loads reloads the page too
    clock_advance(by=timedelta(seconds=700))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector("h1:has-text('Time is up')")
    watched.go("/work/")
    page.wait_for_selector("text=You have no HITs in progress")


def test_an_html_question_of_old_is_done_and_the_next_comes_by_itself(lab, worker, open_worker):
    old = HIT["Question"].replace(
        "<form><input name='port'></form>",
        '<form id="mturk_form" method="post" action="https://www.mturk.com/mturk/externalSubmit">'
        '<input type="hidden" id="assignmentId" name="assignmentId"><input name="port"><button id="submitButton">Go</button></form>'
        '<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script><script>turkSetAssignmentID();</script>'
        "<script>try { window.spied = document.cookie + localStorage.length } catch (e) { document.title = 'boxed in' }</script>",
    )
    for _ in range(2):
        lab.hit(Question=old, MaxAssignments=1)
    watched = open_worker(worker)
    page = watched.page
    watched.go("/")
    page.click("button:has-text('Accept')")
    page.check("#auto")
    for number in range(2):
        page.wait_for_load_state()
        if number:  # it came by itself: its keys work at once
            page.wait_for_function("document.activeElement.id === 'frame'")
        frame = page.frame_locator("#frame")
        frame.locator("[name=port]").fill(f"Port {number}")
        assert [inner.title() for inner in page.frames[1:]] == ["boxed in"]
        before = page.url
        frame.locator("button").click()
        page.wait_for_url(lambda url, before=before: url != before)
    page.wait_for_selector("text=There are no more HITs of this kind for you")
    assert Assignment.objects.filter(state="Submitted").count() == 2


@pytest.mark.parametrize("auto", [False, True])
def test_who_logged_out_in_another_window_logs_in_again(lab, worker, open_worker, tasks, auto):
    lab.hit(Question=external(tasks, 400), MaxAssignments=1)
    watched = open_worker(worker)
    page = watched.page
    watched.go("/")
    page.click("button:has-text('Accept')")
    if auto:
        page.check("#auto")
    port = page.frame_locator("#frame").locator("[name=port]")
    port.fill("Trieste")
    page.wait_for_load_state("networkidle")  # it asks once when all is there
    watched.context.clear_cookies()
    port.press("Enter")
    page.wait_for_url("**/account/login/**")
    assert Assignment.objects.get().state == "Submitted"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_every_page_is_accessible_and_clean(lab, make_worker, open_worker, language, view):
    worker = make_worker("ann", country="DE")
    kind = lab.client.create_qualification_type(
        Name="Charts",
        Description="Reads charts.",
        QualificationTypeStatus="Active",
        Test=TEST,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=600,
    )["QualificationType"]
    needs = [{"QualificationTypeId": kind["QualificationTypeId"], "Comparator": "GreaterThan", "IntegerValues": [70]}]
    hit = lab.hit(QualificationRequirements=needs, Title="Closed to most")
    done = do(worker, lab.hit())
    lab.client.approve_assignment(AssignmentId=done.assignment_id, RequesterFeedback="Fine.")
    lab.client.notify_workers(Subject="More", MessageText="There is more.", WorkerIds=[worker.worker_id])
    held = accept_behind_the_page(worker, lab.hit())
    given_back = accept_behind_the_page(worker, lab.hit())
    Assignment.objects.filter(pk=given_back.pk).update(state="Returned", ended_at=timezone.now())
    watched = open_worker(worker, **view)
    watched.context.add_cookies(
        [{"name": django_settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}]
    )
    type_path = f"/qualifications/{kind['QualificationTypeId']}/"
    paths = [
        "/",
        f"/hits/{hit['HITId']}/",
        f"/work/{held.pk}/",
        f"/work/{done.pk}/",
        f"/work/{given_back.pk}/",
        "/work/",
        "/earnings/",
        "/qualifications/",
        type_path,
        "/messages/",
        "/profile/",
        f"/requesters/{lab.requester.customer_id}/",
        "/account/password/change/",
    ]
    for path in paths:
        watched.go(path)
        assert watched.page.get_attribute("html", "lang") == language
        assert_accessible(watched.page, f"{path} {language}", skip_frames=True)
    watched.go(type_path)
    watched.page.click("main form button.primary")
    watched.page.wait_for_selector("fieldset")
    assert_accessible(watched.page, "the test")


@pytest.mark.slow
@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_pages_of_a_visitor_are_accessible(lab, open_worker, language, view):
    watched = open_worker(**view)
    watched.context.add_cookies(
        [{"name": django_settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}]
    )
    for path in ("/", "/account/login/", "/account/signup/", "/join/nothing/"):
        watched.go(path)
        assert_accessible(watched.page, f"{path} {language}")


def test_a_newcomer_signs_up_agrees_and_takes_a_test(lab, open_worker):
    kind = lab.client.create_qualification_type(
        Name="Charts",
        Description="Reads charts.",
        QualificationTypeStatus="Active",
        Test=TEST,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=600,
    )["QualificationType"]
    watched = open_worker()
    page = watched.page
    watched.go("/account/signup/")
    page.fill("[name=email]", "new@example.org")
    page.fill("[name=password1]", "correct horse battery")
    page.fill("[name=password2]", "correct horse battery")
    page.click("main form button.primary")
    page.click("button:has-text('I agree')")
    page.wait_for_selector("h1:has-text('HITs')")
    watched.go("/profile/")
    page.fill("[name=country]", "DE")
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=Saved.")
    watched.go(f"/qualifications/{kind['QualificationTypeId']}/")
    page.click("text=Start the test")
    page.click("button:has-text('Send')")
    page.wait_for_selector("text=Some answers are missing or invalid")
    assert "alert(1)" not in page.content()
    page.check("text=The depth of the water")
    page.check("text=A buoy")
    page.fill("textarea", "From the legend.")
    page.click("button:has-text('Send')")
    page.wait_for_selector("text=Value: 75")
    worker_id = page.inner_text("header a[href='/profile/']")
    got = lab.client.get_qualification_score(QualificationTypeId=kind["QualificationTypeId"], WorkerId=worker_id)
    assert got["Qualification"]["IntegerValue"] == 75
    assert got["Qualification"]["Status"] == "Granted"
