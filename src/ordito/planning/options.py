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
    """Who makes a node."""

    name: str = ""
    """The provider, "" for none."""

    protocol: str = ""
    """The protocol that reaches a Compute that it makes, "" where that is this machine."""

    looks: bool = False
    """It can find out how an instance is that it has made."""

    starts: bool = False
    """It stops and starts what it has made."""


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
    """What was deployed last, where nothing ever was."""


def _nothing_lacking(_: str, __: str) -> str:
    return ""


def _no_form(_: str) -> Former | None:
    """Nothing is known of any other form."""
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
    """What the files of its own orphans were called, as in ``FileDigests``."""


class Forms(msgspec.Struct, frozen=True):
    """The forms that a plan has to do with, by the ids of the jobs that deployed them."""

    former: Callable[[str], Former | None] = _no_form
    """Gives a form that is not the service of the plan; None where its files no longer exist, and then instances in it
    are taken to be in the wanted one."""

    base: str = ""
    """The form of the instances whose record names none; "" where that is the service of the plan, or where nothing was
    deployed."""

    own: str = ""
    """What calls of the plan's own service are marked with: "" except in a rollback, which leads to an earlier form."""


class Hooking(msgspec.Struct, frozen=True):
    """Which lifecycle steps a plan has."""

    which: str = "changed"
    """The steps of what changes, of ``all``, or ``none``."""

    transition: Transition = Transition.NONE
    """The transition of the module."""

    blocks: Mapping[str, Block] = {}
    """The block of each step of the service, by the id of the step."""

    files: Mapping[str, Mapping[str, str]] = {}
    """The digests of the files that the config of a step names, by the id of the step and the path."""

    done: tuple[DoneHook, ...] = ()
    """The steps that earlier attempts at the revision have carried out, in that order."""

    undoes: bool = False
    """It is a rollback, which undoes these."""

    since: str = ""
    """The first changeId of these attempts, "" where there was none: what has changed since then counts as changed by
    this plan, even if nothing is left to do for it."""

    strict: bool = False
    """A step that would roll back over what cannot be undone is an error."""


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
    """An operation that somebody asked for."""

    operation: str = ""

    nodes: Mapping[str, OfNode] = {}
    """The nodes on whose chosen instances it runs."""

    in_order: bool = False
    """An instance waits for all that it depends on, also over instances that are not chosen."""

    stand_ins: Mapping[str, OfStandIn] = {}
    """The nodes that topologies substitute."""


NO_RUN = OperationRun()


class Goal(msgspec.Struct, frozen=True):
    """How many instances a node is to have."""

    node: str

    count: int | None = None

    delta: int | None = None
    """So many more than it has. None for both: as many more as a scaling policy adds at one time, one without a
    policy."""

    why: str = ""
    """Why this node is the one that is scaled, as the end of a sentence about it."""

    instead: str = ""
    """The command that scales the node that was named."""


class Scaling(msgspec.Struct, frozen=True):
    """What to scale."""

    goals: tuple[Goal, ...] = ()

    removed: frozenset[str] = frozenset()
    """The instances that are to leave, where they are named."""

    begun: tuple[str, ...] = ()
    """The instances that an earlier job has begun to make, in order; they are continued."""

    unsettled: tuple[str, ...] = ()
    """The instances that stay and of which an earlier job failed to make or undo a pair; they are continued where what
    they require is up."""


NOT_SCALED = Scaling()


class ServicePart(msgspec.Struct, frozen=True):
    """A part of the service."""

    nodes: frozenset[str] = frozenset()
    """All instances of these nodes, new ones included."""

    instances: frozenset[str] = frozenset()
    """Instances of other nodes."""

    skip_new: bool = False
    """No instance is made of a node of which there is nothing yet."""

    def has(self, record: Instance) -> bool:
        """Whether an instance is part of it."""
        return record.node in self.nodes or record.id in self.instances


class Acting(msgspec.Struct, frozen=True):
    """Those actions of a trigger that are planned: from ``first`` on, up to ``last``."""

    policy: str = ""
    trigger: str = ""
    first: int = 0
    last: int = 0


NOT_ACTING = Acting()


