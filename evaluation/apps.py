"""Configuration of the evaluation app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Scores of predictions, by the numbers of the official scripts."""

    name = "evaluation"
