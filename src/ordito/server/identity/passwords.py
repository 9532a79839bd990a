"""Passwords of local users: Argon2id, and what makes one too weak."""

from __future__ import annotations

import string
from functools import cache
from itertools import pairwise

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LEAST = 12
MOST = 1_024
LEAST_DIFFERENT = 5
LEAST_PART = 4

_HASHER = PasswordHasher()


@cache
def _unknown() -> str:
    """Compared with where there is no such user, so that both take the same time."""
    return _HASHER.hash("of nobody")


def hashed(password: str) -> str:
    """The hash that is kept."""
    return _HASHER.hash(password)


def is_right(kept: str, password: str) -> bool:
    """Whether a password is the one of which the hash is kept; "" takes as long, and is never right."""
    try:
        _HASHER.verify(kept or _unknown(), password[:MOST])
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)


def weakness(password: str, names: tuple[str, ...]) -> str:
    """What makes a password too weak, "" for nothing. ``names`` are those of its user and of the server."""
    if len(password) < LEAST:
        return f"it has {len(password)} characters, and needs {LEAST}"
    if len(password) > MOST:
        return f"it has more than {MOST} characters"
    small = password.lower()
    if len(set(small)) < LEAST_DIFFERENT:
        return "it repeats few characters"
    steps = {ord(after) - ord(before) for before, after in pairwise(small)}
    if len(steps) == 1 or any(small in row * 2 for row in (string.digits, string.ascii_lowercase)):
        return "it is a sequence"
    for name in names:
        if len(name) >= LEAST_PART and name.lower() in small:
            return f'it has the name "{name}" in it'
    return ""
