"""The messages of errors about releases."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "answer_two_texts": _("The answer ID %(answer)s is used for two different texts in this campaign."),
    "generated_not_sealed": _(
        "Generated questions can be mixed only into sealed splits. Choose at least one sealed split."
    ),
    "generated_before": _(
        "%(split)s was already released without generated questions. Comparing the two releases would reveal which questions are generated."
    ),
    "release_ways_missing": _("Enter the number of annotations per item."),
    "release_breaks_format": _("Item %(item)s can't be exported in this format. %(field)s: %(problem)s"),
    "generated_too_few": _(
        "There aren't enough generated questions. Each written question needs a generated question of about the same length."
    ),
    "release_format_unknown": _("Unknown format %(format)s. Expected one of %(known)s."),
    "release_format_other": _("The format %(format)s isn't available for the task type %(task_type)s."),
    "release_shards": _("The number of shards must be between 1 and 100."),
    "release_lines": _("A license and each author's name must fit on one line, without invisible characters."),
    "release_takes_no_generated": _("The format %(format)s doesn't accept generated questions."),
    "release_labels_only": _(
        "The format %(format)s doesn't have a labels-only variant because its records include the pages."
    ),
    "release_split_unknown": _("Unknown split: %(unknown)s. Available splits: %(known)s."),
    "release_ways_unmet": ngettext(
        "No split collects %(ways)s annotation per item.",
        "No split collects %(ways)s annotations per item. Enter a smaller number.",
        "ways",
    ),
}
