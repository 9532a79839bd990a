"""Operations of an ensemble that another machine may take over: who begins one compares epochs right before, and who
finds out about one that was interrupted makes its own epoch known first. So nothing of a former holder begins later.

Both happen under a lock on the file with the newest epoch that has worked in a home. What ran in the home of another
worker is asked for there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from ordito.executors.copies import Unusable
from ordito.executors.process_table import Marker
from ordito.work.invocation import Ending, Epoch, Executor, Hold, InDoubt, Invocation, Outcome, Progress

TAKEN_OVER = "another worker has taken this ensemble over"

ROOM = 512
"""The bytes of the file; whose name is longer is no worker."""


class EpochFile:
    """The newest epoch that has worked in the directory of an ensemble."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def enter(self, epoch: Epoch) -> bool:
        """Let nobody begin anything any more who has held the ensemble before. Returns False where somebody has held it
        later, or equally late, which happens where a database has forgotten. Raises ``OSError``."""
        handle = self._open(fcntl.LOCK_EX)
        try:
            found = _read(handle)
            if found is not None and _is_late(epoch, found):
                return False
            if found != epoch:
                # At once, over whatever is there: it is never half one and half another.
                os.pwrite(handle, msgspec.json.encode(epoch).ljust(ROOM), 0)
                os.fsync(handle)
            return True
        finally:
            os.close(handle)

    @contextmanager
    def at(self, epoch: Epoch) -> Iterator[bool]:
        """Whether something may begin in an epoch, which stays so inside of the ``with`` statement. Raises
        ``OSError``."""
        handle = self._open(fcntl.LOCK_SH)
        try:
            found = _read(handle)
            yield found is None or not _is_late(epoch, found)
        finally:
            os.close(handle)

    def _open(self, how: int) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, how)
        except BaseException:
            os.close(handle)
            raise
        return handle


class AtWork:
    """What is at work in the directory of an ensemble, for the guard of its worker: a file for each mark. What ended
    without that anybody has seen it keeps its file, and is looked for in vain."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, mark: Marker) -> None:
        """Say that something begins. Raises ``OSError``."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path(mark).write_bytes(msgspec.json.encode(mark))

    def remove(self, mark: Marker) -> None:
        """Say that it has ended."""
        with suppress(OSError):
            self._path(mark).unlink()

    def _path(self, mark: Marker) -> Path:
        return self._folder / f"{mark.number:x}"


AT_WORK = "at-work"


def forget_mark(base: str, mark: Marker) -> None:
    """It was found out how something has ended: what it has left is nothing at work. ``base`` is the folder of the work
    directories."""
    AtWork(Path(base).with_name(AT_WORK)).remove(mark)


def marks_in(home: Path) -> list[Marker]:
    """The marks of all that is at work in the home of a worker."""
    found: list[Marker] = []
    for path in home.glob(f"ensembles/*/*/.ordito/{AT_WORK}/*"):
        # It may have ended just now, or be written just now, before anything begins.
        with suppress(OSError, msgspec.DecodeError):
            found.append(msgspec.json.decode(path.read_bytes(), type=Marker))
    return found


class LaunchGate:
    """Lets operations begin on this machine."""

    def __init__(self, hold: Hold, epochs: EpochFile, marks: AtWork) -> None:
        self._hold = hold
        self._epochs = epochs
        self._marks = marks
        self._entered: Epoch | None = None

    async def be_sure(self) -> None:
        """See ``Hold``."""
        if not self._hold.is_sure:
            await self._hold.be_sure()

    def has_ended(self, mark: Marker) -> None:
        """Nothing of what was begun under a mark is at work any more."""
        if self._hold.is_guarded:
            self._marks.remove(mark)

    @contextmanager
    def launching(self, mark: Marker) -> Iterator[None]:
        """Begin something under a mark inside of the ``with`` statement. Raises ``Unusable`` where somebody else has
        taken the ensemble over, and ``OSError``."""
        epoch = self._hold.epoch
        if self._entered != epoch:
            if not self._epochs.enter(epoch):
                raise Unusable(f"it was not started: {TAKEN_OVER}")
            self._entered = epoch
        with self._epochs.at(epoch) as may_begin:
            if not may_begin:
                raise Unusable(f"it was not started: {TAKEN_OVER}")
            if self._hold.is_guarded:
                self._marks.put(mark)
            yield


class HeldExecutor:
    """An executor for this machine, see ``Executor``, where others may work on the same ensemble."""

    def __init__(self, executor: Executor, hold: Hold, epochs: EpochFile) -> None:
        self._executor = executor
        self._hold = hold
        self._epochs = epochs

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """See ``Executor``."""
        return self._executor.accepts(processor_kinds, protocol)

    def batch_key(self, invocation: Invocation) -> str:
        """See ``Executor``."""
        return self._executor.batch_key(invocation)

    def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """See ``Executor``."""
        return self._executor.run(batch)

    async def cancel(self, step: str) -> None:
        """See ``Executor``."""
        await self._executor.cancel(step)

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """See ``Executor``. What ran elsewhere is never looked for here: that nothing is found would say nothing."""
        if await self._hold.is_elsewhere(doubt):
            return await self._hold.ask(doubt)
        if not self._epochs.enter(self._hold.epoch):
            return Outcome(Ending.LOST, message=f"it is not known how this operation ended: {TAKEN_OVER}")
        return await self._executor.settle(doubt)

    def close(self) -> None:
        """See ``Executor``."""
        self._executor.close()


def _is_late(epoch: Epoch, found: Epoch) -> bool:
    if found.ensemble != epoch.ensemble:
        return False
    return found.number > epoch.number or (found.number == epoch.number and found.worker != epoch.worker)


def _read(handle: int) -> Epoch | None:
    body = os.pread(handle, ROOM, 0).strip()
    return msgspec.json.decode(body, type=Epoch) if body else None
