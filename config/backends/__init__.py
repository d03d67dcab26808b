"""Django's database backends, with what they lack here."""
