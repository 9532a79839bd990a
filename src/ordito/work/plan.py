"""The plan: what a job will do, as data. It is made once, and execution follows nothing else."""

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
    """How a step depends on the ends of those before it.

    A step may be *left out*: it was not to run after all (it is not needed, or its instance does not pass a filter),
    which is no failure. ``NONE``: it runs when all have succeeded or were left out. ``ALL``: the same, but it is left
    out with any of them. ``ANY``: it runs as soon as one has succeeded, and is left out if none has. ``FAILED``: it
    runs as soon as one has failed, and is left out if none has.
    """

    NONE = ""
    ALL = "all"
    ANY = "any"
    FAILED = "failed"


class StepCondition(StrEnum):
    """Conditions that only the job itself can decide. Most say whether a step that is about to start is needed; one
    that is not counts as done. ``IF_REPAIRED``, ``IF_HEALED`` and ``IF_THERE`` are asked at the end of a step, which
    fails if they do not hold; ``UNTIL_READY`` is asked again until it holds. They are about the instance whose chain
    the step belongs to, if they do not name the peer or the pair."""

    ALWAYS = ""
    UNLESS_OK = "unless it was found to be ok"
    IF_OK = "only if it was found to be ok"
    UNLESS_LOST = "unless its host cannot be reached"
    IF_KNOWN = "if it was found out how it is"
    IF_ABSENT = "only if it was found to be absent"
    UNLESS_ABSENT = "unless it was found to be absent"
    IF_LEFT = "unless it was found to be absent, or this was done already"
    IF_UNWELL = "unless it was found to be ok, or absent"
    IF_REPAIRED = "if it is ok now, else it fails"
    IF_HEALED = "if it is ok in the end, else healing it has failed"
    IF_THERE = "if it was not found to be absent, else it fails"
    IF_FAR_IS_UP = "only if the peer, which is optional, is up"
    IF_LINKED = "only if the pair was linked"
    UNLESS_LINKED = "unless it was carried out as the target was repaired"
    IF_CHANGED = "only if the peer has changed"
    IF_OTHER_INPUTS = "only if an input is another value than before"
    UNTIL_READY = "asked again until it is ready"


PROCESSES = "workflow:"
"""The prefix of the artifact type of a workflow that a processor carries out: what processes workflows processes no
operations."""

ARTIFACTS = "artifact:"
"""The prefix of the type of an artifact that a processor of artifacts takes: ``artifact:<type>@<version>``, the version
"" for any. It runs on this machine, and reaches the target by itself."""

SCRIPTS = ("tosca.artifacts.Implementation.Bash", "tosca.artifacts.Implementation.Python")
"""What is executed as it is, for an operation or a workflow."""

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
    """An operation that steps call, once in the plan for all instances. Requests to a provider are calls as well, of
    ``deploy`` or ``undeploy`` of the interface ``delegate``."""

    owner: str
    """The node template that declares it, or the key of the relationship."""

    side: str
    """The end of a relationship on which it runs, "source" or "target"; "" for operations of nodes."""

    interface: str

    operation: str

    artifact: str = ""
    """Its file; "" for an operation that does nothing."""

    processor: str = ""
    """The kind of artifact that an executor must understand (full type name)."""

    dependencies: tuple[str, ...] = ()

    outputs: tuple[str, ...] = ()
    """The variables to return."""

    timeout: int | None = None

    digest: str = ""
    """The digest of what is carried out; "" for a call that the records do not keep."""

    declared: str = ""
    """The place in the template, ``file:line:column``."""

    attempts: int = 0
    """The number of attempts; 0: the job's."""

    interval: float | None = None
    """Seconds before the second attempt; None: the job's."""

    ends_by_timeout: bool = False
    """Whether it is not tried again once it took too long."""

    holds_far: bool = False
    """Whether nothing else runs on the other end of its pair meanwhile, because it may set attributes of both."""

    given: Mapping[str, object] = {}
    """Inputs for this call only, plain data or sensitive: they override the declared ones, or add to them."""

    activity: tuple[str, ...] = ()
    """The place in the service of the activity that calls it, whose inputs also override those of the template (see
    ``work.activities``); () for none."""

    scope: int = -1
    """An index into ``Plan.scopes``, -1 for none."""

    version: str = ""
    """The version of the interpreter that a script asks for, "" for any."""

    form: str = ""
    """The form of the service that declares it (``work.records.Form``), "" for that of the job itself."""

    in_doubt: str = ""
    """What is assumed of it where the machine is silent on which it ran when its job was interrupted:
    "assume-ended" for that it has ended, "" for nothing."""

    within: float | None = None
    """For a wait until an instance is ready, the seconds for which it is asked again; None for all others."""

    @property
    def name(self) -> str:
        """``Interface.operation``, the key of its outputs and in the records of pairs."""
        return _named(self.interface, self.operation)

    @property
    def key(self) -> str:
        """Its key in the record of an instance."""
        return f"{self.owner}/{self.name}" if self.side else self.name


