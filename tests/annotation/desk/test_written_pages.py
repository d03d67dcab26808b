"""Pages around written questions: remarks with a draft, what a campaign chooses, and how duplicates are told."""

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent
from annotation.models import Annotation, Campaign, EventTally
from annotation.work.services.events import Piece, events_store
from measures.behaviour import leaving
from quality.follow_ups.selectors import follow_ups_of
from quality.people.selectors.behaviour import _known, behaviour_of
from tests import factories, writing

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
LANGUAGE = settings.LANGUAGE_COOKIE_NAME


def kept(client, assignment, language="en", **fields):
    client.cookies[LANGUAGE] = language
    return client.post(
        reverse("draft", args=[assignment.pk]),
        {"version": assignment.draft_version, **fields},
        headers={"accept": "application/json"},
    )


def test_a_draft_is_answered_with_what_there_is_to_say_of_it(client):
    campaign = writing.campaign()
    person = factories.annotator(campaign)
    client.force_login(person)
    assignment = writing.asked(campaign, person)
    told = kept(client, assignment, question="高等数学出版于2004年吗？").json()
    assert told["remarks"] == [{"text": "The question contains its answer. Rephrase it.", "refuses": True}]
    assert (
        kept(client, assignment, "zh-hans", question="高等数学出版于2004年吗？").json()["remarks"][0]["text"]
        == "问题中包含了答案。请换一种问法。"
    )
    assert kept(client, assignment, question="高等数学哪年出版？").json()["remarks"] == []


def test_what_another_wrote_is_told_as_taken_and_nothing_more(client):
    campaign = writing.campaign(rows=writing.TRIPLES)
    one, other = factories.annotator(campaign), factories.annotator(campaign)
    writing.write(campaign, one, "这本书讲的是什么内容？")
    client.force_login(other)
    assignment = writing.asked(campaign, other)
    [remark] = [
        one for one in kept(client, assignment, question="这本书讲的是什么内容").json()["remarks"] if one["refuses"]
    ]
    assert remark["text"] == "This question already exists in this campaign. Write a different one."
    answer = client.post(
        reverse("stage", args=[assignment.pk]), {"stage": "write", "version": 0, "question": "这本书讲的是什么内容"}
    )
    assert answer.status_code == 422 and b"already exists" in answer.content
    assert Annotation.objects.count() == 1


def test_nothing_is_asked_of_a_draft_of_other_task_types(client):
    campaign = factories.antique(items=1)
    person = factories.annotator(campaign)
    client.force_login(person)
    assert kept(client, factories.claim(campaign, person)).json()["remarks"] == []


def test_a_manager_switches_off_what_a_campaign_asks(client):
    campaign = writing.campaign()
    client.force_login(factories.user(is_admin=True))
    url = reverse("campaign-settings", args=[campaign.slug])
    assert b"Blind answers" in client.get(url).content
    client.post(url, {"what": "options", "review": "on", "paste": "on"})
    campaign.refresh_from_db()
    assert campaign.options == {"review": True, "recovery": False, "paste": True}
    event = AuditEvent.objects.get(action="campaign_change")
    assert event.data["after"]["options"]["recovery"] is False
    client.post(url, {"what": "options", "review": "on", "paste": "on"})
    assert AuditEvent.objects.filter(action="campaign_change").count() == 1


def test_other_task_types_leave_nothing_open(client):
    campaign = factories.antique(items=1)
    client.force_login(factories.user(is_admin=True))
    assert b'value="options"' not in client.get(reverse("campaign-settings", args=[campaign.slug])).content


def test_a_campaign_can_be_made_without_what_it_does_by_itself():
    call_command(
        "create_campaign",
        "fragen",
        "--title",
        "Fragen",
        "--task-type",
        "kbqa",
        "--split",
        "train 1",
        "--without",
        "review",
        "--language",
        "zh",
    )
    made = Campaign.objects.get()
    assert (made.options, made.language) == ({"review": False}, "zh")
    with pytest.raises(CommandError, match="nq has no option 'review'"):
        call_command("create_campaign", "other", "--title", "Other", "--split", "train 1", "--without", "review")


