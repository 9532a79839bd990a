"""Files by their content: a blob is the bytes of one, a tree names the blobs and trees of a folder, each by its digest.

What is there already is never written again, and nothing that is there is ever changed. So they may be put before the
row that names them, by anybody.
"""

from __future__ import annotations

import hashlib
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.ensemble.errors import EnsembleError

FOLDER, LINK, FILE = stat.S_IFDIR, stat.S_IFLNK, stat.S_IFREG
"""What the upper bits of a mode say."""

LARGEST = 256 * 1024 * 1024
"""How many bytes a file may have that a store keeps."""

AT_ONCE = 8 * 1024 * 1024
"""Bytes that are sent, or asked for, at once, if it is more than one file."""

MOST_AT_ONCE = 1_000

_AS_IT_IS, _COMPRESSED = b"\0", b"\1"
"""How the bytes of a blob are kept: the first one says it."""


class TreeEntry(msgspec.Struct, frozen=True, array_like=True):
    """One thing in a folder."""

    name: str
    blob: str
    """The digest of its blob, or of its tree."""
    mode: int
    """What it is, and its permissions."""


Tree = tuple[TreeEntry, ...]


def digest_of(tree: Tree) -> str:
    """The digest of a tree, whose entries are sorted by name."""
    lines = [f"{entry.mode:o} {entry.name}\0{entry.blob}\n".encode() for entry in tree]
    return hashlib.sha256(b"".join(lines)).hexdigest()


class Trees:
    """The trees and blobs of a store. All methods raise ``EnsembleError``."""

    def __init__(self, link: StoreConnection) -> None:
        self._link = link

    def put_trees(self, trees: Mapping[str, Tree]) -> None:
        """Keep trees, given by their digests."""
        missing = self._missing("SELECT DISTINCT digest FROM ordito.tree WHERE digest = ANY(%s)", trees)
        rows = [(digest, e.name, e.blob, e.mode) for digest in missing for e in trees[digest]]
        for first in range(0, len(rows), MOST_AT_ONCE):
            self._put_rows(rows[first : first + MOST_AT_ONCE])

    def put_blobs(self, bodies: Iterable[tuple[str, bytes]]) -> None:
        """Keep blobs, given by their digests."""
        waiting: list[tuple[str, int, bytes]] = []
        size = 0
        for digest, body in bodies:
            kept = _kept(body)
            waiting.append((digest, len(body), kept))
            size += len(kept)
            if size >= AT_ONCE or len(waiting) >= MOST_AT_ONCE:
                self._put_bodies(waiting)
                waiting, size = [], 0
        if waiting:
            self._put_bodies(waiting)

    def missing_blobs(self, digests: Iterable[str]) -> list[str]:
        """Which of these blobs are not kept."""
        return self._missing("SELECT digest FROM ordito.blob WHERE digest = ANY(%s)", digests)

    def trees(self, digests: Iterable[str]) -> dict[str, Tree]:
        """Trees by their digests."""
        wanted = list(dict.fromkeys(digests))
        query = "SELECT digest, path, blob, mode FROM ordito.tree WHERE digest = ANY(%s) ORDER BY digest, path"
        found: dict[str, list[TreeEntry]] = {}
        for first in range(0, len(wanted), MOST_AT_ONCE):
            for digest, *entry in self._rows(query, wanted[first : first + MOST_AT_ONCE]):
                found.setdefault(digest, []).append(TreeEntry(*entry))
        _refuse_missing(wanted, found)
        return {digest: tuple(entries) for digest, entries in found.items()}

    def bodies(self, digests: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Blobs with their digests, in any order."""
        wanted = list(dict.fromkeys(digests))
        sizes: dict[str, int] = {}
        for first in range(0, len(wanted), MOST_AT_ONCE):
            query = "SELECT digest, size FROM ordito.blob WHERE digest = ANY(%s)"
            sizes.update(self._rows(query, wanted[first : first + MOST_AT_ONCE]))
        _refuse_missing(wanted, sizes)
        for some in _parts(sizes):
            for digest, body in self._rows("SELECT digest, body FROM ordito.blob WHERE digest = ANY(%s)", some):
                content = body[1:] if body[:1] == _AS_IT_IS else zlib.decompress(body[1:])
                if hashlib.sha256(content).hexdigest() != digest:
                    raise EnsembleError(f"a file in the store is damaged ({digest})", BACKUP)
                yield digest, content

    def _missing(self, query: str, digests: Iterable[str]) -> list[str]:
        wanted = list(dict.fromkeys(digests))
        known: set[str] = set()
        for first in range(0, len(wanted), MOST_AT_ONCE):
            known.update(digest for (digest,) in self._rows(query, wanted[first : first + MOST_AT_ONCE]))
        return [digest for digest in wanted if digest not in known]

    def _rows(self, query: str, digests: Sequence[str]) -> list[tuple]:  # type: ignore[type-arg]
        def work(db: Connection) -> list[tuple]:  # type: ignore[type-arg]
            return db.cursor(binary=True).execute(query.encode(), (list(digests),)).fetchall()

        return self._link.ask("read", work, lambda _: None)

    def _put_rows(self, rows: Sequence[tuple[str, str, str, int]]) -> None:
        query = (
            b"INSERT INTO ordito.tree (digest, path, blob, mode) SELECT * FROM unnest(%s::text[], %s::text[],"
            b" %s::text[], %s::integer[]) ON CONFLICT DO NOTHING"
        )
        self._put(query, [list(column) for column in zip(*rows, strict=True)])

    def _put_bodies(self, rows: Sequence[tuple[str, int, bytes]]) -> None:
        query = (
            b"INSERT INTO ordito.blob (digest, size, body) SELECT * FROM unnest(%s::text[], %s::bigint[],"
            b" %s::bytea[]) ON CONFLICT (digest) DO UPDATE SET used = clock_timestamp()"
        )
        self._put(query, [list(column) for column in zip(*rows, strict=True)])

    def _put(self, query: bytes, columns: list[list[object]]) -> None:
        def work(db: Connection) -> bool:
            db.execute(query, columns, binary=True)
            return True

        self._link.ask("write files to", work, lambda _: None)


BACKUP = "put back a backup of PostgreSQL, then see `ordito store status`"


def _refuse_missing(wanted: Iterable[str], found: Mapping[str, object]) -> None:
    lost = next((digest for digest in wanted if digest not in found), None)
    if lost is not None:
        raise EnsembleError(f"a file that an ensemble names is missing in the store ({lost})", BACKUP)


def _parts(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for digest, bytes_ in sizes.items():
        if part and (size + bytes_ > AT_ONCE or len(part) >= MOST_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(digest)
        size += bytes_
    if part:
        yield part


def _kept(body: bytes) -> bytes:
    packed = zlib.compress(body, 6) if body else body
    return _COMPRESSED + packed if len(packed) < len(body) else _AS_IT_IS + body
