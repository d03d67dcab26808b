"""Readers that simulate people's answers to the pages of each kind of task."""
