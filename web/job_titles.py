"""What jobs are called and what came of them, for people: by the kinds and results that the apps use."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

TITLES: dict[str, Promise] = {
    "annotation.launch": _("Launch"),
    "annotation.extend": _("Extra annotations"),
    "annotation.numbers": _("Progress numbers"),
    "annotation.notifications": _("Emails"),
    "quality.import_gold": _("Import of gold questions"),
    "quality.pilot_keys": _("Gold questions from the pilot"),
    "quality.examine": _("Check of new answers"),
    "quality.audit": _("Draw of an audit"),
    "quality.audit_recall": _("Cancellation of an audit"),
    "quality.waves": _("Adaptive voting"),
    "quality.sample_cases": _("Sample for experts"),
    "quality.studies": _("Studies"),
    "quality.study_needs": _("Effort of a study"),
    "quality.study_begin": _("Start of a study"),
    "quality.numbers": _("Quality numbers"),
    "quality.behaviour": _("Behavior signals"),
    "quality.exclude": _("Exclusion of answers"),
    "quality.restore": _("Restoring of answers"),
    "quality.person_work": _("Change of an annotator's answers"),
    "quality.dry_run": _("Test of a rule"),
    "evaluation.score": _("Leaderboard score"),
    "evaluation.score_release": _("Score of predictions"),
    "exports.write": _("Release"),
    "workforces.marketplace": _("Marketplace update"),
    "console.plan": _("Forecast"),
}


def outcome_of(result: Mapping[str, Any]) -> str:
    """Return what came of a job whose result counts something, as a sentence; nothing where it does not."""
    texts: dict[str, Callable[[int], str]] = {
        "slots": lambda n: ngettext("%(n)s annotation requested.", "%(n)s annotations requested.", n),
        "opened": lambda n: ngettext("%(n)s case sent to experts.", "%(n)s cases sent to experts.", n),
        "keys": lambda n: ngettext("%(n)s gold question added.", "%(n)s gold questions added.", n),
        "drawn": lambda n: ngettext("%(n)s item drawn.", "%(n)s items drawn.", n),
        "excluded": lambda n: ngettext("%(n)s answer excluded.", "%(n)s answers excluded.", n),
        "restored": lambda n: ngettext("%(n)s answer restored.", "%(n)s answers restored.", n),
        "changed": lambda n: ngettext("%(n)s answer changed.", "%(n)s answers changed.", n),
    }
    said = [text(result[key]) % {"n": result[key]} for key, text in texts.items() if isinstance(result.get(key), int)]
    return " ".join(said)
