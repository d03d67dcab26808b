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
    "publish_away": _("%(hub)s isn't configured here. An administrator can set its token."),
    "publish_name": _("Enter the repository as owner/name, with letters, digits, hyphens, dots, and underscores."),
    "publish_exists": _("%(name)s exists already and isn't from this campaign. Choose another name."),
    "publish_taken": _("%(name)s belongs to another campaign. Choose another name."),
    "publish_is_public": _(
        "%(name)s is public, so everyone would see this release. Select “Make it public”, or choose another name."
    ),
    "publish_closed_beside": _(
        "%(name)s also holds release %(release)s, which contains labels that were sealed later. Choose another name."
    ),
    "publish_older": _(
        "A newer release is already published there. Publish older releases first, or under another name."
    ),
    "publish_gave_up": _("%(hub)s didn't respond for a day. Publish the release again."),
    "publish_space": _("There isn't enough disk space to prepare the upload."),
    "publish_busy": _("Another release of this campaign is being published there. Wait until it's done."),
    "publish_moved": _("This release is already published as %(name)s."),
    "publish_not_ready": _("Only a finished release whose files are here can be published."),
    "publish_authors": _("Zenodo needs authors. Create a release that names them."),
    "publish_license": _("Zenodo needs a license. Create a release with an SPDX identifier, for example CC-BY-4.0."),
    "publish_framework": _("An evaluation framework is written with lowercase letters, digits, and hyphens."),
    "publish_package": _("A package is missing. An administrator can install %(package)s."),
    "publish_draft": _("There is an unpublished draft of a new version. Publish or delete it first: %(url)s"),
    "publish_refused": _("%(hub)s refused: %(said)s"),
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
