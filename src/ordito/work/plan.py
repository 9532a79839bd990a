"""The plan: what a job will do, as data. It is made once, and execution follows it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

import msgspec

from ordito.instances.records import Applied, Instance
from ordito.work.hooks import DoneHook, Hook


class Action(StrEnum):
    """What a step does: call an operation, let a provider make or remove a node, set the node state (``leave``), look
    whether an instance passes a filter, write an output of a workflow to an attribute, carry out a whole workflow that
    an artifact implements, carry out a lifecycle step or undo one, take over what is wanted of an instance without
    carrying anything out (``adopt``), or only join other steps."""

    CALL = "call"
    DELEGATE = "delegate"
    JOIN = "join"
    SET_STATE = "set state"
    FILTER = "filter"
    WORKFLOW = "workflow"
    OUTPUT = "output"
    HOOK = "hook"
    UNDO = "undo"
    ADOPT = "adopt"


HOOKS = frozenset({Action.HOOK, Action.UNDO})
"""The steps that are lifecycle steps, or undo one."""


class Gate(StrEnum):
    """What a step makes of the ends of those before it. A step may be *left out*: it was not to run after all (what it
    stands for is not needed, or its instance does not pass a filter), which is no failure.

    ``NONE``: it runs when all have ended well, and one that was left out has. ``ALL``: the same, but it is left out
    with any of them. ``ANY``: it runs as soon as one has ended well, and is left out where none has. ``FAILED``: it
    runs as soon as one has failed, and is left out where none has.
    """

    NONE = ""
    ALL = "all"
    ANY = "any"
    FAILED = "failed"


class StepCondition(StrEnum):
    """When a step that is about to start is needed: what only the job itself finds out. One that is not needed counts
    as done. They speak of the instance whose chain the step belongs to, save the last."""

    ALWAYS = ""
    UNLESS_OK = "unless it was found to be ok"
    IF_OK = "only if it was found to be ok"
    UNLESS_LOST = "unless its host cannot be reached"
    IF_KNOWN = "if it was found out how it is"
    IF_ABSENT = "only if it was found to be absent"
    UNLESS_ABSENT = "unless it was found to be absent"
    IF_LEFT = "unless it was found to be absent, or this was done already"
    IF_UNWELL = "unless it was found to be ok, or absent"
    IF_MENDED = "if it is ok now, else it fails"
    IF_HEALED = "if it is ok in the end, else healing it has failed"
    IF_THERE = "if it was not found to be absent, else it fails"
    IF_FAR_IS_UP = "only if the far end, which is optional, is up"
    UNLESS_LINKED = "unless it was carried out as the target was repaired"
    IF_CHANGED = "only if the far end has changed"
    IF_OTHER_INPUTS = "only if an input is another value than before"
    UNTIL_READY = "asked again until it is ready"


PROCESSES = "workflow:"
"""Stands before the artifact type of a workflow that a processor is asked to carry out: what processes workflows
processes no operations."""

ARTIFACTS = "artifact:"
"""Stands before the type of an artifact that a processor of artifacts takes: ``artifact:<type>@<version>``, the version
"" for any. It runs on this machine, and reaches the target by itself."""

SCRIPTS = ("tosca.artifacts.Implementation.Bash", "tosca.artifacts.Implementation.Python")
"""What is carried out as it is, be it an operation or a workflow."""

WORKFLOW = "workflow"
"""The interface name of a workflow that is carried out as a whole."""

HOOK = "hook"
"""The interface name of a lifecycle step: its operation is the id of the step."""

UNDO = "undo"
"""The interface name of what undoes a lifecycle step."""


@lru_cache(maxsize=4_096)
def _named(interface: str, operation: str) -> str:
    # The records of all instances share the few names there are.
    return f"{interface}.{operation}"


class OperationCall(msgspec.Struct, frozen=True):
    """An operation that steps call, once in the plan for all instances: on which node or relationship it is
    declared, which one, what it runs.

    ``owner`` is the node template's name, or the relationship's key with ``side`` "source" or "target" (the end on
    which the operation runs; "" for node operations). ``artifact`` is "" for an operation that does nothing, else
    its file; ``processor`` names the kind of artifact that an executor must understand (full type name). ``outputs``
    are the variables to hand back. ``declared`` is the place in the template, ``file:line:column``. ``digest`` stands
    for what is carried out, "" for a call that the records do not remember. What a provider is asked to do is a call
    as well, of ``deploy`` or ``undeploy`` of the interface ``delegate``. ``attempts`` is how often it is tried in all
    (0: as the job says), ``interval`` the seconds before the second attempt (None: as the job says). ``given`` are
    values of inputs for this call only, plain data or sensitive: they come before those that are declared, or add to
    them. ``activity`` is the place in the service of the activity that calls it, whose inputs come before those of
    the template as well, () for none (see ``work.activities``); ``scope`` is an index into ``Plan.scopes``, -1 for
    none. ``version`` is that of the interpreter which a script asks for, "" for any. ``form`` is the form of the
    service that declares it (``work.records.Form``), "" for that of the job itself. What asks whether an instance is
    ready asks again ``within`` so many seconds (None: for what does not).
    """

    owner: str
    side: str
    interface: str
    operation: str
    artifact: str = ""
    processor: str = ""
    dependencies: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    timeout: int | None = None
    digest: str = ""
    declared: str = ""
    attempts: int = 0
    interval: float | None = None
    given: Mapping[str, object] = {}
    activity: tuple[str, ...] = ()
    scope: int = -1
    version: str = ""
    form: str = ""
    within: float | None = None

    @property
    def name(self) -> str:
        """``Interface.operation``, the key under which outputs and the records of pairs remember it."""
        return _named(self.interface, self.operation)

    @property
    def key(self) -> str:
        """The key under which the record of an instance remembers it."""
        return f"{self.owner}/{self.name}" if self.side else self.name


class Scope(msgspec.Struct, frozen=True, omit_defaults=True):
    """The inputs of a workflow that somebody wrote: ``get_input`` finds them before those of the topology in what the
    workflow calls (§7.3.6). Where it is inlined, ``activity`` is the place of the activity that does it, whose inputs
    are evaluated among those of the scope ``outer``, for the instance ``on``, or the node that a topology stands for
    ("" for neither). An operation of such a node may be what calls it, and then its inputs are those."""

    workflow: str
    inputs: dict[str, object] = {}
    activity: tuple[str, ...] = ()
    outer: int = -1
    on: str = ""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan.

    ``id`` is readable and unique in the plan (``web_1.Standard.create``). ``instance`` is the instance the step
    belongs to (on which the operation runs; "" for joins), ``far`` the other end and ``link`` the link's id for
    operations of a pair; for operations once per (relationship, near instance) ``far`` is the first of the far
    instances and ``link`` "". No two steps with the same ``instance`` may run at the same time, whatever the edges
    and hosts. ``call`` is the index into ``Plan.calls`` (-1 for none). ``runs_on`` is the id of the
    Compute instance where the operation executes, "" for the orchestrator; steps with the same ``runs_on`` share
    that host's places. ``enter`` and ``leave`` are the node states set when the step starts and when it has
    succeeded. ``opens`` marks the first step of an instance's chain, ``closes`` the last. ``tolerant`` steps run
    when their predecessors have ended, well or not. ``by_hand`` steps were done by somebody, and only count as done.
    ``chain`` is the length of the longest chain of steps that depend on this one, used to choose what goes first.
    ``reason`` is an index into ``Plan.reasons``. The job can do without ``optional`` steps: their failures make it
    degraded at worst. What depends on a ``dispensable`` step goes on when that step itself has failed. ``condition``
    says when it is needed. ``again`` marks the last step that removes an instance which the plan makes again, and the
    first that does so: with this one it is as new, whatever is left of it; and the look that says whether that is to
    be. ``gate`` is what it makes of the ends of the steps before it. What ``counts`` is a part of the lifecycle, and
    counts as deployed whatever the workflow.
    ``written`` is the place in the service of a filter's condition, or of a workflow's output (see
    ``work.activities``), () for none. ``hook`` is an index into ``Plan.hooks``, or, of a step that undoes, into
    ``Plan.undone``; -1 for none. With the start of a step that ``forms`` its instance is in the form of its call.
    A join that is a ``barrier`` comes after everything before it has ended: nothing after it starts where something of
    that has failed, or was not run, that the job cannot do without.
    """

    id: str
    action: Action = Action.CALL
    instance: str = ""
    far: str = ""
    link: str = ""
    call: int = -1
    runs_on: str = ""
    enter: str = ""
    leave: str = ""
    opens: bool = False
    closes: bool = False
    tolerant: bool = False
    by_hand: bool = False
    chain: int = 0
    reason: int = 0
    optional: bool = False
    dispensable: bool = False
    condition: StepCondition = StepCondition.ALWAYS
    anew: bool = False
    gate: Gate = Gate.NONE
    counts: bool = False
    written: tuple[str, ...] = ()
    hook: int = -1
    forms: bool = False
    barrier: bool = False


