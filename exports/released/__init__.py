"""Reading a release's folder again, without a server or a database."""
