"""SQLite whose writers stand in line."""