@pytest.fixture(params=["kbqa", "dbqa"])
def reviewed(request):
    """Return a campaign of which a question is written, changed in review, and answered blind."""
    campaign = writing.campaign(request.param)
    people = [factories.annotator(campaign) for _ in range(3)]
    writing.write(campaign, people[0], "高数是何时写成的？", sentence=1 if request.param == "dbqa" else None)
    factories.examine(campaign)
    writing.review(campaign, people[1], "edit", question="高数写成于何时？")
    factories.examine(campaign)
    writing.recover(campaign, people[2], "2004年" if request.param == "kbqa" else "它是世界上最深的淡水湖。")
    factories.examine(campaign)
    return campaign


PAGES = (
    "campaign",
    "items",
    "campaign-people",
    "campaign-import",
    "campaign-settings",
    "quality",
    "quality-gold",
    "quality-experts",
    "quality-studies",
    "quality-behaviour",
    "quality-people",
    "quality-policy",
    "releases",
    "boards",
)


@pytest.mark.parametrize("page", PAGES)
def test_the_managers_pages_show_a_campaign_of_questions(client, reviewed, page):
    client.force_login(factories.user(is_admin=True))
    factories.run_jobs()
    assert client.get(reverse(page, args=[reviewed.slug])).status_code == 200


def test_an_items_page_shows_what_was_asked_and_answered(client, reviewed):
    client.force_login(factories.user(is_admin=True))
    shown = [client.get(reverse("item", args=[reviewed.slug, item.pk])) for item in reviewed.items.order_by("pk")]
    assert [one.status_code for one in shown] == [200] * 3
    bodies = [one.content.decode() for one in shown]
    paths = [reverse("item", args=[reviewed.slug, item.pk]) for item in reviewed.items.order_by("pk")]
    assert paths[1] in bodies[0] and paths[0] in bodies[1] and paths[2] in bodies[1]  # one leads to the other
    assert "高数是何时写成的？" in bodies[0] and "高数写成于何时？" in bodies[1] and "高数写成于何时？" in bodies[2]


def test_who_answered_reads_their_own_answers(client, reviewed):
    for annotation in reviewed.annotations.all():
        person = annotation.surrogate.user
        client.force_login(person)
        body = client.get(reverse("recent", args=[reviewed.slug])).content.decode()
        assert f'<h2 class="small" dir="auto">{annotation.item.content["question_text"]}</h2>' in body


def test_the_list_of_items_says_what_each_is_about_and_nothing_that_was_written(client, reviewed):
    client.force_login(factories.user(is_admin=True))
    address = reverse("items", args=[reviewed.slug])
    body = client.get(address).content.decode()
    about = reviewed.items.order_by("pk")[0].content["question_text"]
    assert body.count(about) == 3 and "写成于何时" not in body
    links = [reverse("item", args=[reviewed.slug, item.pk]) for item in reviewed.items.all()]
    for text, found in ((about, True), ("写成于何时", False)):
        body = client.get(address, {"q": text}).content.decode()
        assert [link in body for link in links] == [found] * 3


def test_a_manager_reads_what_reviews_and_blind_answers_came_to(client, reviewed):
    client.force_login(factories.user(is_admin=True))
    client.get(reverse("quality", args=[reviewed.slug]))
    factories.run_jobs()
    found = client.get(reverse("quality", args=[reviewed.slug])).context["follow_ups"]
    assert [(name, row["count"], row["of"]) for name, row in found] == [
        ("Accepted", 0, 1),
        ("Edited", 1, 1),
        ("Rejected", 0, 1),
        ("The blind answer matches", 1, 1),
        ("The blind answer doesn't match", 0, 1),
    ]
    assert 0.2 < found[1][1]["low"] < 0.21  # of one, Wilson's interval reaches far
    reviewed.splits.update(sealed_at=reviewed.created_at)
    assert [row["of"] for row in follow_ups_of(reviewed)] == [0] * 5


