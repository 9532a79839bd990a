"""The secrets that an ensemble keeps: set, shown when they are asked for by name, listed, removed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import place_of
from ordito.base.diagnostics import suggestion
from ordito.base.masking import LEAST
from ordito.ensemble.errors import explained
from ordito.ensemble.vault import MOST_BYTES, NAME, SecretsFile


class KeptSecret(msgspec.Struct, frozen=True):
    """The result of setting a secret: whether it has changed, and whether it is too short to be masked in output."""

    changed: bool
    is_short: bool


def checked_secret(name: str, value: bytes) -> str:
    """The text of a secret. Raises ``Refused`` for a name or a value that cannot be kept."""
    if not NAME.fullmatch(name):
        raise Refused(
            "bad-name",
            f'"{name}" is not a valid name for a secret',
            "a name begins with a letter or _, and goes on with letters, digits, _, . and -",
        )
    if not value:
        raise Refused(
            "no-value", f'the value of secret "{name}" is empty', "to forget a secret: `ordito secrets rm NAME`"
        )
    if len(value) > MOST_BYTES:
        raise Refused("too-large", f"a secret has at most {MOST_BYTES:,} bytes, and this one {len(value):,}")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(
            "encoding", f'the value of secret "{name}" is not UTF-8 text', "encode it, for example with base64"
        ) from None


def is_short(text: str) -> bool:
    """Whether a secret is too short to be masked in output."""
    return len(text) < LEAST


def set_secret(directory: str, name: str, value: bytes) -> KeptSecret:
    """Keep a secret. Raises ``Refused`` for a name or a value that cannot be kept, and ``EnsembleError``."""
    text = checked_secret(name, value)
    changed = SecretsFile(place_of(directory).layout).put(name, text)
    return KeptSecret(changed, is_short(text))


def read_value(path: str) -> bytes:
    """A secret from a file, unchanged. Raises ``EnsembleError``."""
    from pathlib import Path

    from ordito.source.new_files import read_regular

    with explained("read", Path(path)):
        return read_regular(Path(path))


def get_secret(directory: str, name: str) -> str:
    """A secret. Raises ``Refused`` where there is none of that name, and ``EnsembleError``."""
    kept = SecretsFile(place_of(directory).layout)
    try:
        return kept.get(name)
    except KeyError:
        raise _unknown(name, kept) from None


def list_secrets(directory: str) -> list[str]:
    """The names of all secrets. Raises ``EnsembleError``."""
    return SecretsFile(place_of(directory).layout).names()


def remove_secrets(directory: str, names: Sequence[str]) -> None:
    """Forget secrets. Raises ``Refused`` where there is none of a name, and ``EnsembleError``."""
    kept = SecretsFile(place_of(directory).layout)
    try:
        kept.remove(list(names))
    except KeyError as error:
        raise _unknown(str(error.args[0]), kept) from None


def _unknown(name: str, kept: SecretsFile) -> Refused:
    return Refused(
        "unknown-secret",
        f'there is no secret "{name}"',
        suggestion(name, kept.names()),
        next_words=("secrets", "set", name),
        purpose="keep one of this name",
    )
