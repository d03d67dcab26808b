"""``manage.py marketplace_backup``: the platform's ``backup`` with the marketplace's settings."""

from storage.backup_commands import BackupCommand as Command

__all__ = ["Command"]
