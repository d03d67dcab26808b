"""The messages of errors, by key: plain English, which each interface can translate."""

from web.marks import Plural
from web.marks import gettext_noop as _
from web.sentences import accounts, annotation, evaluation, exports, plans, quality, workforces

SENTENCES: dict[str, str | Plural] = {
    "said": _("%(said)s"),  # what another program or library said
    **accounts.TEXTS,
    **annotation.TEXTS,
    **evaluation.TEXTS,
    **exports.TEXTS,
    **plans.TEXTS,
    **quality.TEXTS,
    **workforces.TEXTS,
}
