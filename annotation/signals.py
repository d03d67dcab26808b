"""Signals that other apps may receive, each sent within the transaction of what it tells."""

from django.dispatch import Signal

# Somebody takes their first place in a campaign. Arguments: place (`Participation`).
participation_begun = Signal()
# An item was skipped. Arguments: assignment (with its reason), now.
assignment_skipped = Signal()
