"""``manage.py marketplace_restore``: the platform's ``restore`` with the marketplace's settings."""

from storage.backup_commands import RestoreCommand as Command

__all__ = ["Command"]
