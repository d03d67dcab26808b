"""Leaderboards: systems scored against a split, and what a sealed one lets out."""
