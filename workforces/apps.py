"""Configuration of the workforces app."""

from django.apps import AppConfig


class WorkforcesConfig(AppConfig):
    """Where people come from and how they are paid."""

    name = "workforces"
