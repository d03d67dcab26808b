"""Archives: one campaign with all its data in a file, to move it between installations with any databases."""
