"""``manage.py restore``: bring a backup back into an empty installation."""

from storage.backup_commands import RestoreCommand as Command

__all__ = ["Command"]
