"""The messages of errors about accounts and roles."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "role_excluded": _(
        "You can't combine this role with a role that you have or had in this campaign. Ask an administrator to allow both."
    ),
    "waiver_reason_missing": _("Explain why one person has both roles. Releases include this reason."),
    "invitation_other_address": _(
        "This invitation was sent to another email address. Log in with that address to accept it."
    ),
    "address_given_up": _(
        "An earlier account with this email address was deleted or changed its address. You can't use this address to join as a new person."
    ),
    "invitation_domain": _("This campaign accepts only people with an email address at %(domain)s."),
}
