"""The shared code of task types in which people write questions, and others review them and answer them blind."""
