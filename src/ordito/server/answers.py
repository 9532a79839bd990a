"""Answers to looks, kept as long as nothing of their ensemble has changed."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from pathlib import Path

import msgspec

from ordito.ensemble.files import mark_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.answer import Asked
from ordito.server.processes.queries import Queries

MOST_BYTES = 64 << 20
LARGEST = MOST_BYTES // 4


def stamp_of(directory: str) -> str:
    """What changes with everything that Ordito writes into an ensemble: made of the times and sizes of its files and of
    who works on it. Raises ``EnsembleError``."""
    layout = Layout(Path(directory))
    journal = layout.journal
    files = (layout.manifest, layout.jobs_tsv, journal, journal.with_name(f"{journal.name}-wal"), layout.inbox)
    owner = holder(layout) if layout.exists else None
    found = [*(mark_of(path) for path in files), str(owner)]
    return hashlib.sha256(msgspec.json.encode(found)).hexdigest()[:20]


class KeptAnswer(msgspec.Struct, frozen=True):
    """The JSON of a result, and its entity tag."""

    body: bytes
    etag: str


class Answers:
    """Asks looks, and keeps their answers: as many as fit, the latest asked ones."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._kept: OrderedDict[tuple[str, str, bytes], KeptAnswer] = OrderedDict()
        self._size = 0

    async def ask(self, look: str, directory: str, asked: Asked, *, keeps: bool = True) -> KeptAnswer:
        """The answer to a look. ``keeps`` is whether it depends on nothing but the ensemble's own files. Raises
        ``ApiProblem`` and ``EnsembleError``."""
        parameters = msgspec.json.encode(asked)
        if not keeps:
            body = await self._queries.ask(look, directory, parameters)
            return KeptAnswer(body, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
        # Before it is read: what changes meanwhile gives another stamp.
        stamp, key = stamp_of(directory), (look, directory, parameters)
        tag = f'"{hashlib.sha256(stamp.encode() + look.encode() + parameters).hexdigest()[:20]}"'
        kept = self._kept.get(key)
        if kept is not None and kept.etag == tag:
            self._kept.move_to_end(key)
            return kept
        found = KeptAnswer(await self._queries.ask(look, directory, parameters), tag)
        self._keep(key, found)
        return found

    def _keep(self, key: tuple[str, str, bytes], found: KeptAnswer) -> None:
        before = self._kept.pop(key, None)
        self._size -= len(before.body) if before is not None else 0
        if len(found.body) > LARGEST:
            return
        self._kept[key] = found
        self._size += len(found.body)
        while self._size > MOST_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest.body)
