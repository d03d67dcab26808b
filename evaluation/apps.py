"""Configuration of the evaluation app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Scores of predictions, with the metrics of the official scripts."""

    name = "evaluation"
