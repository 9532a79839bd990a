"""The lifecycle table: which operations a declarative workflow calls, where, and in which order (§5.8.4, §5.8.5, §7.2).

A row says that an operation of an interface type is called between two points of an instance's chain; the points are
the node states that the chain passes through and other rows. A row applies wherever a node or relationship type has the
interface, so another vocabulary only needs more rows: those of TOSCA and those of Cloudify are in one table, and where
both implement an operation at one place, TOSCA's comes first.

What an operation does to an instance or a pair follows from its place in the table: which ones create, start, stop and
remove, which link and unlink, and which undo others. The sets at the end are derived from it, and hold names of
operations, since records keep operations by their names.

| side | per | where the operation runs | how often |
|---|---|---|---|
| node | instance | the instance itself | once |
| source, target | near | the instance at that side of a relationship | once per relationship |
| source, target | pair | the instance at that side, in the chain of the source | once per pair of instances |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import pairwise

import msgspec

from ordito.instances.states import (
    CONFIGURED,
    CONFIGURING,
    CREATED,
    CREATING,
    DELETED,
    DELETING,
    STARTED,
    STARTING,
    STOPPING,
    TRANSITIONAL,
)
from ordito.model.deploying import DEPLOY, DEPLOY_ON_HOST, UNDEPLOY, UNDEPLOY_FROM_HOST
from ordito.model.service import (
    ARTIFACT,
    CONFIGURE,
    HOST_STATE,
    LIFECYCLE,
    MAINTAIN,
    MONITORING,
    MONITORING_AGENT,
    RELATIONSHIP_LIFECYCLE,
    STANDARD,
)

DELEGATE = "delegate"
"""The interface name of operations that are done by a provider, or by the connection to a host."""

PROVIDE, UNPROVIDE = "deploy", "undeploy"
"""The operations of ``delegate`` with which a provider makes an instance and removes it."""

LIFECYCLE_TYPES = frozenset({STANDARD, LIFECYCLE})
"""The interface types whose operations create and remove a node."""


AROUND = frozenset({"precreate", "poststart", "prestop", "postdelete"})
"""Operations of Cloudify's lifecycle that come before or after those that make, start, stop and remove a node."""


class Side(StrEnum):
    """Whether an operation is declared on a node, or on a relationship and then at which side it runs."""

    NODE = ""
    SOURCE = "source"
    TARGET = "target"


class Per(StrEnum):
    """How often an operation is called."""

    INSTANCE = "instance"
    NEAR = "near"
    PAIR = "pair"


class LifecycleRow(msgspec.Struct, frozen=True):
    """One operation in the table. The operations of ``delegate`` are not operations of a template: a provider does
    them, or the connection to a host."""

    interface: str
    """The interface type."""
    operation: str
    side: Side
    per: Per
    after: str = ""
    """A node state, or the name of a row of the same chain, "" for none; ``before`` likewise."""
    before: str = ""
    always: bool = False
    """Whether the step exists even where the operation has no implementation."""
    undoes: tuple[str, ...] = ()
    """Operations of the same interface and side that this one undoes, and that undo this one."""
    if_begun: bool = False
    """Whether it is called only where an operation that it undoes was started, if that one is implemented."""
    begins: bool = False
    """Whether a pair must be unlinked once this operation was started for it."""
    of_hosts: bool = False
    """Whether it is only for nodes derived from Compute."""

    @property
    def name(self) -> str:
        """The name of the row in the table: ``Standard.create``, ``relationship_lifecycle.establish@target``."""
        end = f"@{self.side}" if self.interface == RELATIONSHIP_LIFECYCLE else ""
        return f"{self.interface.rpartition('.')[2]}.{self.operation}{end}"

    @property
    def is_delegated(self) -> bool:
        """Whether a provider that makes a node, or removes it, does this, too."""
        return self.interface in LIFECYCLE_TYPES and self.operation not in AROUND


class Stage(msgspec.Struct, frozen=True):
    """A part of a chain: the state during it and the state after it."""

    enter: str
    leave: str


class PlacedRow(msgspec.Struct, frozen=True):
    """A row at its place in the order."""

    row: LifecycleRow
    stage: Stage | None
    """The stage that it belongs to, None where it changes no state."""
    reached: str = ""
    """The last state that the chain has reached before it, "" for none."""


