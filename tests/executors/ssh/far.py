"""A service, a host that is reached by SSH, and an executor that runs operations on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ordito.executors.remote.connection import HostTimeouts
from ordito.executors.remote.executor import RemoteExecutor
from ordito.executors.ssh.connector import SshConnector
from ordito.work.invocation import InDoubt, Invocation, Outcome, Started
from ordito.work.targets import HostTarget
from tests.executors.place import BASH, PYTHON, Ran
from tests.support.real.hosts import SshHost, SshHosts

PATIENCE = HostTimeouts(grace=1.0, linger=0.3, settle=0.3, reconnect=5.0, pause=0.05)


def target_of(host: SshHost, known_hosts: Path | str, **more: object) -> HostTarget:
    settings: dict[str, object] = {
        "address": host.address,
        "port": host.port,
        "user": host.user,
        "identity": [str(host.key)],
        "known_hosts": str(known_hosts),
        "agent": False,
        "config": False,
    }
    given = {n: v for n, v in {**settings, **more}.items() if v is not None}
    return HostTarget("ssh", host.name, given)


class Far:
    """What it takes to run scripts on a host."""

    def __init__(self, path: Path, hosts: SshHosts, host: SshHost, area: str, job: str = "A0AP4P9C0000") -> None:
        self.root = path / "service"
        self.root.mkdir(exist_ok=True)
        self.host = host
        self.target = target_of(host, hosts.known_hosts([host]))
        self.job = job
        self.area = area
        self._all: list[RemoteExecutor] = []
        self.executor = self.another()

    def another(self, **more: Any) -> RemoteExecutor:
        """An executor as another process has one."""
        made = RemoteExecutor([SshConnector()], self.area, HostTimeouts(**more) if more else PATIENCE)
        self._all.append(made)
        return made

    async def leave(self) -> None:
        """Take leave of the host."""
        for executor in self._all:
            await executor.leave()

    def write(self, name: str, text: str | bytes) -> str:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    def invocation(self, script: str | bytes, name: str = "run.sh", **more: Any) -> Invocation:
        values: dict[str, Any] = {
            "job": self.job,
            "step": name,
            "attempt": 1,
            "processor": PYTHON if name.endswith(".py") else BASH,
            "environment": {},
            "target": self.target,
        }
        return Invocation(root=str(self.root), artifact=self.write(name, script), **{**values, **more})

    async def run(self, script: str | bytes, name: str = "run.sh", **more: Any) -> Ran:
        return await self.arun(self.invocation(script, name, **more))

    async def arun(self, invocation: Invocation) -> Ran:
        ran = Ran()
        async for step, progress in self.executor.run([invocation]):
            assert step == invocation.step
            ran.take(progress)
        return ran

    def doubt(self, started: Started | None = None, step: str = "run.sh", outputs: tuple[str, ...] = ()) -> InDoubt:
        return InDoubt(self.job, step, 1, started, outputs, self.target)

    @staticmethod
    async def until(condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(500):
            if condition():
                return
            await asyncio.sleep(0.02)
        raise AssertionError("that never happens")

    def files(self, below: str = "") -> set[str]:
        """The files that lie in this ensemble's folder on the host, relative to it."""
        top = f"{self.host.home if self.host.isolated else ''}/.ordito/{self.area}/"
        found = {name.removeprefix(top) for name in self.host.files() if name.startswith(top)}
        return {name for name in found if name.startswith(below)}


def good(ran: Ran) -> Mapping[str, object]:
    """The outputs of an operation that ended well."""
    assert ran.outcome.succeeded, (ran.outcome, ran.text)
    return ran.outcome.outputs


def said(outcome: Outcome) -> tuple[str, str]:
    return outcome.ending.value, outcome.message
