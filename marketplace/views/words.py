"""What the site says about the rules: names of system qualifications, comparisons, refusals."""

from django.utils.translation import gettext_lazy as _

from marketplace.protocol import requirements

SYSTEM_NAMES = {
    requirements.PERCENT_APPROVED: _("Approved assignments, in percent"),
    requirements.NUMBER_APPROVED: _("Approved assignments"),
    requirements.LOCALE: _("Country"),
    requirements.ADULT: _("Adult content is fine with you"),
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
    "gone": _("This HIT is no longer there: it expired or was withdrawn."),
    "changed": _("The terms of this HIT have changed. Look at them, then accept it."),
    "full": _("Others were faster: all places in this HIT are taken."),
    "held": _("You have accepted this HIT already. You find it under My work."),
    "done": _("You have done this HIT already."),
    "blocked": _("This requester does not want to work with you."),
    "unqualified": _("You do not have all the qualifications that this HIT asks for."),
    "too_many": _("You hold as many HITs as one may hold at a time. Submit or return one first."),
    "nothing": _("There is no further HIT of this kind for you."),
    "inactive": _("This qualification cannot be asked for."),
    "have": _("You have this qualification."),
    "open": _("Your request is waiting for the requester."),
    "once": _("One can ask for this qualification once only, and you have."),
    "early": _("It is too early to ask again."),
    "late": _("The time for this test is over. It counts as a try."),
    "sent": _("This test was sent before."),
}
