"""One campaign in a file, with all that belongs to it: from one installation to another, whatever their databases."""
