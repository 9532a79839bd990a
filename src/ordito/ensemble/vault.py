"""`secrets.yaml`: the secrets of an ensemble, one a line, each sealed with the ensemble's key and bound to its name.

It may be kept in git. It has a lock of its own, other than that of the ensemble: a running job has read its secrets
already.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hmac
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Protocol, cast

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive, restored, stored
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import own_handle, read, sync_directory, write_all, write_whole
from ordito.ensemble.keeping import ensure_git_files
from ordito.ensemble.layout import Layout
from ordito.source.new_files import fresh_name, read_regular

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
"""The names that a secret may have."""

MOST_BYTES = 1024 * 1024
"""How many bytes a secret may have."""

HEAD = "# Secrets of this ensemble, sealed with the key in .ordito/key. Change them with: ordito secrets set NAME\n"

_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]{0,99}): (v1:\S+)")


class SecretsFile:
    """The secrets of one ensemble. All methods raise ``EnsembleError``; names are not checked here."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._vault = Vault(layout)

    def names(self) -> list[str]:
        """The names of all secrets, sorted. No key is needed."""
        return sorted(self._read())

    def get(self, name: str) -> str:
        """A secret. Raises ``KeyError`` where there is none of that name."""
        return str(self._vault.open(self._read()[name], name))

    def put(self, name: str, value: str) -> bool:
        """Store a secret; returns whether that changes anything. The others must be sealed with the same key: where
        they exist, no new key is made."""
        for other, text in self._read().items():
            if other != name:
                self._vault.open(text, other)
                break
        sealed = self._vault.seal(value, name)
        return self._change(lambda known: {**known, name: sealed})

    def remove(self, names: list[str]) -> None:
        """Remove secrets. Raises ``KeyError`` with the first name that does not exist, and then removes none."""

        def without(known: Mapping[str, str]) -> dict[str, str]:
            for name in names:
                if name not in known:
                    raise KeyError(name)
            return {name: sealed for name, sealed in known.items() if name not in names}

        self._change(without)

    def _change(self, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> bool:
        with self._locked():
            known = self._read()
            wanted = change(known)
            if wanted == known:
                return False
            ensure_git_files(self._layout)
            lines = [f"{name}: {wanted[name]}\n" for name in sorted(wanted)]
            write_whole(self._layout.secrets, ["".join([HEAD, *lines]).encode()])
            return True

    def _read(self) -> dict[str, str]:
        """The sealed texts by name."""
        content = read(self._layout.secrets) or b""
        found: dict[str, str] = {}
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            entry = _LINE.fullmatch(line.rstrip())
            if entry is None or entry[1] in found:
                raise EnsembleError(
                    f"{self._layout.secrets}:{number}: this is not a line of the form NAME: SEALED"
                    if entry is None
                    else f"{self._layout.secrets}:{number}: {entry[1]} is given twice",
                    "after a merge, keep one line for each name; else restore the file from git",
                )
            found[entry[1]] = entry[2]
        return found

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._layout.make_private()
        path = self._layout.private / "secrets.lock"
        with explained("lock", path):
            handle = own_handle(path, os.O_RDWR)
        try:
            with explained("lock", path):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


# The vault: sensitive values sealed with the ensemble's key, so that they may lie in files and under git.

KEY_FILE = "ORDITO_KEY_FILE"
"""The variable that names another place for the key."""

KEY_BYTES = 64
PREFIX = "ordito-key-1:"
_SEALED = re.compile(r"v1:([0-9a-f]{8}):([A-Za-z0-9_=-]+)")

_UNWRITTEN: dict[Path, bytes] = {}
"""Keys that were made in this process and are not in their files yet, because nothing was sealed with them."""


class Vault:
    """Seals and opens the sensitive values of one ensemble. Nothing is read, made or imported before it is needed."""

    def __init__(self, layout: Layout) -> None:
        named = os.environ.get(KEY_FILE, "")
        self.path = Path(named).absolute() if named else layout.key
        self._layout = layout
        self._named = bool(named)
        self._key = b""

    def seal(self, value: object, name: str = "") -> str:
        """A value as a text that nobody can read without the key; with a ``name``, it opens under that name only.
        Raises ``EnsembleError``."""
        key = self._made()
        data = msgspec.json.encode(_Sealed(value), order="deterministic")
        sealed = cipher(key).encrypt(data, _bound_to(name))
        return f"v1:{name_of_key(key)}:{base64.urlsafe_b64encode(sealed).decode()}"

    def open(self, text: str, name: str = "") -> object:
        """The value that was sealed. Raises ``EnsembleError`` without its key, and for a text that is not sealed."""
        found = _SEALED.fullmatch(text)
        if found is None:
            raise EnsembleError("a sensitive value in the ensemble is no longer a sealed text", RESTORE)
        key = self._known()
        if not key:
            raise EnsembleError(
                f"a sensitive value is needed, and the key that opens it is not here: there is no {self.path}", BRING
            )
        if name_of_key(key) != found[1]:
            raise EnsembleError(
                f"a sensitive value was sealed with the key {found[1]}, and {self.path} holds the key"
                f" {name_of_key(key)}",
                BRING,
            )
        from cryptography.exceptions import InvalidTag

        try:
            data = cipher(key).decrypt(base64.urlsafe_b64decode(found[2]), _bound_to(name))
            return msgspec.json.decode(data, type=_Sealed).value
        except (InvalidTag, ValueError, msgspec.DecodeError):
            raise EnsembleError("a sensitive value in the ensemble was changed after it was sealed", RESTORE) from None

    def sealed(self, value: object) -> object:
        """The ``enc_hook`` of encoders whose output is written to files."""
        if isinstance(value, Sensitive):
            return stored(value, self.seal)
        raise NotImplementedError(f"objects of type {type(value).__name__} are not written")

    def digest_key(self) -> bytes:
        """The key for digests of sensitive values, derived from the key of this ensemble."""
        return hmac.digest(self._known() or self._fresh(), b"digests of sensitive values", "sha256")

    def keep(self) -> None:
        """Write the key to its file, since digests were made with it. Raises ``EnsembleError``."""
        if self.path in _UNWRITTEN:
            self._made()

    # --------------------------------------------------------------------------------------------------- the key

    def _known(self) -> bytes:
        """The key, empty where there is none."""
        if not self._key:
            with explained("read", self.path):
                try:
                    self._key = read_key(self.path)
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
                write_key(self.path, self._fresh())
            _UNWRITTEN.pop(self.path, None)
            self._key = read_key(self.path)
        return self._key


# --------------------------------------------------------------------------- the ensemble that is read or written now

_CURRENT: ContextVar[Vault] = ContextVar("vault")


def use_vault(layout: Layout) -> None:
    """From now on, use the key of this ensemble for sensitive values that are written to files or read from them."""
    _CURRENT.set(Vault(layout))


def opener() -> Callable[[str], object]:
    """A function that opens the values that are read now, once they are needed."""
    return _CURRENT.get().open


def sealed(value: object) -> object:
    """The ``enc_hook`` of encoders whose output is written to files, with the vault in use."""
    return _CURRENT.get().sealed(value)


def unsealed(data: object, content: bytes) -> object:
    """Data with its sealed texts as sensitive values again; ``content`` is the text that it was read from."""
    return restored(data, opener()) if MARK in content else data


MARK = SHOWN.encode()
"""A file without this text holds no sensitive values."""


class _Sealed(msgspec.Struct, array_like=True):
    """What is sealed, in a shape that says that it was opened with the right key."""

    value: object


RESTORE = "restore the file from git"
BRING = (
    "bring the file .ordito/key from where this ensemble was deployed, over a safe way, or name it by the variable "
    f"{KEY_FILE}"
)


class Cipher(Protocol):
    """What is used of AES-SIV."""

    def encrypt(self, data: bytes, associated_data: list[bytes]) -> bytes:
        """Seal data."""

    def decrypt(self, data: bytes, associated_data: list[bytes]) -> bytes:
        """Open what was sealed."""


def cipher(key: bytes) -> Cipher:
    _keep_out_of_core_dumps()
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    except ImportError as error:
        raise EnsembleError(
            f"a value is {SHOWN}, and the package that seals such values is not installed ({error})",
            "install it: pip install cryptography",
        ) from error
    return cast(Cipher, AESSIV(key))


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


def name_of_key(key: bytes) -> str:
    """What a key is called; nothing follows from it."""
    return hmac.digest(key, b"name of the key", "sha256").hex()[:8]


def read_key(path: Path) -> bytes:
    """The key in a file. Raises ``OSError``, and ``EnsembleError`` for a file that holds none."""
    text = read_regular(path).decode("ascii", "replace").strip()
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True) if text.startswith(PREFIX) else b""
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise EnsembleError(f"{path} holds no key", "bring it again from where this ensemble was deployed")
    return key


def write_key(path: Path, key: bytes) -> None:
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
