"""Scores of systems in human terms."""
