"""Leaderboards: systems scored against a split, and what the board of a sealed split shows."""
