"""Bytes for the journal: the frozen records as MessagePack, with an extension for values that MessagePack cannot hold,
and with sensitive values sealed."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive
from ordito.ensemble.vault import opener, sealed

T = TypeVar("T")

_BIG_INTEGER = 1
_LEAST, _GREATEST = -(1 << 63), (1 << 64) - 1
_SENSITIVE = 2


_FAST = msgspec.msgpack.Encoder(enc_hook=lambda value: _sealed_text(sealed(value)))


def encode(value: object) -> bytes:
    """The bytes of a record, or of any data.

    Integers of any size are kept. Half of a surrogate pair in a text, which no file can hold, becomes U+FFFD.
    """
    try:
        return _FAST.encode(value)
    except (OverflowError, UnicodeEncodeError):
        return _FAST.encode(_mended(msgspec.to_builtins(value, str_keys=False, enc_hook=sealed)))


class Decoder(Generic[T]):
    """Reads values of one type from bytes."""

    def __init__(self, kind: type[T]) -> None:
        """``kind`` is a class, or a union of tagged ones."""
        self._decoder = msgspec.msgpack.Decoder(kind, ext_hook=_extension)

    def __call__(self, data: bytes) -> T:
        """The value that these bytes hold. Raises ``msgspec.DecodeError`` for bytes that hold none."""
        return self._decoder.decode(data)


def _sealed_text(value: object) -> object:
    """What ``stored`` makes of a sensitive value, as MessagePack has it."""
    assert isinstance(value, dict)
    return msgspec.msgpack.Ext(_SENSITIVE, str(value[SHOWN]).encode())


def _mended(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        case int() if not _LEAST <= value <= _GREATEST:
            return msgspec.msgpack.Ext(_BIG_INTEGER, str(value).encode())
        case dict() if len(value) == 1 and isinstance(value.get(SHOWN), str):
            return _sealed_text(value)
        case dict():
            return {_mended(key): _mended(item) for key, item in value.items()}
        case list() | tuple():
            mended = [_mended(item) for item in value]
            return tuple(mended) if isinstance(value, tuple) else mended
    return value


def _extension(code: int, data: memoryview) -> object:
    if code == _SENSITIVE:
        return Sensitive.sealed(bytes(data).decode(), opener())
    if code != _BIG_INTEGER:
        raise msgspec.DecodeError(f"unknown extension {code}")
    return int(bytes(data))
