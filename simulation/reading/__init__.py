"""What people make of the pages of each kind of task."""
