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
    "token_scopes": _("Choose at least one scope: %(known)s."),
    "token_days": _("A token is valid for 1 to %(most)s days."),
    "tokens_many": _("You have %(most)s tokens. Revoke some of them first."),
    "webhook_url": _("Nothing can be sent to %(url)s. Enter an https address that is reachable from the internet."),
    "webhook_mail": _("%(url)s isn't a valid email address."),
    "webhook_kinds": _("Choose at least one kind of event: %(known)s."),
    "webhook_form": _("Choose one of these formats: %(known)s."),
    "webhooks_many": _("A campaign can have %(most)s webhooks. Delete one first."),
    "invitation_provider": _("This campaign accepts only people who log in with %(provider)s."),
    "invitation_domain": _("This campaign accepts only people with an email address at %(domain)s."),
}
