"""What a plan depends on besides the service and what exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from ordito.base.portion import Portion
from ordito.instances.records import Instance
from ordito.model.service import NodeTemplate, Service
from ordito.work.hooks import Block, DoneHook, Transition
from ordito.work.options import AUTO, EARLY, LAST, ChangeOptions
from ordito.work.plan import KeptCount
from ordito.work.workflow_progress import NOTHING_CARRIED, Carried


def _nobody(_: Sequence[str]) -> bool:
    return False


class Maker(msgspec.Struct, frozen=True):
    """What creates the instances of a node."""

    name: str = ""
    """The provider, "" for none."""

    protocol: str = ""
    """The protocol that reaches a Compute that it creates, "" if that is this machine."""

    looks: bool = False
    """It can find out the status of an instance that it has created."""

    starts: bool = False
    """It stops and starts what it has created."""


NOBODY = Maker()


def _no_maker(_: str, __: Sequence[str]) -> Maker:
    return NOBODY


def _anywhere(_: Sequence[str], __: str) -> bool:
    return True


def _no_provider(_: str, __: Sequence[str]) -> bool:
    return False


def _takes_all(_: str, __: Sequence[str], ___: Sequence[str]) -> bool:
    return True


def _nothing() -> None:
    """The last deployment if there was none."""


def _nothing_lacking(_: str, __: str) -> str:
    return ""


def _no_form(_: str) -> Former | None:
    """Finds no other form."""
    return None


class Deployed(msgspec.Struct, frozen=True):
    """What was deployed last."""

    service: Service | None = None
    """None for none that is known."""

    inputs: Mapping[str, object] = {}

    digests: Mapping[str, str] = {}
    """The content digests of its files, as in ``FileDigests``."""


class Former(msgspec.Struct, frozen=True):
    """An earlier form of the service, or the one that a rollback leads away from: instances in it are stopped and
    removed as it says."""

    service: Service

    inputs: Mapping[str, object] = {}

    digests: Mapping[str, str] = {}
    """The content digests of its files."""

    names: Mapping[str, str] = {}
    """The names of the files of its own orphans, as in ``FileDigests``."""


class Forms(msgspec.Struct, frozen=True):
    """The forms that a plan needs, by the ids of the jobs that deployed them."""

    former: Callable[[str], Former | None] = _no_form
    """Returns a form other than the service of the plan; None if its files no longer exist, and then its instances
    count as in the wanted form."""

    base: str = ""
    """The form of the instances whose record names none; "" if that is the service of the plan, or if nothing was
    deployed."""

    own: str = ""
    """The mark of the calls of the plan's own service: "" except in a rollback, which leads to an earlier form."""


class Hooking(msgspec.Struct, frozen=True):
    """Which lifecycle steps a plan has."""

    which: str = "changed"
    """``changed`` for the steps of what changes, ``all``, or ``none``."""

    transition: Transition = Transition.NONE
    """The transition of the module."""

    blocks: Mapping[str, Block] = {}
    """The block of each step of the service, by the id of the step."""

    files: Mapping[str, Mapping[str, str]] = {}
    """The digests of the files that the config of a step names, by the id of the step and the path."""

    done: tuple[DoneHook, ...] = ()
    """The steps that earlier attempts at the revision have carried out, in that order."""

    undoes: bool = False
    """It is a rollback, which undoes these steps."""

    since: str = ""
    """The first changeId of these attempts, "" if there was none: what has changed since then counts as changed by this
    plan, even if nothing is left to do for it."""

    strict: bool = False
    """A step whose rollback would pass what cannot be undone is an error."""


class RolledBack(msgspec.Struct, frozen=True):
    """The job that is to be rolled back."""

    since: str = ""
    """The first of its changeIds."""

    new: frozenset[str] = frozenset()
    """The new instances of its plan."""


NOTHING_ROLLED_BACK = RolledBack()


class OfNode(msgspec.Struct, frozen=True):
    """How an operation is run on the instances of one node."""

    interface: str
    """The symbolic name of its interface there."""

    given: Mapping[str, object] = {}
    """The inputs that are given for it."""