def in_order(states: tuple[str, ...], rows: tuple[LifecycleRow, ...]) -> tuple[PlacedRow, ...]:
    """The rows in an order that respects their points; otherwise they keep the order of the table."""
    named = {r.name: r for r in rows}
    waits: dict[str, set[str]] = {p: set() for p in (*states, *named)}
    for before, after in pairwise(states):
        waits[after].add(before)
    for row in rows:
        if row.after:
            waits[row.name].add(row.after)
        if row.before:
            waits[row.before].add(row.name)
    placed: list[PlacedRow] = []
    stage: Stage | None = None
    reached = ""
    while waits:
        # Operations before states, so that a stage ends only when nothing belongs to it any more.
        free = [p for p in waits if not waits[p]]
        point = next((p for p in free if p in named), free[0])
        del waits[point]
        for others in waits.values():
            others.discard(point)
        if point in named:
            placed.append(PlacedRow(named[point], stage, reached))
            continue
        reached = point
        stage = Stage(point, states[states.index(point) + 1]) if point in TRANSITIONAL else None
    return tuple(placed)


ESTABLISHED = "relationship_lifecycle.establish@target"
AGENT = "monitoring_agent.start"
POSTSTART = "lifecycle.poststart"
LINKED = ("preconfigure", "postconfigure", "establish")


def _install(agents: str, links: str, watching: str) -> tuple[PlacedRow, ...]:
    """The table of the installation: what steps 7, 8 and 9 come after."""
    return in_order(
        (CREATING, CREATED, CONFIGURING, CONFIGURED, STARTING, STARTED),
        (
            LifecycleRow(ARTIFACT, DEPLOY, Side.NODE, Per.INSTANCE, CREATING, "Standard.create"),
            LifecycleRow(STANDARD, "create", Side.NODE, Per.INSTANCE, CREATING, CREATED, always=True),
            LifecycleRow(LIFECYCLE, "precreate", Side.NODE, Per.INSTANCE, CREATING, "Standard.create"),
            LifecycleRow(LIFECYCLE, "create", Side.NODE, Per.INSTANCE, "Standard.create", CREATED),
            LifecycleRow(
                RELATIONSHIP_LIFECYCLE, "preconfigure", Side.SOURCE, Per.PAIR, CREATED, CONFIGURING, begins=True
            ),
            LifecycleRow(
                RELATIONSHIP_LIFECYCLE,
                "preconfigure",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.preconfigure@source",
                CONFIGURING,
                begins=True,
            ),
            LifecycleRow(
                CONFIGURE, "pre_configure_source", Side.SOURCE, Per.NEAR, CONFIGURING, "Standard.configure", begins=True
            ),
            LifecycleRow(CONFIGURE, "pre_configure_target", Side.TARGET, Per.NEAR, CONFIGURING, "Standard.configure"),
            LifecycleRow(STANDARD, "configure", Side.NODE, Per.INSTANCE, CONFIGURING, CONFIGURED, always=True),
            LifecycleRow(LIFECYCLE, "configure", Side.NODE, Per.INSTANCE, "Standard.configure", CONFIGURED),
            LifecycleRow(CONFIGURE, "post_configure_source", Side.SOURCE, Per.NEAR, "lifecycle.configure", CONFIGURED),
            LifecycleRow(CONFIGURE, "post_configure_target", Side.TARGET, Per.NEAR, "lifecycle.configure", CONFIGURED),
            LifecycleRow(RELATIONSHIP_LIFECYCLE, "postconfigure", Side.SOURCE, Per.PAIR, CONFIGURED, STARTING),
            LifecycleRow(
                RELATIONSHIP_LIFECYCLE,
                "postconfigure",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.postconfigure@source",
                STARTING,
            ),
            LifecycleRow(STANDARD, "start", Side.NODE, Per.INSTANCE, STARTING, STARTED, always=True),
            LifecycleRow(LIFECYCLE, "start", Side.NODE, Per.INSTANCE, "Standard.start", STARTED),
            LifecycleRow(DELEGATE, "reach", Side.NODE, Per.INSTANCE, agents, of_hosts=True),
            LifecycleRow(HOST_STATE, "get_state", Side.NODE, Per.INSTANCE, "delegate.reach", of_hosts=True),
            LifecycleRow(
                ARTIFACT,
                DEPLOY_ON_HOST,
                Side.NODE,
                Per.INSTANCE,
                "host.get_state",
                "monitoring_agent.install",
                of_hosts=True,
            ),
            LifecycleRow(MONITORING_AGENT, "install", Side.NODE, Per.INSTANCE, "delegate.reach", of_hosts=True),
            LifecycleRow(MONITORING_AGENT, "start", Side.NODE, Per.INSTANCE, "monitoring_agent.install", of_hosts=True),
            LifecycleRow(LIFECYCLE, "poststart", Side.NODE, Per.INSTANCE, AGENT),
            LifecycleRow(CONFIGURE, "add_target", Side.SOURCE, Per.PAIR, links, begins=True),
            LifecycleRow(CONFIGURE, "add_source", Side.TARGET, Per.PAIR, "Configure.add_target", begins=True),
            LifecycleRow(
                RELATIONSHIP_LIFECYCLE, "establish", Side.SOURCE, Per.PAIR, "Configure.add_source", begins=True
            ),
            LifecycleRow(
                RELATIONSHIP_LIFECYCLE,
                "establish",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.establish@source",
                begins=True,
            ),
            LifecycleRow(MAINTAIN, "monitor_start", Side.NODE, Per.INSTANCE, watching),
            LifecycleRow(MONITORING, "start", Side.NODE, Per.INSTANCE, "Maintain.monitor_start"),
        ),
    )


