"""Signals that other apps may receive, each sent within the transaction of what it tells."""

from django.dispatch import Signal

# Somebody takes their first place in a campaign. Arguments: place (`Participation`).
participation_begun = Signal()
# Somebody withdrew; their work was moved to a new surrogate. Arguments: campaign, before, after (surrogate ids).
participation_withdrawn = Signal()
# An item was skipped. Arguments: assignment (with its reason), now.
assignment_skipped = Signal()
