"""What errors about people from outside, their terms and their pay say."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "terms_amounts": _("Amounts can't be negative."),
    "terms_items": _("items_per_ticket must be between 1 and 100."),
    "terms_time": _("assignment_seconds must be at least 30."),
    "terms_confirm": _("confirm_seconds must be between 0 and 31,536,000."),
    "terms_unsigned": _("unsigned must be one of %(known)s."),
    "arrival_signature": _("The signature doesn't match this address."),
    "arrival_expired": _("This address has expired. Open the task again from where you found it."),
    "terms_unknown": _("Unknown terms of %(kind)s: %(problem)s"),
    "arrival_members": _("Members need an account and log in."),
    "arrival_person": _("%(parameter)s isn't a valid ID of the panel."),
    "arrival_visit": _("%(parameter)s isn't a valid visit ID."),
    "arrival_unsigned_panel": _("This address lacks the panel's signature."),
    "terms_return_url": _("return_url must be an http or https address."),
    "terms_return_url_parts": _(
        "return_url can't have a part after # or a parameter cc, because the code is appended as cc."
    ),
    "terms_codes": _("Each outcome needs its own completion code."),
    "arrival_assignment": _("assignmentId isn't an id of an assignment."),
    "arrival_hit": _("hitId is missing or isn't an id of a HIT."),
    "arrival_unsigned_market": _("This address lacks the marketplace's signature."),
    "arrival_no_market": _("No marketplace is configured."),
    "arrival_other_market": _("turkSubmitTo isn't a marketplace that this installation works with."),
    "arrival_worker": _("workerId is missing or isn't the id of one worker."),
    "owed_incomplete": _("Enter the amount owed and the reason."),
    "hit_too_fresh": _("This HIT was posted a moment ago. Try again in a minute."),
    "hit_other_campaign": _("This HIT doesn't belong to this campaign."),
    "hit_over": _("This HIT is over."),
    "terms_places": _("places must be between 0 (automatic) and 9. A tenth assignment costs an extra fee."),
    "terms_qualification": _("qualification must be one of %(known)s."),
    "terms_lifetime": _("lifetime_seconds must be between 30 and 31,536,000."),
    "terms_approval": _("auto_approval_seconds must be between approve_after_seconds and 2,592,000."),
    "terms_reward": _("reward_cents must be at least 1."),
    "terms_count": _("unsigned can't be count here, because the marketplace lists what was submitted."),
    "appeal_without_refusal": _("Pay for this work wasn't refused."),
    "appeal_paid": _("This work was paid in the meantime. Grant the appeal."),
    "refused_just_now": _("The pay was refused a moment ago. Undo that first."),
    "bonus_incomplete": _("A bonus needs an amount and a reason."),
    "bonus_ceiling": _("A bonus is at most %(most)s cents here."),
    "bonus_without_work": _("A bonus needs submitted work."),
    "cap_reached": _("The spending cap of this campaign doesn't allow it."),
    "workforce_unknown": _("Unknown workforce %(kind)s. Expected one of %(known)s."),
    "arrival_forgotten": _("You asked us to forget you, so you can't take part again."),
}