class DifferenceKind(StrEnum):
    """What a difference is about, where something else is decided by that."""

    OTHER = ""
    PROPERTY = "property"

    INPUT = "input"
    """An input of an operation."""

    REQUEST = "request"
    """Nothing differs: somebody wants it to be replaced."""

    UNKNOWN = "unknown"
    """An operation was carried out in a form of which nothing more is known."""

    NOT_COUNTED = "not counted"
    """An operation was taken back, and does not count as carried out."""


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wanted in another form than it was carried out: ``what``, from what to what (None where there
    was, or will be, none), as it may be shown; ``declared`` is its place, ``file:line:column``. ``about`` tells kinds
    apart, and ``name`` is the one of an input."""

    what: str
    before: object = None
    after: object = None
    declared: str = ""
    about: DifferenceKind = DifferenceKind.OTHER
    name: str = ""


class ChangeKind(StrEnum):
    """What a deployment or an upgrade means for an instance, the more of it the later: left alone; only what is
    recorded of it moves on; its pairs are made or undone; stopped and started; stopped, configured and started; changed
    by its own operation for that; removed and made again. Or it is one more, or one less, of a node that is there, of a
    node that was not there, or of one that the template has lost."""

    UNCHANGED = "unchanged"
    ADOPT = "adopt"
    RELINK = "relink"
    RESTART = "restart"
    RECONFIGURE = "reconfigure"
    UPDATE = "update"
    REPLACE = "replace"
    SCALE = "scale"
    ADDED = "added"
    REMOVED = "removed"


class ChangeCause(StrEnum):
    """Why something becomes of an instance, where something else is decided by that."""

    NONE = ""
    """Nothing is; ``Change.reason`` has the words."""

    TO_HEAL = "to heal"
    """It was asked to be healed."""

    PROTECTED = "protected"
    """It is kept because it is protected."""

    UNMANAGED = "unmanaged"
    """It is kept because this ensemble has not made it."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the plan means for one instance: ``+`` made, ``~`` continued or changed, ``-/+`` replaced, ``-`` removed,
    ``=`` taken over as it is, ``?`` looked at, and repaired where that finds it not to be ok; and why. ``declared`` is
    the place of its node. ``differences`` are what has changed, and ``kind`` is what comes of them, "" where nothing
    has."""

    symbol: str
    instance: str
    reason: str
    declared: str = ""
    differences: tuple[Difference, ...] = ()
    kind: str = ""
    cause: ChangeCause = ChangeCause.NONE


class Outage(msgspec.Struct, frozen=True):
    """A node of which all ``instances`` that are up are down at one time, while the plan is carried out, and why."""

    node: str
    instances: int
    reason: str


class KeptCount(msgspec.Struct, frozen=True):
    """A number of instances that was set by `scale`: it is wanted for as long as the template asks for what it asked
    for then, ``over``. ``job`` has set it, "" for the one that the plan is for."""

    count: int
    over: int
    job: str = ""


class Plan(msgspec.Struct, frozen=True):
    """Everything a job needs to decide what to do, in an order that satisfies all edges.

    ``edges`` holds (before, after, reason): two indices into ``steps`` and one into ``reasons``. ``instances`` are
    the new instances to record before the first step runs. ``capacity`` gives
    the number of operations that may run at one time on a Compute instance (where it is not named, the job says it).
    ``warnings`` are shown before the job starts. ``counts`` is the wanted number of instances per node, ``origins``
    says where it comes from, where that is more than the usual one; ``kept_counts`` are those that later plans are to
    keep, by node, None where the plan has nothing to say of them. ``kept`` is what stays though everything else is
    removed, and why; ``drifted`` are the instances to be removed that were found to be other than they were made.
    Steps of a plan that ``overlaps`` may run at the same time on one instance and one host; in one that ``halts``
    nothing starts after a failure but what is there for it (``Gate.FAILED``) and what follows that. ``scopes`` are
    those of the calls. ``makers`` says of the nodes of which instances are made elsewhere who makes them.

    ``hooks`` are the lifecycle steps that the plan carries out, ``undone`` those of before that it undoes. ``older``
    are the instances that the plan brings into another form: until a step that ``forms`` them starts they are in the
    one in which they were, given here by their ids. ``adopted`` is what ``Action.ADOPT`` steps take over, by the
    instance, or the pair: the operations that count as carried out as they are wanted now; those without a digest are
    not wanted any more, and count as nothing. ``moved`` are instances that are made again on another host, each with
    that host, "" for none: with the first step that makes it again its record says so. ``observed`` are digests of what
    the inputs of operations were when the plan was made, by the instance (``IF_OTHER_INPUTS``). ``outages`` are the
    nodes of which nothing is up for a while, though instances of them were, and will be again. ``losing`` are the
    instances whose data are lost, ``lost_if`` says on what that depends where it is not certain. ``absent`` are the
    records of instances that were found to be absent, and are new here: where the job does not come to make one, its
    record is again what it was. A plan that ``is_part`` is about a part of the service, and its success is no revision:
    ``left_out`` is what a plan for everything would do besides, as far as that can be told.
    """

    workflow: str
    steps: tuple[Step, ...]
    edges: tuple[tuple[int, int, int], ...]
    calls: tuple[OperationCall, ...]
    reasons: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    instances: tuple[Instance, ...] = ()
    capacity: dict[str, int] = {}
    counts: dict[str, int] = {}
    origins: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    kept: tuple[Change, ...] = ()
    drifted: tuple[str, ...] = ()
    kept_counts: dict[str, KeptCount] | None = None
    overlaps: bool = False
    halts: bool = False
    scopes: tuple[Scope, ...] = ()
    makers: dict[str, str] = {}
    hooks: tuple[Hook, ...] = ()
    undone: tuple[DoneHook, ...] = ()
    older: dict[str, str] = {}
    adopted: dict[str, dict[str, Applied]] = {}
    moved: dict[str, str] = {}
    observed: dict[str, str] = {}
    losing: tuple[str, ...] = ()
    lost_if: dict[str, str] = {}
    absent: tuple[Instance, ...] = ()
    outages: tuple[Outage, ...] = ()
    is_part: bool = False
    left_out: tuple[Change, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.steps

    def made_again(self) -> frozenset[str]:
        """The instances that are removed and made again, or only the latter where they are gone already."""
        return frozenset(step.instance for step in self.steps if step.anew)
