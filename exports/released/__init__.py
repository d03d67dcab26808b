"""Read a release's folder without a server or a database."""
