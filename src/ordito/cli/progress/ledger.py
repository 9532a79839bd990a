"""What has happened in a job so far, collected from its events, for the terminal's tree and the final report."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from ordito.work.events import (
    Event,
    InstanceState,
    JobFinished,
    JobRollback,
    JobStarted,
    StepFailed,
    StepLog,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
)
from ordito.work.invocation import Outcome
from ordito.work.plan import UNDO

WHOLE = "workflow"
"""The heading of steps that belong to no instance, since they are whole workflows."""

MODULE = "module"
"""The heading of lifecycle steps of the whole service."""

REMOVED = "delegate.undeploy"

SETTLED = frozenset({"ok", "degraded", "absent"})
"""Local statuses in which an instance without running operations needs no more attention."""


class InstancePhase(IntEnum):
    """The progress of an instance, for people."""

    WAITING = 0
    BUSY = 1
    SETTLED = 2


class RunningOperation:
    """A running operation."""

    __slots__ = ("last_line", "operation", "since")

    def __init__(self, operation: str, since: float) -> None:
        self.operation = operation
        self.since = since
        self.last_line = ""


WELL = frozenset({"", "ok"})
"""The statuses that an operation reports of an instance that is ok."""


class Account:
    """What has happened on one instance: its state and status, what runs, and how many operations ended how. ``unwell``
    counts, by reported status, the successful operations that found the instance not ok."""

    __slots__ = (
        "changed",
        "failed",
        "local",
        "no_op",
        "node",
        "ok",
        "running",
        "seen_as",
        "skipped",
        "state",
        "unwell",
    )

    def __init__(self, node: Node) -> None:
        self.node = node
        self.seen_as = InstancePhase.WAITING
        self.state = ""
        self.local = ""
        self.running: dict[str, RunningOperation] = {}
        self.ok = self.changed = self.no_op = self.failed = self.skipped = 0
        self.unwell: Mapping[str, int] = {}

    @property
    def phase(self) -> InstancePhase:
        """Whether there is something to show; what failed or was left out stays busy."""
        if self.running or self.failed or self.skipped:
            return InstancePhase.BUSY
        if self.local in SETTLED:
            return InstancePhase.SETTLED
        return InstancePhase.BUSY if self.ok or self.no_op else InstancePhase.WAITING


class Node:
    """The instances of one node: their number in each phase, and the busy ones."""

    __slots__ = ("busy", "counts", "name", "state")

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = ""
        self.counts = [0] * len(InstancePhase)
        self.busy: dict[str, Account] = {}

    @property
    def total(self) -> int:
        """The number of all instances."""
        return sum(self.counts)


class Ledger:
    """All accounts of a job, by instance in the order of the plan, and the failures in the order they happened.

    ``complaints`` are, by instance, the ends of operations that found it not ok; ``left`` is what may remain of removed
    ones. Counts are updated with each event, so drawing costs only what is visible.
    """

    def __init__(self) -> None:
        self.job = ""
        self.workflow = ""
        self.began = 0.0
        self.resumed = False
        self.steps = 0
        self.ended = 0
        self.accounts: dict[str, Account] = {}
        self.nodes: dict[str, Node] = {}
        self.counts = [0] * len(InstancePhase)
        self.activities: dict[str, RunningOperation] = {}
        self.failures: list[StepFailed] = []
        self.complaints: dict[str, Outcome] = {}
        self.left: dict[str, str] = {}
        self.finished: JobFinished | None = None

    def __call__(self, event: Event) -> None:
        """Add an event."""
        match event:
            case StepLog():
                self._heard(event)
            case StepStarted():
                activity = RunningOperation(titled(event), event.at)
                self.activities[event.step] = activity
                account = self._account(subject(event))
                account.running[event.step] = activity
                self._review(subject(event), account)
            case StepSucceeded():
                account = self._end(subject(event), event.step)
                account.ok += not event.no_op
                account.no_op += event.no_op
                account.changed += bool(event.outcome.changed)
                if not event.no_op and (status := event.outcome.status) not in WELL:
                    account.unwell = {**account.unwell, status: account.unwell.get(status, 0) + 1}
                self._told(event)
                self._review(subject(event), account)
            case StepFailed():
                account = self._end(subject(event), event.step)
                account.failed += 1
                self._review(subject(event), account)
                self.failures.append(event)
            case StepRetrying():
                account = self._pause(event.instance, event.step)
                self._review(event.instance, account)
            case StepSkipped():
                account = self._end(subject(event), event.step)
                account.skipped += not event.needless
                account.no_op += event.needless
                self._review(subject(event), account)
            case InstanceState():
                account = self._account(event.instance)
                account.state, account.local = event.state, event.local
                account.node.state = event.state
                self._review(event.instance, account)
            case JobStarted() | JobRollback() | JobFinished():
                self._mark(event)

    def _mark(self, event: JobStarted | JobRollback | JobFinished) -> None:
        """The job as a whole begins, is rolled back, or ends."""
        if isinstance(event, JobFinished):
            self.finished = event
        elif isinstance(event, JobRollback):
            self.steps += event.steps
        else:
            self._begin(event)

    def _begin(self, event: JobStarted) -> None:
        self.job, self.workflow, self.began, self.resumed = event.job, event.workflow, event.at, event.resumed
        self.steps, self.ended = event.steps, event.done
        for instance in event.instances:
            self._account(instance)

    def _heard(self, event: StepLog) -> None:
        activity = self.activities.get(event.step)
        if activity is not None:
            activity.last_line = event.text.rpartition("\n")[2]

    def _told(self, event: StepSucceeded) -> None:
        """Keep the warnings of an operation that succeeded."""
        if event.outcome.message and event.outcome.status not in WELL:
            self.complaints[event.instance] = event.outcome
        elif event.outcome.message and event.operation == REMOVED:
            self.left[event.instance] = event.outcome.message

    def _account(self, instance: str) -> Account:
        instance = instance or WHOLE
        account = self.accounts.get(instance)
        if account is None:
            name = node_of(instance)
            node = self.nodes.get(name)
            if node is None:
                node = self.nodes[name] = Node(name)
            account = self.accounts[instance] = Account(node)
            node.counts[InstancePhase.WAITING] += 1
            self.counts[InstancePhase.WAITING] += 1
        return account

    def _review(self, instance: str, account: Account) -> None:
        """Count an instance in its present phase."""
        instance = instance or WHOLE
        before, now = account.seen_as, account.phase
        if now is before:
            return
        account.seen_as = now
        node = account.node
        for counts in (self.counts, node.counts):
            counts[before] -= 1
            counts[now] += 1
        if now is InstancePhase.BUSY:
            node.busy[instance] = account
        else:
            node.busy.pop(instance, None)

    def _end(self, instance: str, step: str) -> Account:
        self.ended += 1
        return self._pause(instance, step)

    def _pause(self, instance: str, step: str) -> Account:
        self.activities.pop(step, None)
        account = self._account(instance)
        account.running.pop(step, None)
        return account


def subject(event: StepStarted | StepSucceeded | StepFailed | StepSkipped | StepRetrying) -> str:
    """The heading of a step: its instance, or the component of a lifecycle step; "" for neither."""
    hook = None if isinstance(event, StepRetrying) else event.hook
    return event.instance or (hook.component or MODULE if hook is not None else "")


def titled(event: StepStarted | StepSucceeded | StepFailed | StepSkipped | StepRetrying) -> str:
    """What a step does, for people; for a lifecycle step its name and its phase."""
    hook = None if isinstance(event, StepRetrying) else event.hook
    if hook is not None and not event.instance:
        undoes = event.operation.startswith(f"{UNDO}.")
        return f"{'undo ' if undoes else ''}{hook.id} ({hook.phase})"
    return title(event.operation, event.far if isinstance(event, StepStarted) else "")


def title(operation: str, far: str = "") -> str:
    """The title of an operation for people, ``create`` for ``Standard.create``, with the peer of a link. The name of an
    unusual interface is part of it: ``monitoring.start`` is not the start of the node."""
    interface, _, name = operation.rpartition(".")
    kind = interface.rpartition(".")[2]
    if kind == SETS_STATE:
        name = f"state {name}"
    elif operation in OWN:
        name = OWN[operation]
    elif kind not in UNNAMED:
        name = f"{kind}.{name}"
    return f"{name} -> {far}" if far else name


SETS_STATE = "set_state"
"""The name in place of an interface when a workflow sets node states."""


def called(step: str) -> str:
    """A step for people, from its id; internal steps, which no command can name, are described in words."""
    number = step.rpartition(".")[2]
    if number.isdigit() and step.removeprefix(OF_ROLLBACK).startswith(JOINING):
        return f"point {number}"
    once, again = step, ""
    while once.endswith(AGAIN):
        once, again = once.removesuffix(AGAIN), " again"
    instance, *operation = once.rsplit(".", 2)
    words = OWN.get(".".join(operation))
    return f"{instance} {words}{again}" if words else step


def in_words(step: str) -> str:
    """The name of a step in progress lines, by its id: ``web_1 add_target -> db_1``. An id that is no operation on an
    instance is returned unchanged."""
    back = " (rolling back)" if step.startswith(OF_ROLLBACK) else ""
    own = step.removeprefix(OF_ROLLBACK)
    if (words := called(own)) != own:
        return f"{words}{back}"
    while own.endswith((AGAIN, *UNTIL_READY)) and own.count(".") > 2:
        own = own.rpartition(".")[0]
    instance, *parts = own.split(".")
    if len(parts) < 2 or node_of(instance) == instance:
        return step
    is_of_pair = len(parts) > 3 and node_of(parts[1]) != parts[1]
    far, operation = (parts[1], parts[2:]) if is_of_pair else ("", parts)
    return f"{instance} {title('.'.join(operation), far)}{back}"


AGAIN, UNTIL_READY = ".again", (".ready", ".turn")
"""The endings of ids of steps that repeat another step of the plan, and of steps that ask until an instance is ready.
"""

OF_ROLLBACK = "rollback."
JOINING = ("join.", "barrier.")
"""The beginnings of ids of steps that only join others."""

OWN = {
    "ordito.settle": "status",
    "ordito.whether": "whether needed",
    "ordito.there": "whether there",
    "ordito.fit": "whether ok",
    "ordito.unfit": "whether not ok",
    "ordito.known": "whether known",
    "ordito.healed": "status after healing",
    "ordito.adopt": "record",
}
"""Names of steps that run nothing: they set a state, find out what is needed, or record what exists."""

QUESTIONS = frozenset({"ordito.whether", "ordito.there", "ordito.fit", "ordito.unfit", "ordito.known"})
"""Steps that find out whether something is true; if it is not, they fail, or are left out."""


def nothing(operation: str) -> str:
    """The text for a step that runs nothing; for one that sets a state, that it is set."""
    if operation in QUESTIONS:
        return "yes"
    return "set" if operation.startswith(f"{SETS_STATE}.") else "no-op"


UNNAMED = frozenset({"", "Standard", "Configure", "Maintain", "delegate", "lifecycle", "source", "target"})
"""The usual interfaces, whose operations need no explanation."""


def node_of(instance: str) -> str:
    """The common part of the ids of all instances of one node."""
    node, _, number = instance.rpartition("_")
    return node if node and number.isdigit() else instance
