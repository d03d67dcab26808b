"""Reading a release's folder again: whoever has it needs nothing else, neither a server nor a database."""
