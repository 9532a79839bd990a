"""Runs shell scripts and Python scripts on other hosts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from functools import partial

from ordito.executors.copies import Unusable
from ordito.executors.outcomes import outcome_found
from ordito.executors.output_pipe import Stream
from ordito.executors.remote.attempt import RemoteAttempt
from ordito.executors.remote.connection import Connector, HostTimeouts
from ordito.executors.remote.host import AttemptOnHost, RemoteHost
from ordito.executors.remote.operation_text import KINDS, identity, outputs_path
from ordito.executors.remote.settling import await_end, end_or_find
from ordito.executors.remote.tree import Trees
from ordito.work.invocation import Ending, Hold, InDoubt, Invocation, Outcome, Progress
from ordito.work.targets import HostTarget, Unreachable

AT_ONCE = 16
"""How many hosts are cleaned up at the same time on which the job only ran before it was interrupted."""


class RemoteExecutor:
    """The executor for bash, sh and Python scripts on other hosts.

    An operation runs there as it does here (see ``LocalExecutor``). Each is one command over a connection that is used
    again. It lives on without the connection: if that is lost, or this process dies, its outcome is found on the host.
    All files are below one folder on each host; ``leave`` removes those of a job.
    """

    def __init__(
        self,
        connectors: Sequence[Connector],
        area: str,
        patience: HostTimeouts | None = None,
        hold: Hold | None = None,
    ) -> None:
        """``area`` is the name of this ensemble, which no other one on the same hosts has; ``hold`` says how it is
        held, where others may take it over."""
        self._connectors: Mapping[str, Connector] = {c.protocol: c for c in connectors}
        self._area = area
        self._hold = hold
        self._patience = patience or HostTimeouts()
        self._trees = Trees()
        self._hosts: dict[tuple[str, str], list[tuple[HostTarget, RemoteHost]]] = {}
        self._running: dict[str, RemoteAttempt] = {}

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Whether an artifact of these types is a shell or Python script, and a connector has this protocol."""
        return protocol in self._connectors and not KINDS.isdisjoint(processor_kinds)

    def batch_key(self, invocation: Invocation) -> str:
        """A key of its own for each invocation: there is nothing that several could share."""
        return invocation.step

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Run invocations at the same time; all are ended if the caller stops iterating."""
        stream: Stream[tuple[RemoteAttempt, Progress | None]] = Stream()
        tasks: dict[RemoteAttempt, asyncio.Task[None]] = {}
        try:
            for invocation in batch:
                attempt = RemoteAttempt(
                    invocation, self._host(invocation.target, invocation.job), self._trees, stream, self._patience
                )
                self._running[invocation.step] = attempt
                tasks[attempt] = task = asyncio.create_task(attempt.drive())
                task.add_done_callback(partial(_tell_of_end, stream, attempt))
            while tasks:
                attempt, progress = await stream.get()
                if progress is None:
                    # Should there be a fault of ours in it, this raises it.
                    await tasks.pop(attempt)
                    self._forget(attempt)
                else:
                    yield attempt.invocation.step, progress
        finally:
            for attempt, task in tasks.items():
                attempt.end(Ending.CANCELLED)
                await asyncio.wait([task])
                self._forget(attempt)

    async def cancel(self, step: str) -> None:
        """End a running step's processes; returns when they are gone."""
        attempt = self._running.get(step)
        if attempt is not None:
            attempt.end(Ending.CANCELLED)
            await attempt.over.wait()

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """Find out, after a crash, how a started step ended; nothing of it runs afterwards, except daemons of a step
        that has ended. A step whose host cannot be reached ends ``LOST``."""
        host = self._host(doubt.target, doubt.job)
        word = identity(doubt.job, doubt.step, doubt.attempt)
        slot = doubt.started.slot if doubt.started else ""
        try:
            found = await await_end(host, word, slot, self._patience, _Nobody(), self._patience.settle)
            if isinstance(found, str):
                return Outcome(Ending.LOST, message=f"it is not known how this operation ended: {found}")
            if found is None:
                return None
            return await self._settled(host, doubt, found)
        except (Unreachable, Unusable) as error:
            return Outcome(Ending.LOST, message=f"it is not known how this operation ended: {error}")

    async def leave(
        self, given_back: Sequence[HostTarget] = (), before: Sequence[HostTarget] = (), job: str = ""
    ) -> list[HostTarget]:
        """Remove the files of the job on its hosts, and all files of the ensemble on hosts that were ``given_back``,
        and close all connections; call it when all outcomes are recorded, on the loop that ran the operations. Returns
        the hosts that were given back and now have nothing of the ensemble. ``before`` are hosts on which the job ran
        something before it was interrupted."""
        known = {target.name for all_ in self._hosts.values() for target, _ in all_}
        hosts = [host for all_ in self._hosts.values() for target, host in all_ if target not in given_back]
        again = [t for t in before if t.name not in known and t not in given_back and t.protocol in self._connectors]
        gone = [target for target in given_back if target.protocol in self._connectors]
        self._hosts.clear()
        # A host that is not reached any more cannot be tidied: the next job does it.
        tidied: list[asyncio.Task[bool]] = []
        places = asyncio.Semaphore(AT_ONCE)
        with contextlib.suppress(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                for host in hosts:
                    group.create_task(_left(host.leave()))
                for target in again:
                    group.create_task(_left(_leave_again(self._host(target, job), places)))
                tidied += [
                    group.create_task(_left(self._remove_all(target, is_known=target.name in known))) for target in gone
                ]
        for connector in self._connectors.values():
            await connector.close()
        return [target for target, task in zip(gone, tidied, strict=False) if _went_well(task)]

    async def take_back(self, target: HostTarget) -> bool:
        """End what runs for the ensemble on a host that it no longer has, and remove all its files there; returns
        whether that succeeded."""
        return await _left(self._remove_all(target, is_known=False))

    async def _remove_all(self, target: HostTarget, *, is_known: bool) -> None:
        host = self._host(target, "")
        if not is_known:
            # What was lost there may be at work still: it is ended when the host is made ready.
            await host.ready()
        await host.remove_all()
        if target.settings.get("become", False) is not False:
            # Ansible keeps its files where the one who signs in is at home, whoever its tasks run as.
            plain = {name: value for name, value in target.settings.items() if name != "become"}
            await self._host(HostTarget(target.protocol, target.name, plain), "").remove_all()

    def close(self) -> None:
        """Does nothing: ``leave`` has done it all."""

    # ------------------------------------------------------------------------------------------------------- parts

    def _host(self, target: HostTarget | None, job: str) -> RemoteHost:
        if target is None:
            raise ValueError("this executor runs nothing on this machine")
        known = self._hosts.setdefault((target.name, job), [])
        for other, host in known:
            if other is target or other == target:
                return host
        host = RemoteHost(self._connectors[target.protocol], target, self._area, job, self._trees, self._hold)
        known.append((target, host))
        return host

    def _forget(self, attempt: RemoteAttempt) -> None:
        step = attempt.invocation.step
        if self._running.get(step) is attempt:
            del self._running[step]

    async def _settled(self, host: RemoteHost, doubt: InDoubt, found: AttemptOnHost) -> Outcome | None:
        found, unended = await end_or_find(host, found, self._patience)
        if found.state == "ended":
            return outcome_found(
                doubt, found.status, found.result, found.outputs, outputs_path(found.slot, found.identity)
            )
        if unended:
            numbers = ", ".join(map(str, unended))
            todo = "end them, then deploy (or undeploy) again"
            message = f"processes of this step on {host.target.name} cannot be ended: {numbers}; {todo}"
            return Outcome(Ending.FAILED, message=message)
        return None


def _tell_of_end(
    stream: Stream[tuple[RemoteAttempt, Progress | None]], attempt: RemoteAttempt, _: asyncio.Task[None]
) -> None:
    stream.put((attempt, None))


class _Nobody:
    """A listener that ignores output."""

    is_wanted = True

    def heard_out(self, data: bytes) -> None:
        """Ignore output of a process that is gone."""


async def _leave_again(host: RemoteHost, places: asyncio.Semaphore) -> None:
    async with places:
        await host.leave_again()


async def _left(leaving: Awaitable[None]) -> bool:
    try:
        await leaving
    except (Unreachable, Unusable):
        return False
    return True


def _went_well(task: asyncio.Task[bool]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None and task.result()
