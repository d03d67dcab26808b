"""What must be part of a larger change refuses to run on its own: half of a change is never committed."""

import inspect
from importlib import import_module

import pytest

from accounts.transactions import NotInTransaction

STEPS = """
accounts.audit.record
accounts.services.consent_text_publish
accounts.services.consent_withdraw
accounts.services.membership_grant
annotation.locks.campaign_lock
annotation.services.campaigns.batch_for_import
annotation.services.campaigns.pilot_split
annotation.services.claims.claim_next
annotation.services.claims.participation_lock
annotation.services.queue.queue_rewind
annotation.services.counting._move
annotation.services.counting.annotation_count_again
annotation.services.counting.annotation_enter
annotation.services.counting.item_slots_close
annotation.services.counting.people_lock
annotation.services.counting.round_slots_close
annotation.services.counting.round_slots_want
annotation.services.counting.slot_hold
annotation.services.counting.slots_release
annotation.services.counting.submission_take_back
annotation.services.counting.submissions_confirm
annotation.services.counting.submissions_withdraw
annotation.services.people.standing_move
annotation.services.slots._extend
annotation.services.slots.round_open
annotation.services.training.training_create
documents.services.tokenization_record
quality.services.gold.gold_check
quality.services.gold_plans.gold_plan
quality.services.gold.key_create
quality.services.people.person_assess
quality.services.verdicts.items_judge
quality.services.verdicts.items_lock
workforces.services.messages.person_message
workforces.services.outbox.errand_add
workforces.services.pay.bonus_paid
workforces.services.pay.pay_hold
workforces.services.pay.pay_release
workforces.services.refusals.refusal_make_good
workforces.services.refusals.refusal_take_back
workforces.services.refusals.refusals_take_back
workforces.services.pay.ticket_paid
workforces.services.refusals.tickets_refuse
workforces.services.tickets.exclusion_begin
workforces.services.tickets.exclusion_end
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
