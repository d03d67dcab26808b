"""Passwords that are made for people: whole when they are typed, pasted or given to a command."""

from storage.secrets import new_password


def test_a_new_password_never_looks_like_an_option_and_is_never_the_same():
    passwords = [new_password() for _ in range(500)]
    assert len(set(passwords)) == 500
    assert all(password.isascii() and password.isalnum() and len(password) == 16 for password in passwords)
