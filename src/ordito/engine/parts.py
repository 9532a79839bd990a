"""What a job is made of and runs with."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.engine.announcer import Announcer
from ordito.engine.control import JobControl
from ordito.engine.ports import Hooks, Operations, OutputLog, PlansWayBack
from ordito.engine.workers import Workers
from ordito.instances.records import Snapshot
from ordito.work.plan import Plan
from ordito.work.records import JobHeader, Journal


class Parts(msgspec.Struct, frozen=True):
    """What all files of the driver share; each part is explained where ``run_job`` takes it."""

    header: JobHeader
    plan: Plan
    operations: Operations
    snapshot: Snapshot
    workers: Workers
    journal: Journal
    clock: Clock
    change_ids: ChangeIds
    announcer: Announcer
    output_log: OutputLog | None
    control: JobControl
    way_back: PlansWayBack | None
    different: Callable[[], tuple[str, ...]] | None = None
    tells_inputs: bool = False
    hooks: Hooks | None = None
