"""What each kind of `evaluate` asks for, reads and prints."""
