"""One attempt to carry out an invocation: preparing its files, its process, and cleaning up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec

from ordito.executors.commands import StartableScript, read_head
from ordito.executors.copies import (
    CopyJob,
    Unusable,
    are_quick,
    folder_of_copies,
    in_tree,
    make_copies,
    make_own_copies,
    own_files,
    planned_copies,
    remove_copies,
)
from ordito.executors.environment import (
    EnvironmentFile,
    EnvironmentFiles,
    ProcessEnvironment,
    unfit_variable,
    write_private,
)
from ordito.executors.held import LaunchGate
from ordito.executors.operation_process import OperationProcess, ProcessEnd, ProcessListener, ProcessTimeouts, Tail
from ordito.executors.outcomes import outcome_of
from ordito.executors.output_pipe import Stream, Watch
from ordito.executors.process_table import Marker
from ordito.executors.processors import command_for
from ordito.executors.script_tree import build, filled, runs_in_place, write_filled
from ordito.executors.slots import WorkDirectory, blank_or_remove, empty, remove
from ordito.executors.spawn import ProcessCommand
from ordito.model.deploying import PLACING
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Started
from ordito.work.needs import filled_name
from ordito.work.plan import ARTIFACTS

T = TypeVar("T")
P = ParamSpec("P")

ENDED_BY_US = frozenset({Ending.CANCELLED, Ending.TIMED_OUT})


class AttemptSurroundings(msgspec.Struct, frozen=True):
    """What an executor gives to each attempt."""

    base: Mapping[str, str]
    """The basic variables of the environment."""

    area: str
    """The folder of all work directories."""

    shared: EnvironmentFiles
    """The files of variables that several steps share."""

    patience: ProcessTimeouts
    left: Callable[[int], None]
    """Called with the id of a child process that outlives its operation."""

    watch: Watch
    """Watches descriptors."""

    gate: LaunchGate | None = None
    """Lets operations begin, where others may take the ensemble over."""


class LocalAttempt:
    """Runs one invocation in a work directory.

    ``begin`` starts it; ``stream`` then gets its output and, at its end, None; ``finish`` cleans up and returns the
    outcome.
    """

    def __init__(
        self,
        invocation: Invocation,
        slot: WorkDirectory,
        stream: Stream[tuple[LocalAttempt, Printed | None]],
        surroundings: AttemptSurroundings,
    ) -> None:
        self.invocation = invocation
        self.slot = slot
        self.is_slot_clean = True
        self._stream = stream
        self._surroundings = surroundings
        self._copies: list[CopyJob] = []
        self._own = False
        self._files: list[str] = []
        self._shared: EnvironmentFile | None = None
        self._process: OperationProcess | None = None
        self._ended: ProcessEnd | None = None
        self._finishing: asyncio.Task[Outcome] | None = None
        self._cancelled = False
        self._tail = Tail()

    async def begin(self) -> Started | Outcome:
        """Prepare and start it; returns the outcome if it cannot be started."""
        try:
            command = await self._prepared()
            if (gate := self._surroundings.gate) is not None:
                await gate.be_sure()
            # Also while it was waited until it may start.
            if self._cancelled:
                return await self._refused(Ending.CANCELLED, "cancelled before it was started")
            if gate is None:
                return self._start(command)
            with gate.launching(self.mark):
                return self._start(command)
        except Unusable as error:
            return await self._refused(Ending.NOT_STARTED, str(error))
        except (OSError, ValueError) as error:
            return await self._refused(Ending.NOT_STARTED, self._why(error))
        except asyncio.CancelledError:
            await self._clean()
            raise

    @property
    def mark(self) -> Marker:
        """What identifies its processes."""
        return Marker(self.invocation.job, self.invocation.step, self._surroundings.area)

    async def finish(self) -> Outcome:
        """Clean up after the process has ended; returns the outcome."""
        if self._finishing is None:
            self._finishing = asyncio.create_task(self._finish())
        return await asyncio.shield(self._finishing)

    async def finish_unless_slow(self) -> Outcome | None:
        """Like ``finish``, without waiting for slow work: if there is some, returns None, and the stream gets another
        None when it is done."""
        if self._finishing is not None:
            return await self.finish()
        self._drop_own_copies()
        self.slot.look_back()
        if not self._has_made_files and self.slot.is_as_made():
            return self._outcome()
        self._finishing = asyncio.create_task(self._finish())
        self._finishing.add_done_callback(lambda _: self._stream.put((self, None)))
        return None

    async def _finish(self) -> Outcome:
        self.slot.look_back()
        outcome = self._outcome()
        await self._clean()
        return outcome

    def _outcome(self) -> Outcome:
        if self._process is None or self._ended is None:
            raise RuntimeError("it was asked for its outcome before its end")
        self.is_slot_clean = not self._process.has_left_group
        outcome = outcome_of(self.invocation, self._ended, self.slot, self._tail.lines())
        if outcome.ending in ENDED_BY_US:
            # What it wrote when it was told to end is not how it ended, should nobody be able to write that down.
            self.is_slot_clean &= blank_or_remove(self.slot.result)
        return outcome

    def _drop_own_copies(self) -> None:
        """Remove its own copies of artifacts, unless a daemon that it has started knows their paths."""
        is_alone = self._own and self._process is not None and not self._process.has_left_group
        if is_alone and not Path(self.slot.work).is_symlink():
            remove(folder_of_copies(self.slot.work))

    @property
    def _has_made_files(self) -> bool:
        """Whether files were made for it that must be removed."""
        return bool(self._copies or self._files or self._shared)

    async def end(self, ending: Ending) -> None:
        """End it with everything that it started; returns when that is done."""
        self._cancelled = True
        task = self._process.end(ending) if self._process else None
        if task is not None:
            await asyncio.shield(task)

    def resume(self) -> None:
        """Go on reading output: there is room for it again."""
        if self._process is not None:
            self._process.resume()

    # ------------------------------------------------------------------------------------------------ before it runs

    async def _prepared(self) -> ProcessCommand:
        invocation, slot = self.invocation, self.slot
        path, head = _found(invocation)
        if invocation.files:
            await self._make_copies()
        if invocation.dependencies or (invocation.needs is not None and invocation.needs.templates):
            path = await self._with_dependencies(path)
        if invocation.large:
            self._shared = self._surroundings.shared.take(invocation.job, invocation.large)
        environment = ProcessEnvironment(
            self._with_documents(),
            self._surroundings.base,
            scratch=slot.work,
            outputs=slot.outputs,
            file=slot.environment,
            shared=self._shared.path if self._shared else "",
        )
        self._write(slot.environment, environment.file)
        self._write(slot.unexported, environment.unexported)
        make = command_for(invocation.processor)
        if make is None:
            raise Unusable(f"no executor runs {invocation.artifact} ({invocation.processor})")
        script = StartableScript(invocation, path, head, slot, environment)
        # Which version an interpreter has is asked of itself, and takes a while.
        return make(script) if invocation.needs is None else await in_thread(make, script)

    async def _make_copies(self) -> None:
        invocation, slot = self.invocation, self.slot
        asked = [placement for placement in invocation.files if not placement.own]
        own = own_files((p for p in invocation.files if p.own), invocation.root, slot.work)
        self._own = bool(own)
        if asked:
            self._copies = planned_copies(asked, invocation.root, slot.work)
            await in_thread(make_copies, self._copies, invocation.job, invocation.step, slot)
        if are_quick(own):
            make_own_copies(own)
        else:
            await in_thread(make_own_copies, own)

    async def _with_dependencies(self, path: str) -> str:
        invocation = self.invocation
        texts = await in_thread(filled, invocation, self.slot.work) if invocation.needs is not None else {}
        if texts and invocation.needs is not None and invocation.artifact in invocation.needs.templates:
            # What is put in place is the file that the template gives.
            self._files.append(self.slot.tree)
            return await in_thread(write_filled, self.slot.tree, texts, filled_name(invocation.artifact))
        if not texts and runs_in_place(invocation.artifact, invocation.dependencies):
            for dependency in invocation.dependencies:
                in_tree(invocation.root, dependency)
            return path
        self._files.append(self.slot.tree)
        dependencies, tree = invocation.dependencies, self.slot.tree
        return await in_thread(build, invocation.root, invocation.artifact, dependencies, tree, texts)

    def _with_documents(self) -> Invocation:
        """Write the documents of the invocation; returns it with their paths."""
        invocation, paths = self.invocation, {}
        for name, text in invocation.documents.items():
            paths[name] = f"{self.slot.path}/{name}.json"
            self._write(paths[name], text)
        if not paths:
            return invocation
        return msgspec.structs.replace(invocation, environment={**invocation.environment, **paths})

    def _write(self, path: str, text: str) -> None:
        if text:
            self._files.append(path)
            write_private(path, text)

    def _start(self, command: ProcessCommand) -> Started:
        invocation, surroundings = self.invocation, self._surroundings
        self._process = OperationProcess(
            command,
            self.mark,
            invocation.timeout,
            surroundings.patience,
            ProcessListener(self._take, self._take_end, surroundings.left),
            surroundings.watch,
        )
        return self._process.started(self.slot.path)

    def _why(self, error: OSError | ValueError) -> str:
        """Why a process could not be started, for people."""
        artifact = self.invocation.artifact
        if problem := unfit_variable({**self.invocation.environment, **self.invocation.large}):
            return f"{artifact} was not started: {problem}"
        if isinstance(error, OSError):
            where = f": {error.filename}" if error.filename else ""
            return f"{artifact} was not started: {error.strerror}{where}"
        return f"{artifact} was not started: {error}"

    async def _refused(self, ending: Ending, message: str) -> Outcome:
        await self._clean()
        return Outcome(ending, message=message)

    # ------------------------------------------------------------------------------------------------ while it runs

    def _take(self, data: bytes) -> bool:
        self._tail.feed(data)
        self._stream.put((self, Printed(data)), len(data))
        if self._stream.is_full:
            self._stream.hold(self)
            return False
        return True

    def _take_end(self, ended: ProcessEnd) -> None:
        self._ended = ended
        self._stream.put((self, None))

    # ----------------------------------------------------------------------------------------------- after it has run

    async def _clean(self) -> None:
        """Clean the work directory for the next step, but keep the result; remember if that failed."""
        kept = [c.target for c in self._copies if not c.remove and c.target.startswith(f"{self.slot.work}/")]
        if self._copies:
            await in_thread(remove_copies, self._copies, self.slot)
        if kept:
            await in_thread(write_private, self.slot.kept, "")
        elif self._own and self._process is not None and self._process.has_left_group:
            # What goes on in the background has been told where they are.
            await in_thread(write_private, self.slot.kept, str(self._process.pid))
            kept = [folder_of_copies(self.slot.work)]
        if self._shared is not None:
            self._surroundings.shared.give_back(self._shared)
            self._shared = None
        for path in self._files:
            self.is_slot_clean &= await in_thread(remove, path)
        if self.slot.is_touched:
            self.is_slot_clean &= await in_thread(empty, self.slot.work, kept) and self.slot.is_as_made()
        self.is_slot_clean &= not kept


def _found(invocation: Invocation) -> tuple[str, bytes]:
    """The path of an artifact, and its first bytes if it is a script. The artifact of an artifact processor need not be
    a file: then the path is what the template says."""
    root, artifact, processor = invocation.root, invocation.artifact, invocation.processor
    if processor.startswith(ARTIFACTS) and not os.path.lexists(f"{root}/{artifact}"):
        return artifact, b""
    path = in_tree(root, artifact)
    return path, b"" if processor == PLACING or processor.startswith(ARTIFACTS) else read_head(path, artifact)


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do slow work with files outside of the event loop; it is completed even if the caller is cancelled."""
    task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
