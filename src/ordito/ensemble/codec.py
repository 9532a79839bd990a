"""Bytes for the journal: MessagePack of the frozen records, with a way out for what it cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

T = TypeVar("T")

_BIG_INTEGER = 1
_LEAST, _GREATEST = -(1 << 63), (1 << 64) - 1
_FAST = msgspec.msgpack.Encoder()


def encode(value: object) -> bytes:
    """The bytes of a record, or of any data.

    Integers of any size are kept. A text with half a surrogate pair, which no file can hold, gets U+FFFD in its place.
    """
    try:
        return _FAST.encode(value)
    except (OverflowError, UnicodeEncodeError):
        return _FAST.encode(_mended(msgspec.to_builtins(value, builtin_types=(bytes,), str_keys=False)))


class Decoder:
    """Reads records of one type back."""

    def __init__(self, kind: object) -> None:
        self._decoder: msgspec.msgpack.Decoder[object] = msgspec.msgpack.Decoder(kind, ext_hook=_extension)  # type: ignore[call-overload]

    def __call__(self, data: bytes) -> object:
        """The record that these bytes hold. Raises ``msgspec.DecodeError``."""
        return self._decoder.decode(data)
