"""Signals for other apps, each sent within the transaction of the change that it reports."""

from django.dispatch import Signal

# A person accepted an invitation to a role, or a manager removed their role. Arguments: user, scope_id, role, given, now.
role_changed = Signal()
