"""Taggers: programs that tag each word of a query."""
