"""``manage.py backup``: everything this installation holds, in one archive, while people work."""

from storage.backup_commands import BackupCommand as Command

__all__ = ["Command"]
