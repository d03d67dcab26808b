"""What errors about accounts and roles say."""

from web.marks import Plural
from web.marks import gettext_noop as _

TEXTS: dict[str, str | Plural] = {
    "role_excluded": _(
        "This role can't be combined with a role that you have or had here. An administrator can allow it."
    ),
    "waiver_reason_missing": _("Enter why one person has both roles. Releases state the reason."),
    "invitation_other_address": _("This invitation was sent to another address."),
    "address_given_up": _(
        "The account with this address was erased or gave up the address. Its owner can't start again as a new person."
    ),
    "invitation_domain": _("This campaign accepts people with an address at %(domain)s."),
}
