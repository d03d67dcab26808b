"""What errors about campaigns, items and answers say."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "question_empty": _("Write a question."),
    "question_short": _("This is too short to be a question."),
    "question_answer": _("The question contains its answer."),
    "question_copy": _("The question is a copy of the sentence."),
    "question_taken": _("This question was written before in this campaign."),
    "campaign_no_split": _("A campaign needs at least one split."),
    "split_name": _(
        "The split %(split)s can't have this name. A name has up to 30 ASCII letters, digits, dots, hyphens and underscores, and begins with a letter or digit."
    ),
    "split_names_alike": _(
        "Two splits have the same name, apart from upper and lower case. Files are named after splits, so the names must differ."
    ),
    "slug": _(
        "The short name %(slug)s can't be part of an address. Use ASCII letters, digits, hyphens and underscores."
    ),
    "slug_taken": _("The short name %(slug)s is the address of another page. Choose a different one."),
    "answered_by_people": _("%(campaign)s contains human answers, which would be marked as synthetic."),
    "task_type_unknown": _("Unknown task type %(task_type)s. Expected one of %(known)s."),
    "setting_locked": _("These settings can't change: %(names)s."),
    "option_unknown": _("%(task_type)s has no option %(option)s. Its options: %(known)s."),
    "question_settled": _("Someone settled this question in the meantime."),
    "faq_incomplete": _("Enter both the question and the answer."),
    "question_about_gold": _("This item is a gold question. Reply only to the annotator who asked."),
    "split_sealed_slots": _("%(split)s is sealed. You can't collect more annotations of its items."),
    "relevance_way": _("The steps taken don't lead to this label."),
    "relevance_label": _("The label must be 1, 2, 3 or 4."),
    "relevance_unanswered": _("Choose a label."),
    "stage_unknown": _("This task has no such stage."),
    "question_label": _("Choose whether the question is good or bad."),
    "question_reason": _("Choose one of the five reasons."),
    "box_unknown": _("This page has no such box."),
    "box_reason": _("That reason doesn't fit the choice."),
    "short_without_long": _("Choose a long answer before the short answer."),
    "short_kind": _("Choose spans, yes, no, or no short answer."),
    "spans_missing": _("Mark at least one span, or choose yes, no, or no short answer."),
    "spans_too_many": _("Mark at most %(most)s spans."),
    "span_form": _("A span is a pair of token numbers."),
    "span_outside": _("A span lies outside the long answer."),
    "span_without_word": _("A span contains no word."),
    "spans_overlap": _("The spans overlap."),
    "answer_unfinished": _("A stage still has no answer."),
    "whole_number": _("Expected a whole number."),
    "spans_form": _("The spans must be a short JSON list of pairs."),
    "question_first": _("Judge the question first."),
    "item_without_document": _("This item has no document."),
    "stage_before": _("Finish the stage before this one first."),
    "review_decision": _("Accept, edit or reject the question."),
    "rejection_reason": _("Choose a reason for the rejection."),
    "review_unchanged": _("The question is unchanged. Accept it instead."),
    "writing_unfinished": _("This item isn't finished."),
    "choice_missing": _("Choose one of the answers."),
    "choice_unknown": _("That isn't one of the choices."),
    "sentence_missing": _("Choose a sentence."),
    "text_expected": _("Expected text."),
    "text_too_long": _("Text can have at most %(most)s characters."),
    "text_unpublishable": _("The text contains a character that can't be published."),
}
