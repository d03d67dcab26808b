"""The messages of errors about boards and systems."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "board_split": _("Release %(release)s has no split %(split)s, or %(metric)s can't score it."),
    "board_step": _(
        "The step must be between %(least)s and 0.5 and divide 1 evenly, such as 0.01. The daily limit must be 1 to 100 submissions per team."
    ),
    "board_release_tells": _(
        "Release %(release)s contains labels of a split that was sealed later. Create a new release."
    ),
    "board_exists": _(
        "This leaderboard already exists. A sealed split can have only one leaderboard per metric, across all releases."
    ),
    "board_too_small": _(
        "%(split)s has fewer than %(least)s items in release %(release)s. That's too few for a leaderboard."
    ),
    "team_joined": _("You're already on a team for this leaderboard."),
    "team_name_taken": _(
        "A team with this name already exists. To join it, ask its members for the code. Otherwise, choose another name."
    ),
    "board_closed": _("This leaderboard no longer accepts submissions because its split was sealed."),
    "submission_size": _("The file can't be empty or larger than %(most)s bytes."),
    "predicted_too_large": _(
        "The file is larger than %(most)s MB. Upload only the predictions for this campaign's items."
    ),
    "predicted_name": _("Give the system a name with at most %(most)s visible characters."),
    "predicted_of_pages": _(
        "Systems can be compared with annotators only in campaigns in which annotators find answers on pages."
    ),
    "predicted_nothing": _(
        "None of the predictions is for an item of this campaign. Use the example_id of the items, as in releases of this campaign."
    ),
    "predicted_empty": _("The file has no predictions."),
    "predicted_most_answers": _("A system can have predictions for at most %(most)s items of a campaign."),
    "predicted_name_taken": _("%(name)s was uploaded before with other predictions or thresholds. Use another name."),
    "predicted_most_systems": _("A campaign can have at most %(most)s systems."),
    "predicted_no_system": _("Add a system first."),
    "predicted_removed": _("A system was removed while items were drawn. Start a new draw."),
    "predicted_too_few": _(
        "Only %(there)s items can be drawn instead of %(asked)s. All systems and an annotator must have answered an item, and no item is drawn twice."
    ),
    "team_missing": _("Join a team first."),
    "submissions_used": ngettext(
        "Your team has already used its %(times)s submission for the last 24 hours. Try again later.",
        "Your team has already used its %(times)s submissions for the last 24 hours. Try again later.",
        "times",
    ),
}
