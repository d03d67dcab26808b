"""The messages of errors about plans."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "plan_needs": _("%(name)s (the number of items) is required."),
    "plan_policy": _("%(text)s isn't a policy. Use paper, fixed, or target:ERROR:DOLLARS, such as target:0.05:200."),
    "plan_policy_wrong": _("%(text)s: %(problem)s"),
    "plan_without_votes": _("This task type doesn't use voting, so there are no votes to forecast."),
    "plan_running": _("A forecast of this campaign is being calculated. Try again when it is done."),
    "plan_size": _("A plan needs at least one item, one vote per item, and more annotators than votes per item."),
    "plan_numbers": _(
        "The share of spam must be at least 0 and less than 0.9. Rewards can't be negative, and answers per day must be more than 0."
    ),
}
