"""A model as an additional annotator: whether it could replace one of the human annotators."""
