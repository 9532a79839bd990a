"""Runs operations whose implementation is an Ansible playbook."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ordito.base.sensitive import revealed
from ordito.executors.ansible.batch import Batch, Ticket, Told, Tools
from ordito.executors.ansible.files import (
    INVENTORY,
    RESULTS,
    BatchStep,
    Contents,
    contents_of,
    outcome_of_host,
    remove_secrets,
)
from ordito.executors.ansible.program import FURTHER, end_in_containers, end_masters, find_program
from ordito.executors.copies import remove_pending_copies
from ordito.executors.environment import base_environment
from ordito.executors.held import LaunchGate, forget_mark
from ordito.executors.operation_process import ProcessTimeouts, end_processes
from ordito.executors.output_pipe import Watch, reap_when_ended
from ordito.executors.process_table import Marker
from ordito.executors.slots import Slots, WorkDirectory, remove
from ordito.model.artifacts import ANSIBLE
from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome, Progress
from ordito.work.targets import CONTAINER, SSH

SETTLE_PAUSE = 0.05
PROTOCOLS = ("", SSH, CONTAINER)


class AnsibleExecutor:
    """The executor for playbooks: on this machine, on hosts that are reached by SSH, and in containers.

    Steps that become ready at nearly the same time with the same playbook and settings share one process of
    `ansible-playbook`. They end together, when Ansible does, each with its own outcome; they have one timeout, and are
    cancelled together.
    """

    def __init__(
        self,
        base: str | os.PathLike[str],
        *,
        program: str | None = None,
        grace: float = 10.0,
        patience: float = 3.0,
        quiet: float = 0.1,
        longest: float = 1.0,
        most: int = 4,
    ) -> None:
        """``base`` is the folder of the work directories; it must belong to one executor at a time. ``program`` is the
        file of `ansible-playbook`, None for the one that is found, "" for none.

        ``grace``: seconds between TERM and KILL. ``patience``: seconds that a batch that still runs after a crash gets
        to end by itself. ``quiet`` and ``longest``: seconds to wait for more steps, since the last and since the first
        of a batch. ``most``: how many processes run at a time.
        """
        self._slots = Slots(str(Path(base).resolve()))
        self._program = program
        self._there = ""
        self._gate: LaunchGate | None = None
        self._settle_patience = patience
        self._watch = Watch()
        self._patience = ProcessTimeouts(grace)
        self._gathering: Gathering[Ticket] = Gathering(self._begin, quiet=quiet, longest=longest, most=most)
        self._running: dict[str, tuple[Batch, asyncio.Task[None]]] = {}
        self._caring: list[Callable[[], None]] = []
        self._settling: dict[str, asyncio.Task[list[int]]] = {}

    def for_ensemble(self, area: str, gate: LaunchGate | None = None) -> AnsibleExecutor:
        """The executor for an ensemble, which keeps its files on hosts below ``area``, apart from those of other
        ensembles; ``gate`` lets playbooks begin where others may take it over."""
        self._there = area
        self._gate = gate
        return self

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Whether an artifact of these types is a playbook, and Ansible is installed, and the protocol is "" (this
        machine), SSH, or that of containers."""
        return protocol in PROTOCOLS and ANSIBLE in processor_kinds and bool(self._found())

    def batch_key(self, invocation: Invocation) -> str:
        """Equal for operations that one process can carry out: the same playbook with the same files, settings and
        timeout, on the same side of a relationship. An operation with templates shares its process with none."""
        subject = invocation.subject
        if invocation.needs is not None and invocation.needs.templates:
            return invocation.step
        parts = (
            *(invocation.job, invocation.root, invocation.artifact, invocation.dependencies, invocation.timeout),
            *(invocation.files, subject.side if subject else "", _digest_of(subject.settings) if subject else ""),
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Run invocations, together with others that come at nearly the same time; all are ended if the caller stops
        iterating."""
        stream: Told = Told()
        left = {invocation.step for invocation in batch}
        for invocation in batch:
            assert invocation.subject is not None, "a playbook needs an instance that it is for"
            self._gathering.add(self.batch_key(invocation), Ticket(invocation, invocation.subject, stream))
        try:
            while left:
                step, progress = await stream.get()
                if isinstance(progress, BaseException):
                    raise progress
                if isinstance(progress, Outcome):
                    left.discard(step)
                yield step, progress
        finally:
            if left:
                self._gathering.drop(lambda ticket: ticket.stream is stream)
                await self._end(left)

    async def cancel(self, step: str) -> None:
        """End the batch of a step, and so the other steps of the batch; returns when its processes are gone."""
        for ticket in self._gathering.drop(lambda ticket: ticket.invocation.step == step):
            ticket.stream.put((step, Outcome(Ending.CANCELLED, message="cancelled before it was started")))
        await self._end({step})

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """Find out, after a crash, how a started step ended; nothing of its batch runs afterwards. The outcome is the
        result that Ansible has written for its host, if any."""
        known: Outcome | None = None
        # There are several where it was cut more than once: each attempt after a crash has the same number.
        for slot in self._slots.of(doubt.job):
            contents = contents_of(slot)
            steps = contents.steps.values() if contents is not None else ()
            found = next((s for s in steps if (s.step, s.attempt) == (doubt.step, doubt.attempt)), None)
            if contents is not None and found is not None:
                known = await self._settled(slot, contents, found, doubt) or known
        return known

    def close(self) -> None:
        """Remove all work directories; call it when all outcomes are durable and nothing runs any more."""
        for stop in self._caring:
            stop()
        self._caring.clear()
        self._slots.remove_all()

    # ------------------------------------------------------------------------------------------------------- parts

    def _found(self) -> str:
        """The file of the program, "" for none; searched for at the first use."""
        if self._program is None:
            self._program = find_program(os.environ)
        return self._program

    def _begin(self, tickets: list[Ticket]) -> None:
        job = tickets[0].invocation.job
        # Slots are not used again: results stay in them until the job's outcomes are in its files.
        tools = Tools(
            self._found(),
            {**base_environment(os.environ), **{n: os.environ[n] for n in FURTHER if n in os.environ}},
            self._slots.base,
            self._patience,
            self._take_care_of,
            self._watch,
            self._there,
            self._gate,
        )
        try:
            slot = self._slots.acquire(job)
        except OSError as error:
            with self._gathering.running():
                for ticket in tickets:
                    message = f"{ticket.invocation.artifact} was not started: {error.strerror}: {error.filename}"
                    ticket.stream.put((ticket.invocation.step, Outcome(Ending.NOT_STARTED, message=message)))
            return
        batch = Batch(tickets, slot, tools)
        task = asyncio.get_running_loop().create_task(self._run(batch))
        for step in batch.steps:
            self._running[step] = (batch, task)

        def faulted(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) is not None:
                for ticket in tickets:
                    ticket.stream.put((ticket.invocation.step, error))

        task.add_done_callback(faulted)

    async def _run(self, batch: Batch) -> None:
        steps = batch.steps
        with self._gathering.running():
            try:
                await batch.run()
            finally:
                for step in steps:
                    self._running.pop(step, None)

    async def _end(self, steps: set[str]) -> None:
        """End the batches of these steps."""
        for step in steps:
            if running := self._running.get(step):
                batch, task = running
                await batch.end(Ending.CANCELLED)
                await asyncio.wait([task])

    async def _settled(
        self, slot: WorkDirectory, contents: Contents, step: BatchStep, doubt: InDoubt
    ) -> Outcome | None:
        # All steps of a batch are settled at the same time: its processes are ended once.
        if slot.path not in self._settling:
            self._settling[slot.path] = asyncio.create_task(self._end_left(slot, contents, doubt.job))
        unended = await asyncio.shield(self._settling[slot.path])
        if unended:
            numbers = ", ".join(map(str, unended))
            todo = "end them, then deploy (or undeploy) again"
            message = f"processes of this step's batch cannot be ended, not even by KILL: {numbers}; {todo}"
            return Outcome(Ending.FAILED, message=message)
        return outcome_of_host(slot, step, doubt.outputs)

    async def _end_left(self, slot: WorkDirectory, contents: Contents, job: str) -> list[int]:
        """End what still runs of a batch; returns the ids of processes that could not be ended."""
        marker = Marker(job, contents.marker, self._slots.base)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settle_patience
        while loop.time() < deadline:
            if not await asyncio.to_thread(_runs, slot):
                break
            await asyncio.sleep(SETTLE_PAUSE)
        unended: list[int] = []
        untold = [step for step in contents.steps.values() if outcome_of_host(slot, step, step.outputs) is None]
        runs = await asyncio.to_thread(_runs, slot)
        if untold or runs:
            unended = [process.pid for process in await end_processes(marker, self._patience.grace)]
        for step in untold:
            # What it wrote when it was told to end is not how it ended.
            remove(f"{slot.path}/{RESULTS}/{step.number}.json")
        end_masters(contents.sockets)
        if untold:
            await asyncio.to_thread(end_in_containers, contents.containers, contents.marker)
        remove_secrets(slot)
        for step in contents.steps.values():
            remove_pending_copies(step.job, step.step, slot)
        remove(slot.tree)
        forget_mark(self._slots.base, marker)
        return unended

    def _take_care_of(self, pid: int) -> None:
        """Wait in the background for a child process that outlives its operation."""
        with contextlib.suppress(OSError):
            self._caring.append(reap_when_ended(self._watch, pid))


def _runs(slot: WorkDirectory) -> bool:
    """Whether Ansible runs with the inventory of a work directory; daemons that it has started do not count."""
    inventory = f"{slot.path}/{INVENTORY}".encode()
    return any(p.name.isdigit() and inventory in _command_line(p) for p in Path("/proc").iterdir())


def _command_line(process: Path) -> list[bytes]:
    try:
        return process.joinpath("cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _digest_of(settings: object) -> str:
    return hashlib.sha256(msgspec.json.encode(revealed(settings), order="sorted")).hexdigest()


# Gathering: what becomes ready at nearly the same time goes together, since a process of Ansible costs a second.
#
# Operations become ready in waves: as many as may run at a time, or one after the other as those before them end.
# What comes is kept until nothing came for a short while, but no longer than ``longest``; and while as many processes
# run as may, what comes goes into the batches that wait.

T = TypeVar("T")


class _Group(Generic[T]):
    """What is kept for one batch."""

    def __init__(self, began: float) -> None:
        self.items: list[T] = []
        self.began = began
        self.timer: asyncio.TimerHandle | None = None


class Gathering(Generic[T]):
    """Collects items by key. ``begin`` is called with each batch; whoever runs the batch does so within ``running``."""

    def __init__(self, begin: Callable[[list[T]], None], *, quiet: float, longest: float, most: int) -> None:
        """``quiet`` and ``longest``: seconds to wait since the last and the first item; ``most``: how many batches run
        at a time."""
        self._begin = begin
        self._quiet = quiet
        self._longest = longest
        self._most = most
        self._running = 0
        self._groups: dict[str, _Group[T]] = {}
        self._due: list[str] = []

    def add(self, key: str, item: T) -> None:
        """Add an item to the batch of a key."""
        loop = asyncio.get_running_loop()
        group = self._groups.setdefault(key, _Group(loop.time()))
        group.items.append(item)
        if group.timer is not None:
            group.timer.cancel()
        if key not in self._due:
            when = min(loop.time() + self._quiet, group.began + self._longest)
            group.timer = loop.call_at(when, self._is_due, key)

    def drop(self, wanted: Callable[[T], bool]) -> list[T]:
        """Remove the wanted items from batches that have not begun yet."""
        dropped: list[T] = []
        for group in self._groups.values():
            dropped += [item for item in group.items if wanted(item)]
            group.items = [item for item in group.items if not wanted(item)]
        return dropped

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a batch as running inside of the ``with`` statement."""
        try:
            yield
        finally:
            self._running -= 1
            self._start()

    def _is_due(self, key: str) -> None:
        self._due.append(key)
        self._start()

    def _start(self) -> None:
        while self._due and self._running < self._most:
            group = self._groups.pop(self._due.pop(0))
            if group.items:
                self._running += 1
                self._begin(group.items)
