"""Baselines without training: reproducible runs to compare systems with."""
