"""Titles and results of jobs for people, by the kinds and results that the apps use."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

TITLES: dict[str, Promise] = {
    "annotation.launch": _("Launch"),
    "annotation.extend": _("Extra annotations"),
    "annotation.numbers": _("Progress statistics"),
    "annotation.notifications": _("Emails"),
    "quality.import_gold": _("Importing gold questions"),
    "quality.pilot_keys": _("Gold questions from the pilot"),
    "quality.examine": _("Checking new answers"),
    "evaluation.systems": _("Adding systems"),
    "evaluation.predictions": _("Adding a system"),
    "evaluation.recall_cases": _("Recalling cases of a removed system"),
    "evaluation.sample_predictions": _("Sending systems' answers to experts"),
    "evaluation.system_scores": _("Computing the scores of systems"),
    "quality.audit": _("Starting an audit"),
    "quality.audit_recall": _("Canceling an audit"),
    "quality.certificate_freeze": _("Freezing labels for a certificate"),
    "quality.certificate_advance": _("Updating a certificate"),
    "quality.waves": _("Adaptive voting"),
    "quality.sample_cases": _("Sending a sample to experts"),
    "quality.studies": _("Studies"),
    "quality.study_needs": _("Estimating a study"),
    "quality.study_begin": _("Starting a study"),
    "quality.numbers": _("Quality statistics"),
    "quality.behaviour": _("Behavior signals"),
    "quality.exclude": _("Excluding answers"),
    "quality.restore": _("Restoring answers"),
    "quality.person_work": _("Changing an annotator's answers"),
    "quality.dry_run": _("Testing a rule"),
    "evaluation.score": _("Scoring a submission"),
    "evaluation.score_release": _("Scoring predictions"),
    "exports.write": _("Release"),
    "exports.publish": _("Publishing a release"),
    "workforces.marketplace": _("Marketplace sync"),
    "workforces.prolific": _("Prolific sync"),
    "quality.plan": _("Forecast"),
    "console.plan": _("Forecast"),
    "api.publish_events": _("Events"),
    "api.send_webhooks": _("Webhooks"),
}


PROBLEMS = ("missing", "others", "unused")  # told only if there are any


def outcome_of(result: Mapping[str, Any]) -> str:
    """Return the counts in a job's result as sentences; empty if the result has no known counts."""
    texts: dict[str, Callable[[int], str]] = {
        "slots": lambda n: ngettext("%(n)s annotation requested.", "%(n)s annotations requested.", n),
        "opened": lambda n: ngettext("%(n)s case sent to experts.", "%(n)s cases sent to experts.", n),
        "keys": lambda n: ngettext("%(n)s gold question added.", "%(n)s gold questions added.", n),
        "drawn": lambda n: ngettext("%(n)s item drawn.", "%(n)s items drawn.", n),
        "cases": lambda n: ngettext("%(n)s case sent to experts.", "%(n)s cases sent to experts.", n),
        "predictions": lambda n: ngettext("%(n)s prediction added.", "%(n)s predictions added.", n),
        "long": lambda n: ngettext("%(n)s has a long answer.", "%(n)s have a long answer.", n),
        "short": lambda n: ngettext("%(n)s has a short answer.", "%(n)s have a short answer.", n),
        "missing": lambda n: ngettext(
            "%(n)s item has no prediction, so it can't be drawn.",
            "%(n)s items have no prediction, so they can't be drawn.",
            n,
        ),
        "others": lambda n: ngettext(
            "%(n)s prediction is for another example.", "%(n)s predictions are for other examples.", n
        ),
        "unused": lambda n: ngettext(
            "%(n)s short answer isn't used because it isn't valid within its long answer.",
            "%(n)s short answers aren't used because they aren't valid within their long answers.",
            n,
        ),
        "excluded": lambda n: ngettext("%(n)s answer excluded.", "%(n)s answers excluded.", n),
        "restored": lambda n: ngettext("%(n)s answer restored.", "%(n)s answers restored.", n),
        "changed": lambda n: ngettext("%(n)s answer changed.", "%(n)s answers changed.", n),
    }
    told = [key for key in texts if isinstance(result.get(key), int) and (result[key] or key not in PROBLEMS)]
    return " ".join(texts[key](result[key]) % {"n": result[key]} for key in told)
