"""A model as one more annotator: whether it could stand in for one of those who were there."""
