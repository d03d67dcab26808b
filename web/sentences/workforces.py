"""The messages of errors about recruited people, their terms and their pay."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "terms_amounts": _("Amounts can't be negative."),
    "terms_items": _("items_per_ticket must be between 1 and 100."),
    "terms_time": _("assignment_seconds must be at least 30."),
    "terms_confirm": _("confirm_seconds must be between 0 and 31,536,000."),
    "terms_unsigned": _("unsigned must be one of %(known)s."),
    "arrival_signature": _(
        "This link isn't valid because its signature doesn't match. Open the task again from where you found it."
    ),
    "arrival_expired": _("This link has expired. Open the task again from where you found it."),
    "terms_unknown": _("Invalid recruitment settings for %(kind)s: %(problem)s"),
    "arrival_members": _("Members can't use this link. Log in with your account instead."),
    "arrival_person": _("%(parameter)s doesn't contain a valid participant ID."),
    "arrival_visit": _("%(parameter)s doesn't contain a valid visit ID."),
    "arrival_unsigned_panel": _("This link isn't signed by the panel. Open the task again from your panel."),
    "terms_return_url": _("return_url must be an http or https address."),
    "terms_return_url_parts": _(
        "return_url can't contain a # fragment or a cc parameter, because Quorate appends the completion code as cc."
    ),
    "terms_codes": _("Each outcome needs its own completion code."),
    "arrival_assignment": _("assignmentId isn't a valid assignment ID."),
    "arrival_hit": _("hitId is missing or isn't a valid HIT ID."),
    "arrival_unsigned_market": _(
        "This link isn't signed by the marketplace. Open the task again from the marketplace."
    ),
    "arrival_no_market": _("No marketplace is configured."),
    "arrival_other_market": _("turkSubmitTo isn't a marketplace that this server is configured to use."),
    "arrival_worker": _("workerId is missing or isn't a valid worker ID."),
    "owed_incomplete": _("Enter the amount owed and the reason."),
    "hit_too_fresh": _("This HIT was posted a moment ago. Try again in a minute."),
    "hit_other_campaign": _("This HIT doesn't belong to this campaign."),
    "hit_over": _("This HIT has ended."),
    "terms_places": _("places must be between 0 (automatic) and 9. A tenth assignment costs an extra fee."),
    "terms_qualification": _("qualification must be one of %(known)s."),
    "terms_lifetime": _("lifetime_seconds must be between 30 and 31,536,000."),
    "terms_approval": _("auto_approval_seconds must be between approve_after_seconds and 2,592,000."),
    "terms_reward": _("reward_cents must be at least 1."),
    "terms_count": _(
        "On a marketplace, “unsigned” can't be “count”: visits without a signature wait until the marketplace confirms them."
    ),
    "appeal_without_refusal": _("Pay for this work wasn't refused."),
    "appeal_paid": _("This work has already been paid. You can only grant the appeal."),
    "refused_just_now": _("Pay for this work was just refused. Undo the refusal first."),
    "bonus_incomplete": _("A bonus needs an amount and a reason."),
    "bonus_ceiling": _("A bonus can be at most %(most)s cents."),
    "bonus_without_work": _("You can pay a bonus only for submitted work."),
    "cap_reached": _("This bonus would exceed the spending cap."),
    "workforce_unknown": _("Unknown workforce %(kind)s. Expected one of %(known)s."),
    "arrival_parameter": _("%(parameter)s is missing or isn't a valid ID. Open the study again on Prolific."),
    "arrival_no_keys": _("We can't check your link right now. Open the study again on Prolific in a minute."),
    "terms_estimate": _("estimated_minutes must be between 1 and 600."),
    "terms_longest": _("The maximum time must be at least %(least)s minutes for this estimate, and under 24 hours."),
    "terms_prolific_pay": _("Prolific requires a reward of at least %(least)s cents for this estimate ($8 per hour)."),
    "terms_prolific_approval": _("Prolific approves work after 21 days, so approve it earlier."),
    "terms_texts": _("Enter a title and a description."),
    "terms_of_study": _(
        "A study keeps these terms: %(names)s. Close the campaign and open it again to start another study."
    ),
    "study_other": _("This study doesn't belong to this campaign."),
    "workforce_no_draft": _("There is no draft to publish yet. It appears once items wait for annotations."),
    "prolific_reason": _(
        "The participant reads this reason, and Prolific requires at least %(least)s characters. Say which instruction wasn't followed."
    ),
    "arrival_forgotten": _("Your ID was deleted at your request. You can't take part again."),
}
