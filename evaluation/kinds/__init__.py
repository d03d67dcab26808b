"""The kinds of `evaluate` reports: the arguments, input files and printed text of each kind."""
