"""Campaigns in which people write questions, and what they do there."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.models import Annotation, Assignment, Campaign
from annotation.slots.services.claims import slot_claim_next
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.submissions import answer_take
from quality.labels.services.sealing import split_seal
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from tests import factories

FACTS = ["出版社 ||| 高等教育出版社", "出版时间 ||| 2004年", "页数 ||| 312"]
TRIPLES = [
    {"id": "t1", "triple": "高等数学 ||| 出版时间 ||| 2004年", "facts": FACTS, "aliases": ["高数"]},
    {"id": "t2", "triple": "计算机基础 ||| 作者 ||| 秦婉", "facts": ["作者 ||| 秦婉", "页数 ||| 250"]},
]
DOCUMENTS = [
    {
        "id": "d1",
        "title": "贝加尔湖",
        "sentences": ["贝加尔湖位于西伯利亚的南部。", "它是世界上最深的淡水湖。", "湖里有一种海豹。"],
    },
    {"id": "d2", "title": "隆德", "sentences": ["隆德位于斯科讷。", "它的大教堂建于十二世纪。"]},
]


def campaign(task_type: str = "kbqa", rows: list[dict[str, Any]] | None = None, **options: Any) -> Campaign:
    """Return a launched campaign of triples or documents."""
    number = next(factories._numbers)
    made = campaign_create(
        slug=options.pop("slug", f"writing-{number}"),
        title=f"Writing {number}",
        task_type=task_type,
        language="zh",
        splits=options.pop("splits", [NewSplit("train", 1)]),
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org", tells_behaviour=True),
        created_by=options.pop("created_by", None),
        now=timezone.now(),
        **{"seed": 7, **options},
    )
    default = TRIPLES if task_type == "kbqa" else DOCUMENTS
    factories.import_rows(made, rows if rows is not None else default[:1])
    factories.launch(made)
    return made


def asked(campaign: Campaign, person: User) -> Assignment | None:
    """Return what a person is asked next, if anything."""
    return slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment


def send(assignment: Assignment, stage: str, **sent: Any) -> Any:
    """Answer a stage of an assignment; return what became of it."""
    assignment.refresh_from_db()
    return answer_take(
        assignment_id=assignment.pk,
        surrogate_id=assignment.surrogate_id,
        stage=stage,
        sent=sent,
        version=assignment.draft_version,
        now=timezone.now(),
        another=False,
    )


def write(campaign: Campaign, person: User, question: str, sentence: int | None = None) -> Annotation:
    """Claim what is next, which is to write, and write."""
    assignment = asked(campaign, person)
    assert assignment is not None and "asks" not in assignment.item.content
    if sentence is not None:
        send(assignment, "pick", sentence=str(sentence))
    return send(assignment, "write", question=question).annotation


def review(campaign: Campaign, person: User, decision: str = "accept", **sent: Any) -> Annotation:
    """Claim what is next, which is to review, and decide."""
    assignment = asked(campaign, person)
    assert assignment is not None and assignment.item.content.get("asks") == "review"
    return send(assignment, "review", decision=decision, **sent).annotation


def recover(campaign: Campaign, person: User, answer: str | int) -> Annotation:
    """Claim what is next, which is to answer blind, and choose an answer by its text or place."""
    assignment = asked(campaign, person)
    assert assignment is not None and assignment.item.content.get("asks") == "recover"
    choices = list(TASK_TYPES[campaign.task_type].choices(assignment.item.content))  # type: ignore[attr-defined]
    return send(
        assignment, "recover", choice=str(choices.index(answer) if isinstance(answer, str) else answer)
    ).annotation


NAMES = "一二三四五六七八九十"


def sealed() -> Campaign:
    """Return a campaign of ten triples with a question each, of 9 to 11 signs, whose split is sealed."""
    rows = [
        {"triple": f"第{number}号书 ||| 作者 ||| 王{name}", "facts": ["页数 ||| 9", f"作者 ||| 王{name}"]}
        for number, name in enumerate(NAMES)
    ]
    made = campaign(rows=rows, splits=[NewSplit("test", 1)], options={"review": False, "recovery": False})
    policy_publish(campaign=made, policy=Policy(inspection_rate=0), actor_id=None, now=timezone.now())
    author = factories.annotator(made)
    for number in range(len(NAMES)):
        assignment = asked(made, author)
        assert assignment is not None
        subject = assignment.item.content["subject"]
        send(assignment, "write", question=f"{subject}是{'谁' * (number % 3 + 1)}写的？")
    factories.examine(made)
    split_seal(split=made.splits.get(), actor_id=factories.user().surrogate_id, now=timezone.now())
    return made


def generated(folder: Any, lengths: Any = (8, 9, 10), each: int = 20) -> Any:
    """Return a file of texts that could be questions, of many lengths."""
    path = folder / "generated.txt"
    path.write_text(
        "".join(f"第{1000 + number}册是{'何' * (length - 8)}人写？\n" for length in lengths for number in range(each))
    )
    return path
