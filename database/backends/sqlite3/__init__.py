"""An SQLite backend whose writers wait in a queue."""