class Scope(msgspec.Struct, frozen=True, omit_defaults=True):
    """The inputs of a workflow of the template: ``get_input`` finds them before those of the topology in what the
    workflow calls (§7.3.6).

    If the workflow is inlined, ``activity`` is the place of the activity that does so, whose inputs are evaluated among
    those of the scope ``outer``, for the instance ``on``, or for a substituted node ("" for neither). If an operation
    of such a node calls it, the inputs are those of the operation.
    """

    workflow: str
    inputs: dict[str, object] = {}
    activity: tuple[str, ...] = ()
    outer: int = -1
    on: str = ""


class StepFlow(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a step runs, and what its failure means for others."""

    condition: StepCondition = StepCondition.ALWAYS
    """What has to hold at its start; otherwise it is not needed, and counts as done."""

    gate: Gate = Gate.NONE
    """How it depends on the ends of the steps before it."""

    after_failure: bool = False
    """It runs when the steps before it have ended, whether or not they have succeeded."""

    barrier: bool = False
    """Only for a join: nothing after it starts before everything before it has ended, nor if a required step before it
    has failed or was not run."""

    optional: bool = False
    """The job can do without it: if it fails, the job is degraded at worst."""

    non_blocking: bool = False
    """What depends on it goes on if it has failed."""


NORMAL = StepFlow()
"""It runs when all steps before it have succeeded, and the job needs it."""


class StepEffect(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a step means for the record of its instance, or of its pair."""

    enter: str = ""
    """The node state that is set when it starts, "" for none."""

    leave: str = ""
    """The node state that is set when it has succeeded, "" for none."""

    opens: bool = False
    """It is the first step of the chain of its instance."""

    closes: bool = False
    """It is the last step of that chain."""

    replaces: bool = False
    """Its instance is removed and created again: it is the last step that removes it, or the first that creates it,
    with which the instance counts as new, whatever is left of the old one; or the check that decides whether it is to
    be replaced."""

    counts: bool = False
    """It is part of the lifecycle, and counts as deployed whatever the workflow."""

    forms: bool = False
    """With its start the instance takes on the form of its call."""


NO_EFFECT = StepEffect()


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan. No two steps with the same ``instance`` run at the same time, whatever the edges and hosts,
    unless the plan overlaps."""

    id: str
    """Readable, and unique in the plan, such as ``web_1.Standard.create``."""

    action: Action = Action.CALL

    instance: str = ""
    """The instance that it belongs to, and on which its operation runs; "" for joins."""

    far: str = ""
    """The other end of an operation of a pair; the first of the other ends for one that runs once for all of them."""

    link: str = ""
    """The id of the link, for an operation of one pair."""

    call: int = -1
    """An index into ``Plan.calls``, -1 for none."""

    runs_on: str = ""
    """The id of the Compute instance where the operation runs, "" for the orchestrator; steps with the same one share
    its capacity."""

    chain: int = 0
    """The length of the longest chain of steps that depend on it, which decides what starts first."""

    reason: int = 0
    """An index into ``Plan.reasons``."""

    flow: StepFlow = NORMAL

    effect: StepEffect = NO_EFFECT

    by_hand: bool = False
    """It was done by hand, and only counts as done."""

    written: tuple[str, ...] = ()
    """The place in the service of the condition of a filter, or of the output of a workflow (see ``work.activities``),
    () for none."""

    hook: int = -1
    """An index into ``Plan.hooks``, or, of a step that undoes, into ``Plan.undone``; -1 for none."""


class DifferenceKind(StrEnum):
    """What a difference is about, if something else depends on that."""

    OTHER = ""
    PROPERTY = "property"

    INPUT = "input"
    """An input of an operation."""

    REQUEST = "request"
    """Nothing differs: a replacement is asked for."""

    UNKNOWN = "unknown"
    """An operation was carried out in a form of which nothing is known any more."""

    NOT_COUNTED = "not counted"
    """An operation was rolled back, and does not count as carried out."""


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """One difference between what was carried out and what is wanted: ``what``, from what to what (None if there was,
    or will be, none), as it may be shown; ``declared`` is its place, ``file:line:column``. ``about`` tells kinds apart,
    and ``name`` is that of an input."""

    what: str
    before: object = None
    after: object = None
    declared: str = ""
    about: DifferenceKind = DifferenceKind.OTHER
    name: str = ""


class ChangeKind(StrEnum):
    """What a deployment or an upgrade means for an instance, in increasing order: left alone; only its record is
    updated; its pairs are linked or unlinked; stopped and started; stopped, configured and started; changed by its own
    update operation; removed and created again. Or it is one more, or one less, of an existing node, of a new node, or
    of one that is no longer in the template."""

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
    """Why something happens to an instance, if something else depends on that."""

    NONE = ""
    """Nothing does; ``Change.reason`` has the words."""

    TO_HEAL = "to heal"
    """It was asked to be healed."""

    PROTECTED = "protected"
    """It is kept because it is protected."""

    UNMANAGED = "unmanaged"
    """It is kept because this ensemble has not created it."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the plan means for one instance: ``+`` created, ``~`` continued or changed, ``-/+`` replaced, ``-`` removed,
    ``=`` adopted as it is, ``?`` checked, and repaired if it is not ok; and why. ``declared`` is the place of its node.
    ``differences`` are what has changed, and ``kind`` is what follows from them, "" if nothing has."""

    symbol: str
    instance: str
    reason: str
    declared: str = ""
    differences: tuple[Difference, ...] = ()
    kind: str = ""
    cause: ChangeCause = ChangeCause.NONE


class Outage(msgspec.Struct, frozen=True):
    """A node of which all ``instances`` that are up are down at one time while the plan is carried out, and why."""

    node: str
    instances: int
    reason: str


class KeptCount(msgspec.Struct, frozen=True):
    """A number of instances that was set by `scale`: it is valid as long as the template asks for what it asked for
    then, ``over``. ``job`` has set it, "" for the one that the plan is for."""

    count: int
    over: int
    job: str = ""


class InstanceCounts(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many instances there are to be, by node."""

    wanted: dict[str, int] = {}

    origins: dict[str, str] = {}
    """Where the wanted number comes from, unless it is the usual place."""

    kept: dict[str, KeptCount] | None = None
    """The numbers that later plans are to keep, None if the plan does not change them."""


class PlannedRecords(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is recorded of instances besides what steps change, by their ids."""

    new: tuple[Instance, ...] = ()
    """The instances to record before the first step runs."""

    absent: tuple[Instance, ...] = ()
    """The records of instances that were found to be absent, and are new here: if the job does not begin to create one,
    its record is restored."""

    older: dict[str, str] = {}
    """The instances that the plan brings into another form, each with its present one until a step that ``forms`` it
    starts."""

    adopted: dict[str, dict[str, Applied]] = {}
    """What ``Action.ADOPT`` steps adopt, by instance or pair: the operations that count as carried out as they are
    wanted now; those without a digest are no longer wanted, and do not count."""

    moved: dict[str, str] = {}
    """The instances that are created again on another host, each with that host, "" for none: the first step that
    creates one again changes its record."""

    observed: dict[str, str] = {}
    """Digests of the inputs of operations when the plan was made, by instance (``IF_OTHER_INPUTS``)."""


class PlanSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is said of a plan before it is carried out, besides its changes."""

    warnings: tuple[str, ...] = ()

    kept: tuple[Change, ...] = ()
    """What stays although everything else is removed, and why."""

    drifted: tuple[str, ...] = ()
    """The instances to be removed that somebody else has changed since they were created."""

    outages: tuple[Outage, ...] = ()
    """The nodes of which nothing is up for a while although instances were up before, and will be again."""

    losing: tuple[str, ...] = ()
    """The instances whose data are lost."""

    lost_if: dict[str, str] = {}
    """The condition under which these are lost, unless it is certain."""

    makers: dict[str, str] = {}
    """The providers of nodes whose instances are created elsewhere."""

    is_part: bool = False
    """It is about a part of the service, and its success makes no revision."""

    left_out: tuple[Change, ...] = ()
    """What a plan for everything would do besides, as far as that is known."""


class Plan(msgspec.Struct, frozen=True):
    """Everything a job needs to decide what to do."""

    workflow: str

    steps: tuple[Step, ...]
    """In an order that satisfies all edges."""

    edges: tuple[tuple[int, int, int], ...]
    """(before, after, reason): two indices into ``steps``, and one into ``reasons``."""

    calls: tuple[OperationCall, ...]

    reasons: tuple[str, ...]

    changes: tuple[Change, ...] = ()
    """What the plan means for each instance."""

    capacity: dict[str, int] = {}
    """The number of operations that may run at one time on a Compute instance; if it is not named, the job decides."""

    scopes: tuple[Scope, ...] = ()
    """Those of the calls."""

    hooks: tuple[Hook, ...] = ()
    """The lifecycle steps that it carries out."""

    undone: tuple[DoneHook, ...] = ()
    """The lifecycle steps of earlier jobs that it undoes."""

    overlaps: bool = False
    """Its steps may run at the same time on one instance and one host."""

    halts: bool = False
    """After a failure nothing starts except what handles it (``Gate.FAILED``), and what follows that."""

    counts: InstanceCounts = InstanceCounts()

    records: PlannedRecords = PlannedRecords()

    summary: PlanSummary = PlanSummary()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.steps

    def made_again(self) -> frozenset[str]:
        """The instances that are replaced, or only created again where they are gone already."""
        return frozenset(step.instance for step in self.steps if step.effect.replaces)
