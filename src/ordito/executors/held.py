"""Operations of an ensemble that another machine may take over: who begins one compares epochs right before, and who
finds out about one that was interrupted makes its own epoch known first. So nothing of a former holder begins later.

Both happen under a lock on the file with the newest epoch that has worked in a home. What ran in the home of another
worker is asked for there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ordito.executors.copies import Unusable
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


class LaunchGate:
    """Lets operations begin on this machine."""

    def __init__(self, hold: Hold, epochs: EpochFile) -> None:
        self._hold = hold
        self._epochs = epochs
        self._entered: Epoch | None = None

    async def be_sure(self) -> None:
        """See ``Hold``."""
        if not self._hold.is_sure:
            await self._hold.be_sure()

    @contextmanager
    def launching(self) -> Iterator[None]:
        """Begin something inside of the ``with`` statement. Raises ``Unusable`` where somebody else has taken the
        ensemble over, and ``OSError``."""
        epoch = self._hold.epoch
        if self._entered != epoch:
            if not self._epochs.enter(epoch):
                raise Unusable(f"it was not started: {TAKEN_OVER}")
            self._entered = epoch
        with self._epochs.at(epoch) as may_begin:
            if not may_begin:
                raise Unusable(f"it was not started: {TAKEN_OVER}")
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