class OfStandIn(msgspec.Struct, frozen=True):
    """How an operation is run on a node that a topology substitutes."""

    target: str | tuple[str, str, str]
    """The workflow of that topology to which it is mapped, or the node, interface and operation."""

    given: Mapping[str, object] = {}
    """The inputs that are given for it."""


class OperationRun(msgspec.Struct, frozen=True):
    """An operation that a command asks for."""

    operation: str = ""

    nodes: Mapping[str, OfNode] = {}
    """The nodes on whose chosen instances it runs."""

    in_order: bool = False
    """An instance waits for everything that it depends on, also through instances that are not chosen."""

    stand_ins: Mapping[str, OfStandIn] = {}
    """The substituted nodes."""


NO_RUN = OperationRun()


class Goal(msgspec.Struct, frozen=True):
    """How many instances a node is to have."""

    node: str

    count: int | None = None

    delta: int | None = None
    """How many more it is to have. None for both: as many more as the increment of a scaling policy, one without a
    policy."""

    why: str = ""
    """Why this node is the one that is scaled, as the end of a sentence about it."""

    instead: str = ""
    """The command that scales the named node instead."""


class Scaling(msgspec.Struct, frozen=True):
    """What to scale."""

    goals: tuple[Goal, ...] = ()

    removed: frozenset[str] = frozenset()
    """The instances to remove, if they are named."""

    begun: tuple[str, ...] = ()
    """The instances that an earlier job has begun to create, in order; they are continued."""

    unsettled: tuple[str, ...] = ()
    """The instances that stay and for which an earlier job failed to link or unlink a pair; they are continued if what
    they require is up."""


NOT_SCALED = Scaling()


class ServicePart(msgspec.Struct, frozen=True):
    """A part of the service."""

    nodes: frozenset[str] = frozenset()
    """All instances of these nodes, new ones included."""

    instances: frozenset[str] = frozenset()
    """Instances of other nodes."""

    skip_new: bool = False
    """No instances are created of nodes without any."""

    def has(self, record: Instance) -> bool:
        """Whether an instance is part of it."""
        return record.node in self.nodes or record.id in self.instances


class Acting(msgspec.Struct, frozen=True):
    """The actions of a trigger that are planned: from ``first`` to ``last``, which is excluded."""

    policy: str = ""
    trigger: str = ""
    first: int = 0
    last: int = 0


NOT_ACTING = Acting()


class Abilities(msgspec.Struct, frozen=True):
    """What the executors and providers at hand can carry out."""

    accepts: Callable[[Sequence[str]], bool] = _nobody
    """Whether some executor processes an artifact of these types (the type and its ancestors)."""

    accepts_on: Callable[[Sequence[str], str], bool] = _anywhere
    """Whether one does so on hosts that are reached by a protocol."""

    takes: Callable[[str, Sequence[str], Sequence[str]], bool] = _takes_all
    """Whether the provider of a node template, given its name, its type and the ancestors, uses an artifact of these
    types."""

    provides: Callable[[str, Sequence[str]], bool] = _no_provider
    """Whether some provider creates a node template, given its name, its type and the ancestors."""

    maker: Callable[[str, Sequence[str]], Maker] = _no_maker
    """That provider."""

    lacking: Callable[[str, str], str] = _nothing_lacking
    """Why this machine has no interpreter for a kind of script in a version, "" if it has one."""


class FileDigests(msgspec.Struct, frozen=True):
    """The contents of the files of the service, and what makes their digests."""

    contents: Mapping[str, str] = {}
    """The content digest of each artifact file, by ``Artifact.file``."""

    names: Mapping[str, str] = {}
    """The names that files of removed nodes had when they were deployed."""

    key: Callable[[], bytes] = bytes
    """Returns the key for digests of sensitive values."""


class Orphans(msgspec.Struct, frozen=True):
    """The nodes that are no longer in the template and still have instances, and what these require although nothing of
    it exists any more: they are part of the service as they were deployed, and a deployment leaves them alone."""

    nodes: frozenset[str] = frozenset()

    kept: frozenset[str] = frozenset()
    """Those of them that are never removed."""


class Healing(msgspec.Struct, frozen=True):
    """How instances are healed."""

    reinstall: bool = False
    """They are neither checked, repaired nor restarted first."""

    scope: str = AUTO
    """How far healing goes at most."""


