"""``manage.py marketplace_restore``: as the platform's ``restore``, with the settings of the marketplace."""

from storage.backup_commands import RestoreCommand as Command

__all__ = ["Command"]
