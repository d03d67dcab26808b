"""Labels computed again from what their verdicts name."""

import json

import pytest
from django.core.management import CommandError, call_command

from quality.labels.selectors.recomputed import verdicts_recomputed
from quality.models import Verdict
from quality.policies.policy import Policy, Process, Target
from tests import factories

pytestmark = pytest.mark.django_db
POLICIES = {
    Process.PAPER: Policy(),
    Process.FIXED: Policy(process=Process.FIXED),
    Process.TARGET: Policy(process=Process.TARGET, target=Target(error=0.05, budget_cents=10_000, most=5)),
}


@pytest.fixture(params=list(POLICIES))
def judged(request):
    """Return a campaign whose three items have labels by each process."""
    campaign = factories.antique(items=3, n=3, policy=POLICIES[request.param])
    for label in (4, 3, 4):
        person = factories.annotator(campaign)
        for _ in range(3):
            factories.vote(campaign, person, label)
    factories.examine(campaign)
    assert Verdict.objects.filter(campaign=campaign).count() == 3
    return campaign


def test_every_label_is_the_one_that_its_verdict_comes_to(judged, capsys):
    call_command("verify_verdicts", judged.slug)
    assert "3 verdicts recomputed, 0 differ" in capsys.readouterr().out
    assert [found.label for found in verdicts_recomputed(judged)] == [4, 4, 4]


def test_a_label_that_somebody_changed_is_found_and_fails_the_command(judged, capsys):
    changed = Verdict.objects.order_by("pk")[0]
    Verdict.objects.filter(pk=changed.pk).update(label=1)
    with pytest.raises(CommandError, match="1 of 3 stored labels"):
        call_command("verify_verdicts", judged.slug, json=True)
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "verdicts": 3,
        "different": [{"item": changed.item.external_id, "label": 1, "recomputed": 4}],
    }


def test_a_campaign_without_votes_has_nothing_to_verify():
    with pytest.raises(CommandError, match="doesn't use votes"):
        call_command("verify_verdicts", factories.campaign(items=1).slug)


def test_it_reads_a_campaign_in_few_statements(judged, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        list(verdicts_recomputed(judged))
