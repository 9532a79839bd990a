"""Answers to looks, kept as long as nothing of their ensemble has changed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import mark_of
from ordito.ensemble.layout import HOSTS_FILE, Layout
from ordito.ensemble.lock import holder
from ordito.results.answer import Asked
from ordito.server.compression import KeptGzip
from ordito.server.problems import ApiProblem
from ordito.server.processes.queries import Queries
from ordito.source.reach import within

MOST_BYTES = 64 << 20
LARGEST = MOST_BYTES // 4
FEW = 2
"""How many questions about many ensembles are asked at a time, so that there is room for those about one."""

STATE = "stored"
"""The file in `.ordito/` of a mirror that changes with what the store has."""

Reads = tuple[str, ...]
"""What may be read: the directory of an ensemble first."""


def stamp_of(directory: str) -> str:
    """What changes with everything that Ordito writes into an ensemble: made of the times and sizes of its files and of
    who works on it. Raises ``EnsembleError``."""
    layout = Layout(Path(directory))
    journal = layout.journal
    wal = journal.with_name(f"{journal.name}-wal")
    given = (layout.manifest, layout.root / HOSTS_FILE, layout.secrets, layout.inbox)
    # The last one changes with what the store has, where this is a mirror of it.
    files = (*given, layout.jobs_tsv, journal, wal, layout.private / STATE)
    with within(directory):
        owner = holder(layout) if layout.exists else None
    found = [*(mark_of(path) for path in files), str(owner)]
    return hashlib.sha256(msgspec.json.encode(found)).hexdigest()[:20]


def _tag(stamp: str, look: str, parameters: bytes) -> str:
    return f'"{hashlib.sha256(stamp.encode() + look.encode() + parameters).hexdigest()[:20]}"'


class KeptAnswer(msgspec.Struct, frozen=True):
    """The JSON of a result, and its entity tag."""

    body: bytes
    etag: str
    gzip: KeptGzip = msgspec.field(default_factory=KeptGzip)
    """Its compressed form."""


class Answers:
    """Asks looks, and keeps their answers: as many as fit, the latest asked ones."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._asking: dict[tuple[str, str], asyncio.Task[KeptAnswer]] = {}
        self._few = asyncio.Semaphore(FEW)
        self._kept: OrderedDict[tuple[str, str, bytes], KeptAnswer] = OrderedDict()
        self._size = 0
        self.fresh: Callable[[str], Awaitable[None]] = _as_it_is
        """Brings a directory up to date."""

    async def of_many(self, look: str, reads: Sequence[Reads], seconds: float) -> list[KeptAnswer | ApiProblem | None]:
        """The answers to a look without parameters about many ensembles, each named by what may be read. Those that are
        kept are taken at once; the others are asked few at a time, and None stands for what has not come after some
        ``seconds``. It is asked to the end all the same, for who asks next."""
        asked = Asked()
        found: list[KeptAnswer | ApiProblem | None] = await asyncio.to_thread(
            lambda: [self._known(look, one[0], asked) for one in reads]
        )
        waiting = {}
        for place, one in enumerate(reads):
            if found[place] is None:
                key = look, one[0]
                if key not in self._asking:
                    self._asking[key] = task = asyncio.create_task(self._slowly(look, one, asked))
                    task.add_done_callback(partial(self._asked, key))
                waiting[place] = self._asking[key]
        if waiting:
            await asyncio.wait(waiting.values(), timeout=seconds)
        for place, task in waiting.items():
            if task.done() and not task.cancelled():
                found[place] = _outcome(task, reads[place][0])
        return found

    def _asked(self, key: tuple[str, str], task: asyncio.Task[KeptAnswer]) -> None:
        self._asking.pop(key, None)
        if not task.cancelled():
            # Who waits is told of it; nobody may be waiting any more.
            task.exception()

    async def _slowly(self, look: str, reads: Reads, asked: Asked) -> KeptAnswer:
        async with self._few:
            return await self.ask(look, reads[0], asked, reads=reads)

    def _known(self, look: str, directory: str, asked: Asked) -> KeptAnswer | ApiProblem | None:
        """The answer that is kept, if it is still right."""
        kept = self._kept.get((look, directory, parameters := msgspec.json.encode(asked)))
        if kept is None:
            return None
        try:
            return kept if kept.etag == _tag(stamp_of(directory), look, parameters) else None
        except EnsembleError as error:
            return ApiProblem.of_error(error, directory)

    async def ask(
        self, look: str, directory: str, asked: Asked, *, keeps: bool = True, reads: Reads | None = None, mark: str = ""
    ) -> KeptAnswer:
        """The answer to a look. ``keeps`` is whether it depends on nothing but the ensemble's own files, ``reads`` what
        it may read, None for the directory alone; ``mark`` changes with what it depends on besides the stamp. Raises
        ``ApiProblem`` and ``EnsembleError``."""
        parameters = msgspec.json.encode(asked)
        await self.fresh(directory)
        if not keeps:
            body = await self._queries.ask(look, directory, parameters, reads)
            return KeptAnswer(body, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
        # Before it is read: what changes meanwhile gives another stamp.
        stamp, key = stamp_of(directory) + mark, (look, directory, parameters)
        tag = _tag(stamp, look, parameters)
        kept = self._kept.get(key)
        if kept is not None and kept.etag == tag:
            self._kept.move_to_end(key)
            return kept
        found = KeptAnswer(await self._queries.ask(look, directory, parameters, reads), tag)
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


async def _as_it_is(_: str) -> None:
    pass


def _outcome(task: asyncio.Task[KeptAnswer], directory: str) -> KeptAnswer | ApiProblem | None:
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, ApiProblem):
        return error
    return ApiProblem.of_error(error, directory) if isinstance(error, EnsembleError | OSError) else None
