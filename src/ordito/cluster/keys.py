"""The key of an ensemble, sealed with that of a pool of workers: a store never holds a key that opens anything."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.journal_database import PUT_KEY, Statement
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import KEY_BYTES, cipher, name_of_key, read_key, write_key

BOUND_TO = b"ordito key of an ensemble 1"

PLAIN, SEALED = b"\0", b"\1"
"""The first byte of what was given to be sealed."""


class PoolKey:
    """The key of a pool, in a file of its workers; ``path`` is "" where the command names none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._key = b""
        """Once it was read: afterwards the process may be confined to what its job may read."""

        self._is_kept = False

    def make(self) -> bool:
        """Make the file where there is none; returns whether it was made. Raises ``EnsembleError``."""
        path = Path(self._path)
        with explained("write", path):
            try:
                write_key(path, os.urandom(KEY_BYTES))
            except FileExistsError:
                self._read()
                return False
        return True

    def fetch(self, link: StoreConnection, ensemble: str, layout: Layout) -> None:
        """Bring the key of an ensemble into its working copy, if the store has one and this is the key for it. Without
        any key, the first sensitive value that is needed is refused. Raises ``EnsembleError``."""

        def work(db: Connection) -> list[tuple[str, bytes]]:
            query = "SELECT pool, body FROM ordito.sealed_key WHERE ensemble = %s ORDER BY pool"
            return [(str(pool), bytes(body)) for pool, body in db.execute(query, (ensemble,))]

        sealed = dict(link.ask("read", work, lambda _: None))
        self._is_kept = bool(sealed)
        if not sealed:
            with explained("remove", layout.key):
                layout.key.unlink(missing_ok=True)
            return
        if layout.key.exists() or not self._path:
            return
        key = self._read()
        body = sealed.get(name_of_key(key))
        if body is None:
            raise EnsembleError(
                f"the key of this ensemble is sealed with the key {', '.join(sealed)}, and {self._path} holds the key"
                f" {name_of_key(key)}",
                "name the file of that pool with --key FILE",
            )
        layout.make_private()
        with explained("write", layout.key):
            write_key(layout.key, _opened(key, body, ensemble))

    def sealed(self, body: bytes, of: str, purpose: str, *, always: bool = False) -> bytes:
        """Something that only those with the key of the pool can read; as it is where this process names no key, unless
        it is to be sealed ``always``. ``of`` is the id of the ensemble or the item to which it belongs: for another one
        it cannot be opened. Raises ``EnsembleError``."""
        if not self._path and always:
            raise EnsembleError("what is asked for cannot be sealed without the key of the workers", NAME_IT)
        if not self._path:
            return PLAIN + body
        key = self._read()
        text = base64.b64encode(body)
        return SEALED + name_of_key(key).encode() + cipher(key).encrypt(text, [purpose.encode(), of.encode()])

    def opened(self, body: bytes, of: str, purpose: str) -> bytes:
        """What was sealed by ``sealed``. Raises ``EnsembleError``, also without the key."""
        if body[:1] == PLAIN:
            return body[1:]
        name, sealed = body[1:9].decode(), body[9:]
        if not self._path:
            raise EnsembleError(f"this is sealed with the key {name} of the workers", NAME_IT)
        key = self._read()
        if name_of_key(key) != name:
            raise EnsembleError(
                f"this is sealed with the key {name} of the workers, and {self._path} holds the key {name_of_key(key)}",
                "name the file of that pool with --key FILE",
            )
        try:
            return base64.b64decode(cipher(key).decrypt(sealed, [purpose.encode(), of.encode()]))
        except InvalidTag:
            raise EnsembleError(
                "something was changed in the store after it was sealed", "put back a backup of PostgreSQL"
            ) from None

    def is_missing(self, layout: Layout) -> bool:
        """Whether a key that the store keeps was not fetched."""
        return self._is_kept and not layout.key.exists()

    def statements(self, ensemble: str, layout: Layout) -> Sequence[Statement]:
        """What keeps the key of an ensemble that lies in its directory. Raises ``EnsembleError``."""
        if self._is_kept or not layout.key.exists():
            return ()
        with explained("read", layout.key):
            own = read_key(layout.key)
        if not self._path:
            raise EnsembleError("this ensemble has secrets, and a key is needed to seal them", NAME_IT)
        key = self._read()
        body = cipher(key).encrypt(base64.b64encode(own), [BOUND_TO, ensemble.encode()])
        return [(PUT_KEY, [(name_of_key(key), body)])]

    def _read(self) -> bytes:
        if self._key:
            return self._key
        path = Path(self._path)
        with explained("read", path):
            try:
                self._key = read_key(path)
            except FileNotFoundError:
                raise EnsembleError(
                    f"there is no {path}", f"bring it from another worker; `ordito store init --key {path}` makes one"
                ) from None
        return self._key


NAME_IT = "name the file with the key of the workers: --key FILE; `ordito store init --key FILE` makes one"


def _opened(key: bytes, body: bytes, ensemble: str) -> bytes:
    try:
        return base64.b64decode(cipher(key).decrypt(body, [BOUND_TO, ensemble.encode()]))
    except InvalidTag:
        raise EnsembleError(
            "the key of this ensemble was changed in the store after it was sealed",
            "put back a backup of PostgreSQL, then see `ordito store status`",
        ) from None