INSTALL = _install(STARTED, POSTSTART, ESTABLISHED)
"""The operations that create and start an instance, in order."""

INSTALL_REACHED_BY_LINK = _install(ESTABLISHED, STARTED, POSTSTART)
"""The same for a host that gets its address from a link: it can only be reached after it is linked."""

UNINSTALL = in_order(
    (STOPPING, CONFIGURED, DELETING, DELETED),
    (
        LifecycleRow(
            MAINTAIN, "monitor_stop", Side.NODE, Per.INSTANCE, STOPPING, undoes=("monitor_start",), if_begun=True
        ),
        LifecycleRow(
            MONITORING, "stop", Side.NODE, Per.INSTANCE, "Maintain.monitor_stop", undoes=("start",), if_begun=True
        ),
        LifecycleRow(
            LIFECYCLE,
            "prestop",
            Side.NODE,
            Per.INSTANCE,
            "monitoring.stop",
            "Standard.stop",
            undoes=("poststart",),
        ),
        LifecycleRow(
            MONITORING_AGENT,
            "stop",
            Side.NODE,
            Per.INSTANCE,
            "lifecycle.prestop",
            undoes=("start",),
            if_begun=True,
            of_hosts=True,
        ),
        LifecycleRow(
            MONITORING_AGENT,
            "uninstall",
            Side.NODE,
            Per.INSTANCE,
            "monitoring_agent.stop",
            undoes=("install",),
            if_begun=True,
            of_hosts=True,
        ),
        LifecycleRow(
            ARTIFACT,
            UNDEPLOY_FROM_HOST,
            Side.NODE,
            Per.INSTANCE,
            "monitoring_agent.uninstall",
            "Standard.stop",
            undoes=(DEPLOY_ON_HOST,),
            if_begun=True,
            of_hosts=True,
        ),
        LifecycleRow(
            CONFIGURE,
            "remove_target",
            Side.SOURCE,
            Per.PAIR,
            "monitoring_agent.uninstall",
            "Standard.stop",
            undoes=("add_target",),
        ),
        LifecycleRow(
            CONFIGURE,
            "remove_source",
            Side.TARGET,
            Per.PAIR,
            "Configure.remove_target",
            "Standard.stop",
            undoes=("add_source",),
        ),
        LifecycleRow(STANDARD, "stop", Side.NODE, Per.INSTANCE, STOPPING, CONFIGURED, always=True, undoes=("start",)),
        LifecycleRow(LIFECYCLE, "stop", Side.NODE, Per.INSTANCE, "Standard.stop", CONFIGURED, undoes=("start",)),
        LifecycleRow(RELATIONSHIP_LIFECYCLE, "unlink", Side.SOURCE, Per.PAIR, CONFIGURED, DELETING, undoes=LINKED),
        LifecycleRow(
            RELATIONSHIP_LIFECYCLE,
            "unlink",
            Side.TARGET,
            Per.PAIR,
            "relationship_lifecycle.unlink@source",
            DELETING,
            undoes=LINKED,
        ),
        LifecycleRow(STANDARD, "delete", Side.NODE, Per.INSTANCE, DELETING, DELETED, always=True, undoes=("create",)),
        LifecycleRow(LIFECYCLE, "delete", Side.NODE, Per.INSTANCE, "Standard.delete", DELETED, undoes=("create",)),
        LifecycleRow(
            LIFECYCLE, "postdelete", Side.NODE, Per.INSTANCE, "lifecycle.delete", DELETED, undoes=("precreate",)
        ),
        LifecycleRow(
            ARTIFACT,
            UNDEPLOY,
            Side.NODE,
            Per.INSTANCE,
            "lifecycle.delete",
            DELETED,
            undoes=(DEPLOY,),
            if_begun=True,
        ),
    ),
)
"""The operations that stop and remove an instance, in order."""

MAKE_STAGE = Stage(CREATING, STARTED)
REMOVE_STAGE = Stage(STOPPING, DELETED)
"""The states that an instance passes through while a provider is at work."""