class Abilities(msgspec.Struct, frozen=True):
    """What can be carried out with the executors and the providers that there are."""

    accepts: Callable[[Sequence[str]], bool] = _nobody
    """Whether some executor processes an artifact of these types (the type and its ancestors)."""

    accepts_on: Callable[[Sequence[str], str], bool] = _anywhere
    """Whether one does so on hosts that are reached by a protocol."""

    takes: Callable[[str, Sequence[str], Sequence[str]], bool] = _takes_all
    """Whether the provider of a node template, given its name, its type and the ancestors, does something with an
    artifact of such and such types."""

    provides: Callable[[str, Sequence[str]], bool] = _no_provider
    """Whether some provider makes a node template, given its name, its type and the ancestors."""

    maker: Callable[[str, Sequence[str]], Maker] = _no_maker
    """Who that is."""

    lacking: Callable[[str, str], str] = _nothing_lacking
    """Why this machine has no interpreter for a kind of script in a version, "" where it has."""


class FileDigests(msgspec.Struct, frozen=True):
    """The contents of the files of the service, and by which digests are made."""

    contents: Mapping[str, str] = {}
    """The content digest of each artifact file, by ``Artifact.file``."""

    names: Mapping[str, str] = {}
    """What files of what the template has lost were called when it was deployed."""

    key: Callable[[], bytes] = bytes
    """Gives the key of digests of sensitive values."""


class Orphans(msgspec.Struct, frozen=True):
    """The nodes that the template has lost and whose instances exist, and what these require and of which nothing
    exists any more: they are part of the service as they were deployed, and deploying leaves them alone."""

    nodes: frozenset[str] = frozenset()

    kept: frozenset[str] = frozenset()
    """Those of them that are not removed in any case."""


class Healing(msgspec.Struct, frozen=True):
    """How instances are healed."""

    reinstall: bool = False
    """They are neither checked, repaired nor restarted first."""

    scope: str = AUTO
    """How far healing goes at most."""


class DataLoss(msgspec.Struct, frozen=True):
    """What becomes of instances that keep data."""

    permitted: frozenset[str] = frozenset()
    """The instances, and nodes, whose data may be lost."""

    leaves_absent: bool = False
    """What was found to be absent is not made once more, and nobody is asked about it."""


class RemovalOptions(msgspec.Struct, frozen=True):
    """What undeploying includes that it keeps else."""

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
    """What an earlier job has carried out of it."""


class Turns(msgspec.Struct, frozen=True):
    """Whether what is changed goes down some at a time."""

    by_itself: bool = True
    """Nodes of which all instances would be down at once take turns, though nobody has said so."""

    never: bool = False
    """All that is changed goes down before any of it comes up, in any case."""


@dataclass(frozen=True)
class PlanOptions:
    """What planning is told by its caller."""

    abilities: Abilities = field(default_factory=Abilities)

    files: FileDigests = field(default_factory=FileDigests)

    forms: Forms = field(default_factory=Forms)
    """The earlier forms of the service."""

    deployed: Callable[[], Deployed | None] = _nothing
    """Gives what was deployed last, None for nothing; it is asked at most once, and only where what is wanted differs
    from that."""

    orphans: Orphans = field(default_factory=Orphans)

    kept: Mapping[str, KeptCount] = field(default_factory=dict)
    """The numbers of instances that were set by scaling, by node."""

    instances: frozenset[str] | None = None
    """Those that a workflow is about which is not about all, None for all."""

    part: ServicePart | None = None
    """What of the service is deployed, upgraded or undeployed, None for all of it."""

    changes: ChangeOptions = field(default_factory=ChangeOptions)
    """How what runs is changed, with what becomes of what the template has lost said."""

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
    """For `workflow run`, and for a workflow that the template has in the place of one that is made."""

    acting: Acting = NOT_ACTING
    """The trigger whose actions are planned."""

    rolled_back: RolledBack = NOTHING_ROLLED_BACK
    """For the rollback of a job."""

    @property
    def prunes(self) -> bool:
        """Whether what the template has lost is removed."""
        return self.changes.prune in {LAST, EARLY}

    @property
    def pruned(self) -> frozenset[str]:
        """The nodes that the template has lost and whose instances are removed."""
        if not self.prunes:
            return frozenset()
        lost = self.orphans.nodes - self.orphans.kept
        return lost if self.part is None else lost & self.part.nodes

    def unavailable(self, node: NodeTemplate) -> Portion:
        """How many instances of a node may be down at one time; all of them where nothing is said."""
        return node.settings.max_unavailable or self.changes.max_unavailable

    @property
    def is_partial(self) -> bool:
        """Whether a workflow is about a part of what exists, and all else stays as it is, its links too."""
        return self.instances is not None or self.scaling != NOT_SCALED


MOST_PAIRS = 100_000
"""So many link operations of one requirement are planned without being asked for."""
