"""What the site says about the rules: names of system qualifications, comparisons, refusals."""

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
    "Exists": _("you have it"),
    "DoesNotExist": _("you do not have it"),
    "In": _("is one of"),
    "NotIn": _("is none of"),
}
REFUSALS = {
    "gone": _("This HIT has expired or was withdrawn."),
    "changed": _("The terms of this HIT have changed. Review them before you accept."),
    "full": _("All places in this HIT are taken."),
    "held": _("You've already accepted this HIT. Find it under My work."),
    "done": _("You've already done this HIT."),
    "blocked": _("This requester has blocked you."),
    "unqualified": _("You do not have all the qualifications that this HIT asks for."),
    "too_many": _("You hold the maximum number of HITs. Submit or return one first."),
    "nothing": _("There are no more HITs of this kind for you."),
    "inactive": _("This qualification can't be requested."),
    "have": _("You already have this qualification."),
    "open": _("Your request is waiting for the requester."),
    "once": _("This qualification can be requested only once, and you've already requested it."),
    "early": _("It's too early to request it again."),
    "late": _("The time for this test is over. It counts as an attempt."),
    "sent": _("You already submitted this test."),
}
