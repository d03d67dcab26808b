"""What errors about boards say."""

from web.marks import Plural, ngettext
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "board_split": _("Release %(release)s has no split %(split)s, or %(metric)s can't score it."),
    "board_step": _(
        "A step is between %(least)s and 0.5 and divides 1, such as 0.01. A team can submit 1 to 100 times a day."
    ),
    "board_release_tells": _(
        "Release %(release)s contains labels of a split that was sealed later. Create a new release."
    ),
    "board_exists": _("This board exists already. A sealed split has one board per metric, across all releases."),
    "board_too_small": _(
        "%(split)s has fewer than %(least)s items in release %(release)s. That's too few to score against."
    ),
    "team_joined": _("You're already in a team on this board."),
    "team_name_taken": _("A team with this name exists. Ask its members for the code, or choose another name."),
    "board_closed": _("The split of this board was sealed, so the board no longer scores."),
    "submission_size": _("A file has between 1 and %(most)s bytes."),
    "team_missing": _("Join a team first."),
    "submissions_used": ngettext(
        "Your team has used its %(times)s submission for 24 hours. Try again later.",
        "Your team has used its %(times)s submissions for 24 hours. Try again later.",
        "times",
    ),
}
