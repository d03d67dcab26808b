"""What errors about gold questions, labels, experts and studies say."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "seal_items": _("%(split)s isn't finished: some items aren't launched."),
    "seal_slots": _("%(split)s isn't finished: some annotations are still wanted."),
    "seal_unexamined": _("%(split)s isn't finished: some answers aren't examined or confirmed yet."),
    "seal_cases": _("%(split)s isn't finished: experts are still judging some items."),
    "seal_audit": _("%(split)s isn't finished: an audit is still running."),
    "seal_labels": _("%(split)s isn't finished: some items have no label."),
    "seal_inspections": _("%(split)s isn't finished: some answers await a spot check."),
    "action_missing": _("Choose an action."),
    "errand_sent": _("This request was already sent."),
    "errand_decided": _("This request wasn't sent again, because someone made another decision in the meantime."),
    "case_sealed": _("The split of this item is sealed."),
    "case_without_answer": _("No answer to this item contains anything that experts could judge."),
    "drawn_before_experts": ngettext(
        "Experts are already judging %(n)s of the drawn items for another reason. Wait for their decision.",
        "Experts are already judging %(n)s of the drawn items for another reason. Wait for their decisions.",
        "n",
    ),
    "case_experts": _("Between 1 and %(most)s experts can judge an item."),
    "opinion_part_missing": _("Judge every part. One part has no judgment yet."),
    "case_not_recallable": _("This case can't be recalled: it was decided, or a rule sent it to the experts."),
    "case_over": _("Someone has already decided or recalled this case."),
    "case_own_item": _("You annotated this item yourself."),
    "case_judged": _("You've already judged this item."),
    "message_empty": _("Write a message first."),
    "consensus_reason": _("Give a reason. It's kept with the consensus."),
    "case_not_discussed": _("This case isn't under discussion."),
    "case_not_overdue": _(
        "A manager can decide only after the experts have discussed for %(days)s days without agreeing."
    ),
    "proposal_changed": _("The proposal changed in the meantime. Read the new proposal first."),
    "proposal_own": _("Another expert has to confirm your proposal."),
    "case_not_yours": _("You didn't judge this case."),
    "key_retired": _("This gold question is retired."),
    "gold_row": _("Row %(row)s, %(column)s: %(problem)s"),
    "gold_too_many": _("A file can contain at most %(most)s gold questions."),
    "reason_missing": _("Give a reason."),
    "not_json": _("This isn't valid JSON: %(problem)s"),
    "audit_too_few": _("%(labels)s labels are in force, but an audit needs at least %(least)s."),
    "audit_expert_for_each": ngettext(
        "%(n)s drawn item was annotated or judged by every expert here. Name another expert.",
        "%(n)s drawn items were annotated or judged by every expert here. Name another expert.",
        "n",
    ),
    "audit_two_experts": _(
        "Two experts must judge %(wanted)s of the drawn items, but only %(possible)s have two experts who may judge them. Name another expert."
    ),
    "split_sealed_already": _("%(split)s is already sealed."),
    "unsealing_reason": _("Give a reason for unsealing. It stays on record."),
    "split_not_sealed": _("%(split)s isn't sealed."),
    "split_too_small": _("%(split)s has fewer than %(least)s items. That's too few to hide a label among them."),
    "rule_window": _("A rule needs at least one observation, and no more than its window."),
    "reason_is_read": _("Give a reason. The annotator will read it."),
    "person_without_work": _("This annotator has no work in the campaign."),
    "standing_changed": _("The annotator's status changed in the meantime. Check it again."),
    "day_missing": _("Enter the start date."),
    "day_to_come": _("The start date is in the future."),
    "refusal_without_suspension": _("You can refuse pay only for a suspended annotator's work."),
    "suspended_already": _("This annotator is suspended. Lift the suspension on the annotator's page."),
    "decided_already": _("Someone has already decided this."),
    "not_suspended": _("You aren't suspended from this campaign."),
    "appeal_reason": _("Say briefly why the decision should be reviewed."),
    "answer_is_read": _("Give a reason. The person will read it."),
    "policy_rates": _("gold_rate must be 0 or between 0.001 and 0.5, and inspection_rate between 0 and 1."),
    "policy_gold_first": _("gold_first must be between 0 and gold_first_items."),
    "policy_least_one": _("gold_most_exposures, experts and decide_hours must be at least 1."),
    "policy_drift": _("drift_run_length must be 0 or between 100 and 1,000,000."),
    "policy_unknown": _("Unknown fields of a policy: %(names)s."),
    "policy_without_votes": _(
        "This task type collects answers side by side, without voting. There's no error to aim at."
    ),
    "policy_promised": _(
        "Some items promise more annotations than a label needs, so their number can't depend on doubt."
    ),
    "policy_most_votes": _("Items of a split get %(first)s votes first, so no item can end with %(most)s."),
    "study_closed": _("The campaign is closed."),
    "study_references": _(
        "%(references)s annotations are references. Ask for more per item, so that some are left to predict from."
    ),
    "study_sample": _("Only %(items)s items of this split are launched, so %(sample)s can't be drawn."),
    "study_others": ngettext(
        "Outside this sample, %(others)s item already wants as many annotations, and the study would include it. Use the seed of the previous study and a larger sample, or ask for more annotations per item.",
        "Outside this sample, %(others)s items already want as many annotations, and the study would include them. Use the seed of the previous study and a larger sample, or ask for more annotations per item.",
        "others",
    ),
    "study_people": _(
        "One item needs %(needed)s more annotators, but only %(there)s here haven't seen it. Invite at least %(short)s more."
    ),
    "study_experts": _("The study asks for %(asked)s experts per item, but the campaign has %(there)s."),
    "study_of_votes": _("%(task_type)s: this study needs answers that are voted on."),
    "study_of_pages": _("%(task_type)s: these studies need answers that are found on a page."),
    "study_needs_more": _(
        "No item wants more than %(references)s annotations. Collect extra annotations for a sample first."
    ),
    "study_empty": _("Nothing is annotated yet."),
    "study_places": _(
        "No item has a counted annotation in each of its first %(ways)s slots. The fullest has %(fullest)s. Collect extra annotations for a sample, or wait until reopened slots are filled."
    ),
    "study_two": _("A study of annotators needs at least two annotations per item."),
}
