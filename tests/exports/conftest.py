"""A judged campaign of relevance labels."""

import pytest
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from quality.experts.services.opinions import opinion_give
from quality.flags.services import flag_decide
from quality.models import Case, Flag
from tests import factories


def rows():
    """Return five candidates of two questions; ids that a careless reader takes for numbers."""
    return [
        {
            "question_id": question,
            "question": f"Why {question}? naïve 😀",
            "answer_id": f"{question}_{index}",
            "answer": f"Because\tof {question}\n{index}. 数据",
            "possibly_correct_id": f"{question}_5",
            "possibly_correct_answer": f"The asker liked this for {question}.",
            "category": "Society",
        }
        for question, answers in (("2146313", (0, 1, 8)), ("0045", (0, 2)))
        for index in answers
    ]


LABELS = {
    "2146313_0": [4, 4, 3],
    "2146313_1": [1, 1, 1],
    "2146313_8": [3, 3, 2],
    "0045_0": [2, 2, 4],
    "0045_2": [4, 3, 2],
}


@pytest.fixture
def judged():
    """Return a campaign in which one pair went to the expert and one question is blacklisted."""
    campaign = factories.antique(items=0, splits=[NewSplit("train", 3)], group_by="question")
    factories.import_rows(campaign, rows())
    factories.launch(campaign)
    for _round in range(2):
        for number in range(3):
            person = factories.annotator(campaign)
            while True:
                try:
                    assignment = factories.claim(campaign, person)
                except AssertionError:
                    break
                chosen = LABELS[assignment.item.content["answer_id"]][number]
                factories.submit(factories.label(assignment, chosen))
        factories.examine(campaign)
    expert = factories.user()
    case = Case.objects.get(state="open")
    opinion_give(
        case=case, surrogate_id=expert.surrogate_id, said={"label": 2}, justification="Off.", now=timezone.now()
    )
    flag = Flag.objects.create(campaign=campaign, question_id="0045", created_at=timezone.now())
    flag_decide(flag=flag, listed=True, actor_id=expert.surrogate_id, now=timezone.now())
    return campaign
