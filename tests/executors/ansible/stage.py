"""A service with playbooks in it, instances that they are for, and an executor to run them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordito.executors.ansible.executor import AnsibleExecutor
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.artifacts import ANSIBLE
from ordito.work.inventory import OperationSubject, TopologyInventory
from ordito.work.invocation import Invocation, Outcome, Printed, Progress, Started
from ordito.work.targets import HostTarget
from tests.executors.place import JOB
from tests.support.real.needs import ansible_playbook
from tests.support.services import compute, node, on, service

APP = "acme.nodes.App"


class Played:
    """What was told about one instance."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.text = ""
        self.outcome: Outcome | None = None

    def take(self, progress: Progress) -> None:
        assert self.outcome is None, "nothing comes after the outcome"
        if isinstance(progress, Started):
            self.started = progress
        elif isinstance(progress, Printed):
            self.text += progress.data.decode()
        else:
            self.outcome = progress

    @property
    def end(self) -> Outcome:
        assert self.outcome is not None, "an outcome comes last"
        return self.outcome


class Stage:
    """Apps ``app_1``, ``app_2``, ..., each on a server of its own, and a folder for playbooks."""

    def __init__(self, path: Path, apps: int, targets: Mapping[str, HostTarget] | None = None) -> None:
        self.root = path / "service"
        self.root.mkdir()
        self.slots = path / "slots"
        self.targets = dict(targets or {})
        names = [str(number) for number in range(1, apps + 1)]
        made = service(compute("server", count=apps), node("app", on("server"), kinds=[APP], count=apps))
        self.snapshot = Snapshot()
        servers = [Instance(f"server_{n}", "server", int(n) - 1, local="ok") for n in names]
        every = [*servers, *(Instance(f"app_{n}", "app", int(n) - 1, host=f"server_{n}", local="ok") for n in names)]
        self.snapshot.apply(Delta(instances=tuple(every)))
        self.topology = TopologyInventory(made, self.snapshot, self.targets.get)
        self.executor = self.new_executor()

    def new_executor(self, **more: Any) -> AnsibleExecutor:
        """An executor with the same slots, as another process has it."""
        program = str(ansible_playbook())
        return AnsibleExecutor(self.slots, program=program, **{"grace": 5.0, "quiet": 0.0, **more})

    def write(self, name: str, text: str) -> str:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return name

    def invocation(
        self,
        number: int,
        playbook: str,
        inputs: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
        **more: Any,
    ) -> Invocation:
        instance, server = f"app_{number}", f"server_{number}"
        values: dict[str, Any] = {
            "environment": {"INSTANCE": instance, "NODE": "app", **{n: str(v) for n, v in (inputs or {}).items()}},
            "host": server,
            "target": self.targets.get(server),
            "attempt": 1,
        }
        return Invocation(
            job=JOB,
            step=f"{instance}.create",
            processor=ANSIBLE,
            root=str(self.root),
            artifact=playbook,
            subject=OperationSubject(instance, self.topology, inputs=inputs or {}, settings=settings or {}),
            **{**values, **more},
        )

    async def aplay(
        self, batch: Sequence[Invocation], hear: Callable[[str, Progress], object] | None = None
    ) -> list[Played]:
        played = {invocation.step: Played() for invocation in batch}
        async for step, progress in self.executor.run(batch):
            played[step].take(progress)
            if hear is not None and asyncio.iscoroutine(said := hear(step, progress)):
                await said
        return list(played.values())

    def play(self, *batch: Invocation) -> list[Played]:
        return asyncio.run(self.aplay(batch))

    def left(self) -> list[str]:
        """Everything in the slots that is a file, save what tells how batches have ended."""
        every = (p.relative_to(self.slots) for p in self.slots.rglob("*") if p.is_file())
        return sorted(str(p) for p in every if p.parts[2] not in ("batch.json", "results"))
