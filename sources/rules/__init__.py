"""How raw material becomes items: pure rules, each seeded and reported."""
