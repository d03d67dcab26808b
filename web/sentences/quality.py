"""The messages of errors about gold questions, labels, experts and studies."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "seal_items": _("%(split)s isn't finished: some items aren't launched."),
    "seal_slots": _("%(split)s isn't finished: some annotations are still missing."),
    "seal_unexamined": _("%(split)s isn't finished: some answers haven't been checked or confirmed yet."),
    "seal_cases": _("%(split)s isn't finished: experts are still judging some items."),
    "seal_audit": _("%(split)s isn't finished: an audit is still running."),
    "seal_certificate": _("%(split)s isn't finished: experts are judging its labels for a certificate."),
    "seal_labels": _("%(split)s isn't finished: some items have no label."),
    "seal_inspections": _("%(split)s isn't finished: some answers await a spot check."),
    "action_missing": _("Choose an action."),
    "errand_sent": _("This request has already been sent and can't be undone."),
    "errand_decided": _("This request wasn't sent again, because someone made another decision in the meantime."),
    "case_sealed": _("You can't send this item to experts because its split is sealed."),
    "case_without_answer": _("This item doesn't have any answers for experts to judge."),
    "drawn_before_experts": ngettext(
        "Experts are already judging %(n)s of the drawn items for another reason. Wait for their decision.",
        "Experts are already judging %(n)s of the drawn items for another reason. Wait for their decisions.",
        "n",
    ),
    "case_experts": _("Enter between 1 and %(most)s experts per item."),
    "opinion_part_missing": _("Judge every part before you submit."),
    "case_not_recallable": _("This case can't be recalled: it was decided, or a rule sent it to the experts."),
    "case_over": _("Someone has already decided or recalled this case."),
    "case_own_item": _("You can't judge this item because you annotated it."),
    "case_judged": _("You've already judged this item."),
    "message_empty": _("Write a message first."),
    "consensus_reason": _("Give a reason. It's kept with the consensus."),
    "case_not_discussed": _("This case isn't under discussion."),
    "case_not_overdue": _(
        "A manager can decide only after the experts have discussed for %(days)s days without agreeing."
    ),
    "proposal_changed": _("The proposal changed in the meantime. Read the new proposal first."),
    "proposal_own": _("Another expert has to confirm your proposal."),
    "case_not_yours": _("Only experts who judged this case can discuss it."),
    "key_retired": _("This gold question is retired."),
    "gold_row": _("Row %(row)s, %(column)s: %(problem)s"),
    "gold_too_many": _("A file can contain at most %(most)s gold questions."),
    "reason_missing": _("Give a reason."),
    "not_json": _("This isn't valid JSON: %(problem)s"),
    "audit_too_few": _("This campaign has only %(labels)s labels. An audit needs at least %(least)s."),
    "audit_expert_for_each": ngettext(
        "Every expert in this campaign has already annotated or judged %(n)s of the drawn items. Add another expert.",
        "Every expert in this campaign has already annotated or judged %(n)s of the drawn items. Add another expert.",
        "n",
    ),
    "audit_two_experts": _(
        "Two experts must judge %(wanted)s of the drawn items, but only %(possible)s of them have two eligible experts. Add another expert."
    ),
    "certificate_too_few": _("This campaign has only %(labels)s labels. A certificate needs at least %(least)s."),
    "certificate_unfinished": _("This campaign already has an unfinished certificate."),
    "certificate_not_frozen": _("This certificate isn't waiting for a seed."),
    "certificate_over": _("This audit has already ended."),
    "split_sealed_already": _("%(split)s is already sealed."),
    "unsealing_reason": _("Give a reason for unsealing. It's recorded in the activity log."),
    "split_not_sealed": _("%(split)s isn't sealed."),
    "split_too_small": _(
        "%(split)s has fewer than %(least)s items. With so few items, statistics could reveal individual labels."
    ),
    "rule_window": _("The minimum number of observations must be between 1 and the window size."),
    "reason_is_read": _("Give a reason. The annotator will read it."),
    "person_without_work": _("This annotator hasn't done any work in this campaign."),
    "standing_changed": _("The annotator's status has changed. Check the new status and try again."),
    "day_missing": _("Enter the start date."),
    "day_to_come": _("The start date is in the future."),
    "refusal_without_suspension": _("You can refuse pay only for a suspended annotator's work."),
    "suspended_already": _("This annotator is suspended. Lift the suspension on the annotator's page."),
    "decided_already": _("Someone has already decided this."),
    "not_suspended": _("You aren't suspended from this campaign."),
    "appeal_reason": _("Briefly explain why a manager should reconsider."),
    "answer_is_read": _("Give a reason. The annotator will read it."),
    "policy_rates": _("gold_rate must be 0 or between 0.001 and 0.5, and inspection_rate between 0 and 1."),
    "policy_gold_first": _("gold_first must be between 0 and gold_first_items."),
    "policy_least_one": _("gold_most_exposures, experts, and decide_hours must be at least 1."),
    "policy_drift": _("drift_run_length must be 0 or between 100 and 1,000,000."),
    "policy_unknown": _("Unknown policy fields: %(names)s."),
    "policy_without_votes": _("This task type doesn't use voting, so you can't set an error target."),
    "policy_promised": _(
        "Adaptive voting isn't available because some items require more annotations than a label needs."
    ),
    "policy_most_votes": _(
        "In one split, items start with %(first)s votes, so the maximum can't be %(most)s. Increase the maximum votes per item."
    ),
    "study_closed": _("The campaign is closed."),
    "study_references": _(
        "%(references)s annotations per item are used as references. Request more, so that some are left to use as predictions."
    ),
    "study_sample": _(
        "Only %(items)s items in this split are launched, so you can't draw %(sample)s. Launch more items or draw fewer."
    ),
    "study_others": ngettext(
        "The study would include %(others)s item outside this sample that already has this many annotations requested. Use the previous study's seed with a larger sample, or request more annotations per item.",
        "The study would include %(others)s items outside this sample that already have this many annotations requested. Use the previous study's seed with a larger sample, or request more annotations per item.",
        "others",
    ),
    "study_people": _(
        "One item needs %(needed)s more annotators, but only %(there)s available annotators haven't seen it. Invite at least %(short)s more."
    ),
    "study_experts": _(
        "The study needs %(asked)s experts per item, but the campaign has only %(there)s. Invite more experts or choose fewer per item."
    ),
    "study_of_votes": _("This study isn't available for %(task_type)s because it needs answers that are voted on."),
    "study_of_pages": _("These studies aren't available for %(task_type)s because they need answers found on a page."),
    "study_needs_more": _(
        "This study needs items for which more than %(references)s annotations were requested. First collect extra annotations for a sample."
    ),
    "study_empty": _("There are no annotations yet."),
    "study_places": _(
        "No item has counted annotations in all of its first %(ways)s slots. The closest item has %(fullest)s. Collect extra annotations for a sample, or wait until reopened slots are filled."
    ),
    "study_two": _("A study of annotators needs at least two annotations per item."),
}