START_STAGE = Stage(STARTING, STARTED)
STOP_STAGE = Stage(STOPPING, CONFIGURED)
"""The states of an instance that a provider has made, which no operation stops or starts."""


# ------------------------------------------------------------------------- what operations do, by their names

OF_LIFECYCLE = frozenset({*LIFECYCLE_TYPES, ARTIFACT})
"""The interface types of the operations without which an instance does not exist."""


def _operations(placed: Iterable[PlacedRow]) -> frozenset[str]:
    return frozenset(p.row.operation for p in placed)


def _own(table: tuple[PlacedRow, ...], enter: str = "") -> frozenset[str]:
    """The operations of the lifecycle of a node itself, in every stage or in one."""
    return _operations(p for p in table if p.row.is_delegated and p.stage is not None and enter in ("", p.stage.enter))


def _of_pairs(table: tuple[PlacedRow, ...]) -> list[PlacedRow]:
    return [p for p in table if p.row.per is Per.PAIR]


MAKES = _own(INSTALL)
"""Operations that make an instance; the last of them starts it."""

CREATES = _operations(p for p in INSTALL if p.stage is not None and p.stage.enter == CREATING)
"""Operations that create an instance, or deploy its artifacts."""

CONFIGURES = _own(INSTALL, CONFIGURING)
STARTS = _own(INSTALL, STARTING)
STOPS = _own(UNINSTALL, STOPPING)
"""Operations that configure, start and stop an instance."""

REMOVES = _operations(p for p in UNINSTALL if p.stage is not None and p.stage.leave == DELETED)
"""Operations that remove an instance, or its artifacts: never called for one that stays."""

DEPLOYS_ARTIFACT = _operations(p for p in INSTALL if p.row.interface == ARTIFACT)
UNDEPLOYS_ARTIFACT = _operations(p for p in UNINSTALL if p.row.interface == ARTIFACT)
"""Operations that deploy an artifact, and remove it."""

WATCHES = _operations(p for p in INSTALL if p.row.interface in (MAINTAIN, MONITORING))
"""Operations that begin to monitor an instance."""

LINKS = _operations(p for p in _of_pairs(INSTALL) if p.reached == STARTED)
"""Operations after which a pair is linked."""

PREPARES_LINK = _operations(p for p in _of_pairs(INSTALL) if p.reached != STARTED)
"""Operations of a pair that come before its source has started."""

UNLINKS = _operations(_of_pairs(UNINSTALL))
"""Operations after which a pair is no longer linked."""

PREPARES_SOURCE = _operations(p for p in INSTALL if p.row.per is Per.NEAR and p.row.side is Side.SOURCE)
"""Operations of a relationship that are part of making its source."""

UNDONE_BY_STOP = frozenset(o for p in _of_pairs(UNINSTALL) if p.reached == STOPPING for o in p.row.undoes)
"""The operations of a pair that no longer count as carried out once one of its ends was stopped, whether or not an
operation has undone them: they are carried out again when it is started."""

UNDONE_BY_START = _operations(
    p for p in UNINSTALL if p.reached == STOPPING and p.row.per is Per.INSTANCE and p.row.interface != ARTIFACT
)
"""Operations, in all interfaces, that no longer count as carried out once an instance was started, whichever operation
has started it."""

DELETES = _own(UNINSTALL, DELETING)
"""Operations that undo those of every interface on an instance. All other operations undo only those of their own
interface, since names such as ``start`` occur in several."""


def _taken_back() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in (p.row for p in UNINSTALL):
        for operation in row.undoes:
            found.setdefault(row.operation, set()).add(operation)
            found.setdefault(operation, set()).add(row.operation)
    # What is deployed is removed by an operation of its own.
    every = (r for r in (p.row for p in INSTALL) if r.per is not Per.PAIR and r.interface not in (ARTIFACT, DELEGATE))
    ended = {row.operation for row in every}
    for operation in DELETES:
        found[operation] |= ended
    return {operation: frozenset(names) for operation, names in found.items()}


TAKES_BACK: Mapping[str, frozenset[str]] = _taken_back()
"""By the name of an operation: the operations that no longer count as carried out once it has run, even if it failed.
The names for artifacts are also those that are delegated to a provider."""


def takes_back(interface: str, operation: str, key: str) -> bool:
    """Whether an operation undoes the one that is recorded under ``key``: ``Interface.operation``, which may have the
    key of a relationship and ``/`` before it."""
    names = TAKES_BACK.get(operation)
    if not names:
        return False
    of, _, name = key.rpartition(".")
    return name in names and (operation in DELETES or of.rpartition("/")[2] == interface)
