"""Every operation, every principal: an operation without a stated policy fails."""

import inspect

import pytest
from django.utils import timezone
from ninja import Schema

from accounts.models import Surrogate
from api import resources
from api.pages import schema_of
from jobs.ticks import tick
from quality.models import Audit, Certificate, Inspection, Review, WatchRule
from tests.api.client import Api
from tests.guards.world import World, address
from workforces.models import Appeal, Errand, Ticket

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
ALL = {"annotator", "expert", "manager", "researcher", "admin", "stranger", "foreign"}
SEE = {"manager", "expert", "researcher", "admin"}
ITEMS = SEE - {"expert"}
MANAGE = {"manager", "admin"}
RELEASE = {"researcher", "admin"}
POLICY = {
    **dict.fromkeys(("token_read", "campaign_list"), ALL),
    "campaign_new": {"admin"},
    **dict.fromkeys(("campaign_read", "guideline_read", "guideline_versions", "batch_list", "progress_read"), SEE),
    **dict.fromkeys(("item_list", "item_read", "study_read"), ITEMS),
    **dict.fromkeys(
        ("release_list", "release_read", "publication_list", "board_list", "board_read", "submission_list"), ITEMS
    ),
    **dict.fromkeys(("team_new", "submission_new", "system_list"), ITEMS),
    **dict.fromkeys(("release_new", "release_files", "release_download", "publication_new", "score_new"), RELEASE),
    **dict.fromkeys(
        ("case_open_list", "opinion_list", "opinion_new", "message_new", "consensus_new", "consensus_accept"),
        {"expert"},
    ),
    **dict.fromkeys(
        "case_sample faq_end faq_list faq_new gold_ask gold_of_pilot question_end question_list review_end "
        "review_list rule_list rule_new rule_stop rule_test spot_check_end spot_check_list study_begin study_plan "
        "workforce_estimate workforce_list workforce_new workforce_publish appeal_list appeal_end suspension_appeal_end ticket_list ticket_end errand_list errand_again errand_end delivery_again delivery_list event_list webhook_list webhook_new webhook_on webhook_remove webhook_renew".split(),
        MANAGE,
    ),
    **dict.fromkeys(
        (
            "annotation_again annotation_end annotation_list audit_end audit_list audit_new batch_plan batch_start "
            "certificate_list certificate_new certificate_seed certificate_stop prediction_import prediction_sample system_import "
            "board_new campaign_settings campaign_state case_end case_list consent_publish consent_read "
            "document_import document_list gold_change gold_end gold_import gold_list guideline_change "
            "invitation_end invitation_list invitation_new invitation_send item_ask item_end item_extend item_import "
            "plan_list plan_new upload_new "
            "job_again job_end job_list job_read label_list member_list member_remove person_change person_list "
            "pilot_new policy_change policy_read published_import quality_read split_close"
        ).split(),
        MANAGE,
    ),
}


def operations():
    """Yield the id, method and pattern of every operation."""
    for path, methods in schema_of()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method.upper(), path


def test_no_two_schemas_have_one_name():
    """Those of one name would be one in the description."""
    named = {}
    for module in vars(resources).values():
        for made in vars(module).values() if inspect.ismodule(module) else ():
            if inspect.isclass(made) and issubclass(made, Schema):
                assert named.setdefault(made.__name__, made) is made
    assert len(named) > 50


def test_every_operation_has_a_policy():
    names = [name for name, _method, _path in operations()]
    assert sorted(names) == sorted(POLICY)


@pytest.fixture
def world():
    tick(now=timezone.now())
    return World()


@pytest.mark.parametrize("principal", ["nobody", *sorted(ALL)])
def test_each_principal_gets_what_the_policy_says_and_no_further(world, principal):
    now = timezone.now()
    audit = Audit.objects.create(campaign=world.campaign, seed=0, strata=[], drawn_at=now)
    Certificate.objects.create(
        campaign=world.campaign, number=1, error=0.05, risk=0.05, guess=0, twice=0, frozen_at=now, state="ended"
    )
    values = {
        **world.values,
        "campaign": world.campaign.slug,
        "ordinal": 1,
        "audit_id": audit.pk,
        "person": world.values["surrogate_id"],
        "split": "train",
        "kind": "link",
        "review_id": Review.objects.create(
            campaign=world.campaign, surrogate_id=world.values["surrogate_id"], opened_at=now, decide_by=now
        ).pk,
        "check_id": Inspection.objects.get_or_create(
            campaign=world.campaign, annotation_id=world.values["annotation_id"], defaults={"because": "sample"}
        )[0].pk,
        "question_id": world.values["report_id"],
        "rule_id": WatchRule.objects.create(
            campaign=world.campaign, collector="gold", limit=0.4, window=20, least=10, act="notify", created_at=now
        ).pk,
    }
    ticket = Ticket.objects.create(
        workforce=world.link,
        surrogate=Surrogate.objects.create(),
        remote_id="r",
        code="c",
        state="unmatched",
        opened_at=now,
    )
    errand = Errand.objects.create(workforce=world.link, kind="notify", token="t", state="failed", due_at=now)
    appeal = Appeal.objects.create(campaign=world.campaign, ticket=ticket, text="Please look again.", created_at=now)
    values |= {"ticket_id": ticket.pk, "errand_id": errand.pk, "appeal_id": appeal.pk}
    api = Api(world.people["stranger" if principal == "nobody" else principal])
    headers = {"Authorization": "Bearer quorate_nothing"} if principal == "nobody" else {}
    wrong = []
    for name, method, path in sorted(operations(), key=lambda one: one[1] == "DELETE"):
        where = address(path.lstrip("/").replace("{", "<").replace("}", ">"), values)
        answer = api.send(method, where, None if method == "GET" else {}, **headers)
        if principal == "nobody":
            fits = answer.status_code == 401
        elif principal in POLICY[name]:  # let in: what was sent may still make no sense
            fits = answer.status_code < 500 and answer.status_code not in (401, 403, 404)
        else:
            fits = answer.status_code == (403 if name == "campaign_new" else 404)
        if not fits:
            wrong.append((name, method, where, answer.status_code, getattr(answer, "content", b"")[:200]))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("principal", ["manager", "researcher", "expert"])
def test_a_token_for_reading_changes_nothing(world, principal):
    api = Api(world.people[principal], ["read"])
    for name, method, path in operations():
        if method != "GET":
            where = path.replace("{campaign}", world.campaign.slug).replace("{job_id}", str(world.values["job_id"]))
            where = where.replace("{person}", str(world.values["surrogate_id"])).replace("{split}", "train")
            where = where.replace("{webhook_id}", str(world.values["webhook_id"]))
            where = where.replace("{delivery_id}", str(world.values["delivery_id"]))
            for part in (
                "item_id",
                "annotation_id",
                "ordinal",
                "case_id",
                "audit_id",
                "key_id",
                "number",
                "review_id",
                "check_id",
                "question_id",
                "entry_id",
                "rule_id",
                "appeal_id",
                "ticket_id",
                "errand_id",
            ):
                where = where.replace("{" + part + "}", "1")
            where = where.replace("{membership_id}", "1").replace("{invitation_id}", "1")
            assert api.send(method, where, {}).status_code in (403, 404), name
