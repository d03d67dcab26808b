"""The site's texts about rules: names of system qualifications, comparisons, refusals."""

from django.utils.translation import gettext_lazy as _

from marketplace.protocol import requirements

SYSTEM_NAMES = {
    requirements.PERCENT_APPROVED: _("Approval rate (%)"),
    requirements.NUMBER_APPROVED: _("Approved assignments"),
    requirements.LOCALE: _("Country"),
    requirements.ADULT: _("You accept adult content"),
}
COMPARATORS = {
    "LessThan": _("less than"),
    "LessThanOrEqualTo": _("at most"),
    "GreaterThan": _("more than"),
    "GreaterThanOrEqualTo": _("at least"),
    "EqualTo": _("is"),
    "NotEqualTo": _("is not"),
    "Exists": _("must be granted"),
    "DoesNotExist": _("must not be granted"),
    "In": _("is one of"),
    "NotIn": _("is not one of"),
}
REFUSALS = {
    "gone": _("This HIT has expired or was withdrawn."),
    "changed": _("The terms of this HIT have changed. Review them before you accept."),
    "full": _("All assignments of this HIT are taken."),
    "held": _("You've already accepted this HIT. Find it under My work."),
    "done": _("You've already completed this HIT."),
    "blocked": _("This requester has blocked you."),
    "unqualified": _("You don't have all the qualifications required for this HIT."),
    "too_many": _("You've accepted the maximum number of HITs. Submit or return one first."),
    "nothing": _("There are no more HITs of this kind for you."),
    "inactive": _("This qualification can't be requested."),
    "have": _("You already have this qualification."),
    "open": _("The requester hasn't answered your request yet."),
    "once": _("This qualification can be requested only once, and you've already requested it."),
    "early": _("It's too early to request this qualification again. Try again later."),
    "late": _("The time for this test is over. This counts as an attempt."),
    "sent": _("You already submitted this test."),
}