class DataLoss(msgspec.Struct, frozen=True):
    """What may become of instances that hold data."""

    permitted: frozenset[str] = frozenset()
    """The instances, and nodes, whose data may be lost."""

    leaves_absent: bool = False
    """What was found to be absent is not created again, since nobody can be asked about it."""


class RemovalOptions(msgspec.Struct, frozen=True):
    """What undeploying removes in addition to what it usually does."""

    protected: bool = False

    unmanaged: bool = False
    """What this ensemble has not created."""


class WrittenWorkflow(msgspec.Struct, frozen=True):
    """A workflow of the template that is planned."""

    name: str = ""
    """"" for none."""

    inputs: Mapping[str, object] = {}
    """As ``get_input`` finds them."""

    carried: Carried = NOTHING_CARRIED
    """What earlier jobs have carried out of it."""


class Turns(msgspec.Struct, frozen=True):
    """Whether changed instances go down some at a time."""

    by_itself: bool = True
    """Instances of a node take turns, even if nothing says so, if all of them would be down at once."""

    never: bool = False
    """Everything that is changed goes down before any of it comes up, in any case."""


@dataclass(frozen=True)
class PlanOptions:
    """What the caller tells planning."""

    abilities: Abilities = field(default_factory=Abilities)

    files: FileDigests = field(default_factory=FileDigests)

    forms: Forms = field(default_factory=Forms)
    """The earlier forms of the service."""

    deployed: Callable[[], Deployed | None] = _nothing
    """Returns the last deployment, None for none; it is called at most once, and only if something wanted differs from
    it."""

    orphans: Orphans = field(default_factory=Orphans)

    kept: Mapping[str, KeptCount] = field(default_factory=dict)
    """The numbers of instances that were set by scaling, by node."""

    instances: frozenset[str] | None = None
    """The instances that a workflow is about, None for all."""

    part: ServicePart | None = None
    """Which part of the service is deployed, upgraded or undeployed, None for all of it."""

    changes: ChangeOptions = field(default_factory=ChangeOptions)
    """How what runs is changed, and what becomes of nodes that are no longer in the template."""

    turns: Turns = field(default_factory=Turns)

    force: bool = False
    """Nothing is skipped because it was done before."""

    allow_large: bool = False
    """More than ``MOST_PAIRS`` link operations of one requirement are permitted."""

    data_loss: DataLoss = field(default_factory=DataLoss)

    hooking: Hooking = field(default_factory=Hooking)
    """Which lifecycle steps there are."""

    healing: Healing = field(default_factory=Healing)
    """For `heal`."""

    removal: RemovalOptions = field(default_factory=RemovalOptions)
    """For `undeploy`."""

    scaling: Scaling = NOT_SCALED
    """For `scale`."""

    run: OperationRun = NO_RUN
    """For `run`."""

    written: WrittenWorkflow = field(default_factory=WrittenWorkflow)
    """For `workflow run`, and for a workflow of the template that replaces a normative one."""

    acting: Acting = NOT_ACTING
    """The trigger whose actions are planned."""

    rolled_back: RolledBack = NOTHING_ROLLED_BACK
    """For the rollback of a job."""

    @property
    def prunes(self) -> bool:
        """Whether what is no longer in the template is removed."""
        return self.changes.prune in {LAST, EARLY}

    @property
    def pruned(self) -> frozenset[str]:
        """The nodes that are no longer in the template and whose instances are removed."""
        if not self.prunes:
            return frozenset()
        lost = self.orphans.nodes - self.orphans.kept
        return lost if self.part is None else lost & self.part.nodes

    def unavailable(self, node: NodeTemplate) -> Portion:
        """How many instances of a node may be down at one time; all of them if nothing says otherwise."""
        return node.settings.max_unavailable or self.changes.max_unavailable

    @property
    def is_partial(self) -> bool:
        """Whether a workflow is about a part of what exists, and everything else stays as it is, including its
        links."""
        return self.instances is not None or self.scaling != NOT_SCALED


MOST_PAIRS = 100_000
"""How many link operations of one requirement are planned without permission."""
