"""Pure rules that turn raw material into items, each seeded and reported."""
