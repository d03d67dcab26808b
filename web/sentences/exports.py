"""What errors about releases say."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "answer_two_texts": _("The answer %(answer)s has two different texts in this campaign."),
    "generated_not_sealed": _(
        "Generated questions are mixed into sealed splits, but none of the chosen splits is sealed."
    ),
    "generated_before": _(
        "%(split)s was released without generated questions before, so comparing the releases would reveal them."
    ),
    "release_ways_missing": _("Enter the number of annotations per item."),
    "release_breaks_format": _("Item %(item)s would break the format: %(field)s: %(problem)s"),
    "generated_too_few": _(
        "There are too few generated questions. Each written question needs one of about its length."
    ),
    "release_format_unknown": _("Unknown format %(format)s. Expected one of %(known)s."),
    "release_format_other": _("The format %(format)s isn't available for the task type %(task_type)s."),
    "release_shards": _("The number of shards must be between 1 and 100."),
    "release_lines": _("A license and each author's name must fit on one line, without invisible characters."),
    "release_takes_no_generated": _("The format %(format)s doesn't accept generated questions."),
    "release_labels_only": _("The format %(format)s has no labels-only variant, because its records are the pages."),
    "release_split_unknown": _("No split is called %(unknown)s. The splits are %(known)s."),
    "release_ways_unmet": ngettext(
        "No split wants %(ways)s annotation per item.", "No split wants %(ways)s annotations per item.", "ways"
    ),
}
