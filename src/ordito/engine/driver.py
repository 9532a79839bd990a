"""The driver: asyncio around the core, one *turn* of a loop after the other.

A turn takes what has arrived from the running steps, tells the core, and starts what the core names; then all records
of the turn are committed together, then listeners hear of it, and only then processes start. So nothing is ever shown
or begun that the journal does not know, and an end and the beginnings it makes possible cost one commit.

What runs in between are tasks that do nothing but pass on what executors and providers tell; the driver alone
writes the snapshot, the journal and the core.
"""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from collections.abc import Coroutine, Iterable, Sequence
from functools import partial
from types import TracebackType

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.engine.core import CancelAsked, Core, Counts, Skip, StepEnded
from ordito.engine.ports import Operations, OutputLog
from ordito.engine.printed import PrintedLines
from ordito.instances.records import Delta, Snapshot
from ordito.work.events import (
    Event,
    InstanceState,
    JobFinished,
    JobStarted,
    Listener,
    StepFailed,
    StepLog,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import (
    Ending,
    Executor,
    Invocation,
    Outcome,
    Printed,
    Progress,
    Provider,
    Started,
)
from ordito.work.plan import Action, Call, Plan, Step
from ordito.work.records import (
    JobClosingRecord,
    JobHeader,
    Journal,
    Record,
    StepFinishedRecord,
    StepProcessRecord,
    StepSkippedRecord,
    StepStartedRecord,
)

LARGEST_TURN = 1_000
"""Records after which a turn is committed, though the core has more to say."""

NO_CALL = Call("", "", "", "")
