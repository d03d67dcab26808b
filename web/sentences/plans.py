"""What errors about plans say."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "plan_needs": _("%(name)s is required: the number of items."),
    "plan_policy": _("%(text)s isn't a policy. Use paper, fixed or target:ERROR:DOLLARS, such as target:0.05:200."),
    "plan_policy_wrong": _("%(text)s: %(problem)s"),
    "plan_without_votes": _(
        "This task type collects answers side by side, without voting. There are no votes to forecast."
    ),
    "plan_size": _("A plan needs at least one item, one vote per item, and more annotators than votes per item."),
    "plan_numbers": _("The share of spam must be between 0 and 0.9. Rewards and answers per day can't be negative."),
}
