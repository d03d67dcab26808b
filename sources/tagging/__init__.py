"""Taggers: what each word of a query is."""
