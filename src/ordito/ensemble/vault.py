"""The vault: sensitive values sealed with the ensemble's key, so that they may lie in files and under git.

The key lies in `.ordito/key`, which git does not keep, or where `ORDITO_KEY_FILE` says. It is made when something is to
be sealed for the first time. Sealing is AES-SIV (RFC 5297): the same value sealed with the same key is the same text,
so that files of unchanged values do not change, and what is sealed cannot be changed without being noticed.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import os
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Protocol, cast

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive, restored, stored
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import sync_directory, write_all
from ordito.ensemble.layout import Layout
from ordito.source.new_files import fresh_name
from ordito.source.regular import read_regular

KEY_FILE = "ORDITO_KEY_FILE"
"""The variable that names another place for the key."""

KEY_BYTES = 64
PREFIX = "ordito-key-1:"
_SEALED = re.compile(r"v1:([0-9a-f]{8}):([A-Za-z0-9_=-]+)")

_UNWRITTEN: dict[Path, bytes] = {}
"""Keys that were made in this process, and are not in their files because nothing was sealed with them yet."""


class Vault:
    """Seals and opens the sensitive values of one ensemble. Nothing is read, made or imported before it is needed."""

    def __init__(self, layout: Layout) -> None:
        named = os.environ.get(KEY_FILE, "")
        self.path = Path(named).absolute() if named else layout.key
        self._layout = layout
        self._named = bool(named)
        self._key = b""

    def seal(self, value: object, name: str = "") -> str:
        """A value as text that nobody can read without the key; with a ``name`` it opens under that only. Raises
        ``EnsembleError``."""
        key = self._made()
        data = msgspec.json.encode(_Sealed(value), order="deterministic")
        sealed = _cipher(key).encrypt(data, _bound_to(name))
        return f"v1:{_name(key)}:{base64.urlsafe_b64encode(sealed).decode()}"

    def open(self, text: str, name: str = "") -> object:
        """The value that was sealed. Raises ``EnsembleError`` without its key, and for what was not sealed so."""
        found = _SEALED.fullmatch(text)
        if found is None:
            raise EnsembleError("a sensitive value in the ensemble is no sealed text any more", RESTORE)
        key = self._known()
        if not key:
            raise EnsembleError(
                f"a sensitive value is needed, and the key that opens it is not here: there is no {self.path}", BRING
            )
        if _name(key) != found[1]:
            raise EnsembleError(
                f"a sensitive value was sealed with the key {found[1]}, and {self.path} holds the key {_name(key)}",
                BRING,
            )
        from cryptography.exceptions import InvalidTag

        try:
            data = _cipher(key).decrypt(base64.urlsafe_b64decode(found[2]), _bound_to(name))
            return msgspec.json.decode(data, type=_Sealed).value
        except (InvalidTag, ValueError, msgspec.DecodeError):
            raise EnsembleError("a sensitive value in the ensemble was changed after it was sealed", RESTORE) from None

    def sealed(self, value: object) -> object:
        """For encoders of what is written: their ``enc_hook``."""
        if isinstance(value, Sensitive):
            return stored(value, self.seal)
        raise NotImplementedError(f"objects of type {type(value).__name__} are not written")

    def digest_key(self) -> bytes:
        """The key of digests of sensitive values, as long as this ensemble's key is the same."""
        return hmac.digest(self._known() or self._fresh(), b"digests of sensitive values", "sha256")

    def keep(self) -> None:
        """Write down a key that digests were made with. Raises ``EnsembleError``."""
        if self.path in _UNWRITTEN:
            self._made()

    # --------------------------------------------------------------------------------------------------- the key

    def _known(self) -> bytes:
        """The key, empty where there is none."""
        if not self._key:
            with explained("read", self.path):
                try:
                    self._key = _read(self.path)
                except FileNotFoundError:
                    return b""
        return self._key

    def _fresh(self) -> bytes:
        return _UNWRITTEN.setdefault(self.path, os.urandom(KEY_BYTES))

    def _made(self) -> bytes:
        """The key, made where there is none."""
        if self._known():
            return self._key
        if not self._named:
            self._layout.make_private()
        with explained("write", self.path):
            # Another process may have been quicker: then its key is the ensemble's.
            with contextlib.suppress(FileExistsError):
                _write(self.path, self._fresh())
            _UNWRITTEN.pop(self.path, None)
            self._key = _read(self.path)
        return self._key


# --------------------------------------------------------------------------- the ensemble that is read or written now

_CURRENT: ContextVar[Vault] = ContextVar("vault")


def use_vault(layout: Layout) -> None:
    """Seal and open with the key of this ensemble from here on, in what is written to its files and read from them."""
    _CURRENT.set(Vault(layout))


def opener() -> Callable[[str], object]:
    """What opens the values that are read now, once they are needed."""
    return _CURRENT.get().open


def sealed(value: object) -> object:
    """For encoders of what is written to files: their ``enc_hook``, with the vault that is in use."""
    return _CURRENT.get().sealed(value)


def unsealed(data: object, content: bytes) -> object:
    """Data as it was before it was written, where the text that it was read from holds anything that is sealed."""
    return restored(data, opener()) if MARK in content else data


MARK = SHOWN.encode()
"""Where this stands in a file there are sensitive values, perhaps."""


class _Sealed(msgspec.Struct, array_like=True):
    """What is sealed, in a shape that says that it was opened with the right key."""

    value: object


RESTORE = "restore the file from git"
BRING = (
    "bring the file .ordito/key from where this ensemble was deployed, over a safe way, or name it by the variable "
    f"{KEY_FILE}"
)


class _Cipher(Protocol):
    """What is used of AES-SIV."""

    def encrypt(self, data: bytes, associated_data: list[bytes]) -> bytes:
        """Seal data."""

    def decrypt(self, data: bytes, associated_data: list[bytes]) -> bytes:
        """Open what was sealed."""


def _cipher(key: bytes) -> _Cipher:
    _keep_out_of_core_dumps()
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    except ImportError as error:
        raise EnsembleError(
            f"a value is {SHOWN}, and the package that seals such values is not there ({error})",
            "install it: pip install cryptography",
        ) from error
    return cast(_Cipher, AESSIV(key))


@cache
def _keep_out_of_core_dumps() -> None:
    """From here on this process holds secrets: a dump of its memory would write them to a file that nobody knows of.
    What it starts is not touched."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


_SET_DUMPABLE = 4
"""``PR_SET_DUMPABLE`` of ``prctl(2)``."""


def _bound_to(name: str) -> list[bytes]:
    return [b"ordito sensitive value 1", *([name.encode()] if name else [])]


def _name(key: bytes) -> str:
    """What a key is called; nothing follows from it."""
    return hmac.digest(key, b"name of the key", "sha256").hex()[:8]


def _read(path: Path) -> bytes:
    """The key in a file. Raises ``OSError``, and ``EnsembleError`` for a file that holds none."""
    text = read_regular(path).decode("ascii", "replace").strip()
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True) if text.startswith(PREFIX) else b""
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise EnsembleError(f"{path} holds no key", "bring it again from where this ensemble was deployed")
    return key


def _write(path: Path, key: bytes) -> None:
    """Write a key so that it is there whole or not at all, for this user only. Raises ``FileExistsError`` where there
    is one."""
    fresh = fresh_name(path)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            write_all(handle, f"{PREFIX}{base64.b64encode(key).decode()}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_directory(path.parent)