@pytest.mark.parametrize(
    ("spoken", "chosen", "expected"), [("zh", "", "zh-hans"), ("zh", "en", "en"), ("sv", "", "en"), ("en", "", "en")]
)
def test_the_desk_speaks_the_language_of_the_campaign_unless_another_was_chosen(client, spoken, chosen, expected):
    campaign = writing.campaign()
    Campaign.objects.update(language=spoken)
    person = factories.annotator(campaign)
    client.force_login(person)
    if chosen:
        client.cookies[LANGUAGE] = chosen
    assert writing.asked(campaign, person)
    body = client.get(reverse("work", args=[campaign.slug])).content.decode()
    assert f'<html lang="{expected}"' in body and f"?language={expected}" in body
    script = client.get(f"{reverse('javascript-catalog')}?language={expected}").content.decode()
    assert ("此处已关闭粘贴" in script or r"\u6b64\u5904" in script) == (expected == "zh-hans")
    assert (chosen or "en") == client.get(reverse("home")).wsgi_request.LANGUAGE_CODE  # other pages are the person's


def test_pasting_and_leaving_are_told_with_how_often_they_point_at_people_whose_questions_stand():
    rows = [{"triple": f"第{n}号书 ||| 作者 ||| 王五", "facts": []} for n in range(72)]
    campaign = writing.campaign(rows=rows, options={"recovery": False})
    people = [factories.annotator(campaign) for _ in range(3)]
    reviewer = factories.annotator(campaign)
    for number in range(36):
        person = people[number % 3]
        assignment = writing.asked(campaign, person)
        pasted = [[100, "paste", 12 if person is people[0] else 4]]
        events_store(
            assignment_id=assignment.pk,
            surrogate_id=person.surrogate_id,
            piece=Piece(1, [*pasted, [200, "blur", None]]),
            now=timezone.now(),
        )
        writing.send(assignment, "write", question=f"{assignment.item.content['subject']}是谁写的？")
    factories.examine(campaign)
    for _ in range(36):
        writing.review(campaign, reviewer)
    factories.examine(campaign)
    assert EventTally.objects.filter(left=1).count() == 36
    found = behaviour_of(campaign)
    pasting = next(one for one in found["signals"] if one["key"] == "pasting")
    # All three are good by their reviews: the one who pastes is the false alarm, one of three.
    assert (pasting["good"]["n"], pasting["good"]["of"], pasting["bad"]["of"]) == (1, 3, 0)
    [row] = [one for one in found["people"] if "pasting" in one["signals"]]
    assert row["surrogate"] == str(people[0].surrogate_id)
    assert row["signals"]["pasting"] == {"items": 12, "answers": 12} and row["gold"] is True


def test_other_task_types_know_no_pasting():
    assert {one["key"] for one in behaviour_of(factories.antique(items=1))["signals"]} == {
        "pace",
        "sameness",
        "twins",
        "untrusted",
    }


def test_who_leaves_far_more_often_than_others_is_told():
    others = {f"p{n}": (n % 3, 30) for n in range(12)}
    found = leaving({**others, "away": (25, 30), "new": (5, 5)})
    assert [who for who, signal in found.items() if signal.is_striking] == ["away"]


def test_only_reviews_say_who_is_good():
    rows = [{"triple": f"第{n}号书 ||| 作者 ||| 王{n}", "facts": ["页数 ||| 9"]} for n in range(10)]
    campaign = writing.campaign(rows=rows)
    author, reviewer, third = [factories.annotator(campaign) for _ in range(3)]
    for _ in range(10):
        assignment = writing.asked(campaign, author)
        writing.send(assignment, "write", question=f"{assignment.item.content['subject']}是谁写的？")
    factories.examine(campaign)
    for _ in range(10):
        writing.review(campaign, reviewer)
    factories.examine(campaign)
    for _ in range(10):
        writing.recover(campaign, third, 0)  # about the question, though it follows the review
    factories.examine(campaign)
    assert _known(campaign) == {str(author.surrogate_id): True}
