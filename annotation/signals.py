"""Signals for other apps, each sent within the transaction of the change that it reports."""

from django.dispatch import Signal

# An annotator, whose place is locked, is about to be assigned an item for which nothing is scheduled yet (as is their
# first one). A receiver schedules injections, and says how far
# (`annotation.people.services.standing.injections_scheduled`). Arguments: place, now.
participation_advanced = Signal()
# An annotator withdrew; their work was moved to a new surrogate. Arguments: campaign, before, after (surrogate ids).
participation_withdrawn = Signal()
# Two surrogates turned out to be one annotator. Arguments: campaign, before, after (surrogate ids).
participation_joined = Signal()
# A person got the standing of a visit of theirs, or kept a worse one: what belongs to the visit's standing is theirs.
# Arguments: campaign, before, after (surrogate ids), now.
standing_joined = Signal()
# An item was skipped. Arguments: assignment (with its reason), now.
assignment_skipped = Signal()
