"""Tokens, by which programs act for a person, and the page on which people create and revoke them."""
