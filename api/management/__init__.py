"""Commands of the API app."""
