"""Passwords of local users: Argon2id, and what makes one too weak."""

from __future__ import annotations

import re
import string
from functools import cache
from itertools import pairwise

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LEAST = 12
MOST = 1_024
LEAST_DIFFERENT = 5
LEAST_PART = 4
LEAST_OF_WORD = 3
"""The part of a password that common words must be for it to be as weak as these: a third."""


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


_COMMON = re.compile(
    "(?:pass(?:word|wort|wd|phrase|code)?|kennwort|qwert[yz](?:uiop)?|asdf(?:ghjkl)?|[zy]xcvbnm?|letmein|welcome|"
    "willkommen|admin(?:istrator)?|root|user|guest|login|master|server|system|default|test(?:ing)?|temp|demo|"
    "change(?:me|it)|secret|geheim|iloveyou|hello|hallo|monkey|dragon|princess|sunshine|superman|batman|"
    "football|baseball|starwars|pokemon|shadow|trustno(?:one|i)?|abc|xyz|summer|winter|spring|autumn|sommer|my|the|"
    "ordito|tosca)+"
)
"""What very common passwords are made of."""

_SPELT = str.maketrans("0134578@$!", "oieastbasi")
_SIGNS = re.compile(r"[^a-z]+")
_AROUND = re.compile(r"^[^a-z]+|[^a-z]+$")


def weakness(password: str, names: tuple[str, ...]) -> str:
    """What makes a password too weak, "" for nothing. ``names`` are those of its user and of the server."""
    if len(password) < LEAST:
        return f"it has {len(password)} characters, and needs {LEAST}"
    if len(password) > MOST:
        return f"it has more than {MOST} characters"
    small = password.lower()
    if len(set(small)) < LEAST_DIFFERENT:
        return "it repeats few characters"
    inner = _AROUND.sub("", small)
    words = [_SIGNS.sub("", text) for text in (inner, inner.translate(_SPELT))]
    if any(len(text) * LEAST_OF_WORD >= len(small) and _COMMON.fullmatch(text) for text in words):
        return "it is one of those that are tried first, with digits or signs around it"
    steps = {ord(after) - ord(before) for before, after in pairwise(small)}
    if len(steps) == 1 or any(small in row * 2 for row in (string.digits, string.ascii_lowercase)):
        return "it is a sequence"
    for name in names:
        if len(name) >= LEAST_PART and name.lower() in small:
            return f'it has the name "{name}" in it'
    return ""
