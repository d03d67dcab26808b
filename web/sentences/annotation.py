"""The messages of errors about campaigns, items and answers."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "question_empty": _("Write a question."),
    "question_short": _("This is too short to be a question. Write a complete question."),
    "question_answer": _("The question contains its answer. Rephrase it."),
    "question_copy": _("The question copies the sentence. Use your own words."),
    "question_taken": _("This question already exists in this campaign. Write a different one."),
    "campaign_no_split": _("A campaign needs at least one split."),
    "split_name": _(
        "The split name %(split)s isn't valid. Use up to 30 ASCII letters, digits, dots, hyphens, and underscores, starting with a letter or digit."
    ),
    "split_names_alike": _(
        "Two splits have the same name, ignoring case. Choose different names, because files are named after splits."
    ),
    "slug": _(
        "The short name %(slug)s can't be used in a web address. Use ASCII letters, digits, hyphens, and underscores."
    ),
    "slug_taken": _("The short name %(slug)s is reserved. Choose a different one."),
    "answered_by_people": _("%(campaign)s contains human answers, which would be marked as synthetic."),
    "task_type_unknown": _("Unknown task type %(task_type)s. Expected one of %(known)s."),
    "setting_locked": _("These settings can't be changed: %(names)s."),
    "option_unknown": _("%(task_type)s has no option %(option)s. Available options: %(known)s."),
    "question_settled": _("This question has already been answered or closed."),
    "faq_incomplete": _("Enter both the question and the answer."),
    "question_about_gold": _("This item is a gold question. Reply only to the annotator who asked."),
    "split_sealed_slots": _("%(split)s is sealed. You can't collect more annotations for its items."),
    "relevance_way": _("This label doesn't match your answers in the flowchart."),
    "relevance_label": _("The label must be 1, 2, 3, or 4."),
    "relevance_unanswered": _("Choose a label."),
    "correctness_label": _("The label must be correct or incorrect."),
    "correctness_unanswered": _("Choose a label."),
    "stage_unknown": _("This task doesn't have this stage. Reload the page."),
    "question_label": _("Choose whether the question is good or bad."),
    "question_reason": _("Choose one of the five reasons."),
    "box_unknown": _("This box isn't on the page. Reload the page and choose again."),
    "box_reason": _("This reason doesn't match your choice. Choose another reason."),
    "short_without_long": _("Choose a long answer before the short answer."),
    "short_kind": _("Choose spans, yes, no, or no short answer."),
    "spans_missing": _("Mark at least one span, or choose “Yes”, “No”, or “No short answer”."),
    "spans_too_many": _("Mark at most %(most)s spans."),
    "span_form": _("Each span must be a pair of token numbers."),
    "span_outside": _("Each span must be inside the long answer."),
    "span_without_word": _("Each span must contain at least one word."),
    "spans_overlap": _("Spans can't overlap."),
    "answer_unfinished": _("Answer every stage first."),
    "whole_number": _("Enter a whole number."),
    "spans_form": _("The spans must be a short JSON list of pairs."),
    "question_first": _("Judge the question first."),
    "item_without_document": _("This item has no document."),
    "stage_before": _("Finish the previous stage first."),
    "review_decision": _("Accept, edit, or reject the question."),
    "rejection_reason": _("Choose a reason for the rejection."),
    "review_unchanged": _("The question is unchanged. Accept it instead."),
    "writing_unfinished": _("Finish every stage of this item first."),
    "choice_missing": _("Choose one of the answers."),
    "choice_unknown": _("Choose one of the listed answers."),
    "sentence_missing": _("Choose a sentence."),
    "text_expected": _("Enter text."),
    "text_too_long": _("Text can have at most %(most)s characters."),
    "text_unpublishable": _("The text contains an unsupported character. Remove it and try again."),
}
