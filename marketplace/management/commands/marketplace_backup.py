"""``manage.py marketplace_backup``: as the platform's ``backup``, with the settings of the marketplace."""

from storage.backup_commands import BackupCommand as Command

__all__ = ["Command"]
