"""What must be part of a larger change refuses to run on its own: half of a change is never committed."""

import ast
import inspect
from importlib import import_module

import pytest

from database.transactions import NotInTransaction
from tests.conftest import ROOT

APPS = (
    "accounts",
    "annotation",
    "api",
    "documents",
    "evaluation",
    "exports",
    "jobs",
    "quality",
    "sources",
    "workforces",
)

STEPS = """
quality.certificates.progress.lines_append
quality.certificates.progress.locked
workforces.services.rounds.round_end
annotation.slots.services.sweeps.assignments_end
workforces.services.tickets.ticket_lapse
accounts.audit.record
accounts.services.consent_restore
accounts.services.consent_text_publish
accounts.services.consent_withdraw
accounts.services.consents_join
accounts.services.membership_grant
accounts.services.role_end
annotation.locks.campaign_lock
annotation.notifications.services.notify
annotation.slots.services.bars.bars_join
annotation.slots.services.bars.bars_meet
annotation.slots.services.bars.bars_put
annotation.campaigns.services.campaigns.batch_for_import
annotation.campaigns.services.campaigns.pilot_split
annotation.slots.services.claims.claim_next
annotation.slots.services.participation_locks.participation_lock
annotation.slots.services.counting._move
annotation.slots.services.counting.annotation_count_again
annotation.slots.services.counting.annotation_enter
annotation.slots.services.counting.item_slots_close
annotation.slots.services.participation_locks.people_lock
annotation.slots.services.counting.round_slots_close
annotation.slots.services.counting.round_slots_want
annotation.slots.services.counting.slot_hold
annotation.slots.services.counting.slot_hold_first
annotation.slots.services.counting.slots_release
annotation.slots.services.counting.submission_come_back
annotation.slots.services.counting.submission_take_back
annotation.slots.services.counting.submissions_adopt
annotation.slots.services.counting.submissions_confirm
annotation.slots.services.counting.submissions_withdraw
annotation.items.services.follow_ups.follow_ups_add
annotation.work.services.events.events_keep
annotation.items.services.follow_ups.follow_ups_withdraw
annotation.people.services.joining.participation_join
annotation.people.services.joining.standing_join
annotation.people.services.standing.injections_scheduled
annotation.people.services.standing.injections_unscheduled
annotation.people.services.standing.standing_move
annotation.questions.services._publish
annotation.slots.services.queue.queue_rewind
annotation.slots.services.slots._extend
annotation.slots.services.slots.round_open
annotation.slots.services.slots.votes_add
annotation.people.services.training.training_create
annotation.people.services.withdrawal.withdrawal_cancel
annotation.people.services.withdrawal.work_unlink
annotation.work.services.assignments.assignment_locked
documents.services.tokenization_record
jobs.events.events_add
jobs.events.events_number
quality.experts.services.cases.case_end
quality.experts.services.cases.case_open
quality.follow_ups.services.follow_ups_settle
quality.gold.services.checks.gold_check
quality.gold.services.keys.gold_place
quality.gold.services.keys.key_create
quality.gold.services.key_changes.key_judged
quality.gold.services.exposures.exposures_schedule
quality.experts.services.inspections.inspections_draw
quality.experts.services.opinions._held
quality.people.services.pauses.person_assess
quality.people.services.pauses.person_pause
quality.labels.services.verdicts.items_judge
quality.labels.services.verdicts.items_lock
quality.people.services.rules.rules_run
workforces.kinds.link.pay.refusal_carry_out
workforces.services.exclusions.exclusion_begin
workforces.services.exclusions.exclusion_end
workforces.services.pay_errands.refusal_make_good
workforces.services.pay_errands.refusal_override
workforces.services.identities.ticket_identify
workforces.services.messages.person_message
workforces.services.outbox.errand_add
workforces.services.pay.bonus_paid
workforces.services.pay.pay_hold
workforces.services.pay.pay_refusal_end
workforces.services.pay.pay_refusal_move
workforces.services.pay.pay_release
workforces.services.pay.ticket_paid
workforces.services.refusals.refusal_take_back
workforces.services.refusals.refusals_take_back
workforces.services.refusals.tickets_refuse
workforces.services.refusals.work_pass
workforces.services.tickets.ticket_finish
""".split()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", STEPS)
def test_a_step_is_refused_outside_a_transaction_before_it_does_anything(path):
    module, _, name = path.rpartition(".")
    step = getattr(import_module(module), name)
    taken = inspect.signature(step).parameters.values()
    by_place = [None for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = {one.name: None for one in taken if one.kind is one.KEYWORD_ONLY}
    with pytest.raises(NotInTransaction):
        step(*by_place, **by_name)


def test_every_step_is_among_them():
    found = set()
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found |= {f"{module}.{node.name}" for node in ast.walk(tree) if refuses_alone(node)}
    assert found == set(STEPS)


def refuses_alone(node):
    """Return whether a function asks to be in a transaction."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(line, ast.Expr) and ast.unparse(line) == "require_transaction()" for line in node.body
    )
