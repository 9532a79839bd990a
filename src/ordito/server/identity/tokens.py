"""Tokens: secrets that sign programs in, in a form that scanners of files know, and of which only hashes are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from string import ascii_letters, digits

import msgspec

ALPHABET = digits + ascii_letters
OF_USER, OF_ACCOUNT = "u", "a"

_TOKEN = re.compile(r"ordito_[ua]_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})")


class NewToken(msgspec.Struct, frozen=True):
    """A new token: its id, the text that is given out once, and the hash that is kept."""

    id: str
    text: str
    hash: bytes


def new_token(kind: str) -> NewToken:
    """A token for a user (``OF_USER``) or a service account (``OF_ACCOUNT``)."""
    name, secret = _random(12), _random(43)
    head = f"ordito_{kind}_{name}_{secret}"
    return NewToken(name, f"{head}_{_checksum(head)}", hashed(secret))


def parts_of(text: str) -> tuple[str, bytes] | None:
    """The id of a token and the hash of its secret; None for what is no token, or was copied wrongly."""
    found = _TOKEN.fullmatch(text)
    if found is None or not hmac.compare_digest(_checksum(text.rpartition("_")[0]), found[3]):
        return None
    return found[1], hashed(found[2])


def new_secret() -> str:
    """A secret of 256 random bits, for sessions and links."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> bytes:
    """What is kept of a secret with so many random bits."""
    return hashlib.sha256(secret.encode()).digest()


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def _checksum(head: str) -> str:
    number, found = zlib.crc32(head.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(ALPHABET))
        found = ALPHABET[digit] + found
    return found
