"""Reading a release's folder again: the person who has it needs nothing else, neither a server nor a database."""
