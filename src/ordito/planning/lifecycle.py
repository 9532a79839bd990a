"""The lifecycle table: which operations a declarative workflow calls, where, and in which order (§5.8.4, §5.8.5, §7.2).

A row says that an operation of an interface type is called between two points of an instance's chain; the points are
the node states that the chain passes through and other rows. A row applies wherever a node or relationship type
carries the interface, so another vocabulary is just more rows: those of TOSCA and those of Cloudify stand in one table,
and where both implement something at one place, TOSCA's come first.

| side | per | where the operation runs | how often |
|---|---|---|---|
| node | instance | the instance itself | once |
| source, target | near | the instance at that side of a relationship | once per relationship |
| source, target | pair | the instance at that side, in the chain of the source | once per pair of instances |
"""

from __future__ import annotations

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
    LIFECYCLE,
    MAINTAIN,
    MONITORING,
    MONITORING_AGENT,
    RELATIONSHIP_LIFECYCLE,
    STANDARD,
)
from ordito.work.plan import DELEGATE


class Side(StrEnum):
    """On what an operation is declared, and at which end of it it runs."""

    NODE = ""
    SOURCE = "source"
    TARGET = "target"


class Per(StrEnum):
    """How often an operation is called."""

    INSTANCE = "instance"
    NEAR = "near"
    PAIR = "pair"


class Row(msgspec.Struct, frozen=True):
    """One operation in the table. ``after`` and ``before`` are node states or names of rows of the same chain, "" for
    none. ``always`` says that the call appears even where the operation has no implementation. ``undoes`` is the name
    of the row without which there is nothing to do: it is called only for what that one was started for, where it is
    implemented. ``of_hosts`` is for nodes derived from Compute alone. What is ``delegate.`` anything is no operation of
    a template: it is done by a provider, or by who reaches hosts."""

    interface: str
    operation: str
    side: Side
    per: Per
    after: str = ""
    before: str = ""
    always: bool = False
    undoes: str = ""
    of_hosts: bool = False

    @property
    def name(self) -> str:
        """What the row is called in the table: ``Standard.create``, ``relationship_lifecycle.establish@target``."""
        end = f"@{self.side}" if self.interface == RELATIONSHIP_LIFECYCLE else ""
        return f"{self.interface.rpartition('.')[2]}.{self.operation}{end}"

    @property
    def is_delegated(self) -> bool:
        """Whether a provider that makes a node, or removes it, does this as well."""
        return self.interface in DELEGATED


class Stage(msgspec.Struct, frozen=True):
    """A part of a chain: the state during it and the state after it."""

    enter: str
    leave: str


class Placed(msgspec.Struct, frozen=True):
    """A row at its place in the order, the stage it belongs to (None where it changes no state), and the last of the
    states that the chain has come to by then, "" for none."""

    row: Row
    stage: Stage | None
    reached: str = ""


def in_order(states: tuple[str, ...], rows: tuple[Row, ...]) -> tuple[Placed, ...]:
    """The rows in an order that respects their points; rows that nothing else orders keep the order of the table."""
    named = {r.name: r for r in rows}
    waits: dict[str, set[str]] = {p: set() for p in (*states, *named)}
    for before, after in pairwise(states):
        waits[after].add(before)
    for row in rows:
        if row.after:
            waits[row.name].add(row.after)
        if row.before:
            waits[row.before].add(row.name)
    placed: list[Placed] = []
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
            placed.append(Placed(named[point], stage, reached))
            continue
        reached = point
        stage = Stage(point, states[states.index(point) + 1]) if point in TRANSITIONAL else None
    return tuple(placed)


DELEGATED = frozenset({STANDARD, LIFECYCLE})
"""The interface types whose operations make and remove a node."""

ESTABLISHED = "relationship_lifecycle.establish@target"
AGENT = "monitoring_agent.start"


def _install(agents: str, links: str, watching: str) -> tuple[Placed, ...]:
    """The table of the installation: what steps 7, 8 and 9 come after."""
    return in_order(
        (CREATING, CREATED, CONFIGURING, CONFIGURED, STARTING, STARTED),
        (
            Row(ARTIFACT, DEPLOY, Side.NODE, Per.INSTANCE, CREATING, "Standard.create"),
            Row(STANDARD, "create", Side.NODE, Per.INSTANCE, CREATING, CREATED, always=True),
            Row(LIFECYCLE, "create", Side.NODE, Per.INSTANCE, "Standard.create", CREATED),
            Row(RELATIONSHIP_LIFECYCLE, "preconfigure", Side.SOURCE, Per.PAIR, CREATED, CONFIGURING),
            Row(
                RELATIONSHIP_LIFECYCLE,
                "preconfigure",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.preconfigure@source",
                CONFIGURING,
            ),
            Row(CONFIGURE, "pre_configure_source", Side.SOURCE, Per.NEAR, CONFIGURING, "Standard.configure"),
            Row(CONFIGURE, "pre_configure_target", Side.TARGET, Per.NEAR, CONFIGURING, "Standard.configure"),
            Row(STANDARD, "configure", Side.NODE, Per.INSTANCE, CONFIGURING, CONFIGURED, always=True),
            Row(LIFECYCLE, "configure", Side.NODE, Per.INSTANCE, "Standard.configure", CONFIGURED),
            Row(CONFIGURE, "post_configure_source", Side.SOURCE, Per.NEAR, "lifecycle.configure", CONFIGURED),
            Row(CONFIGURE, "post_configure_target", Side.TARGET, Per.NEAR, "lifecycle.configure", CONFIGURED),
            Row(RELATIONSHIP_LIFECYCLE, "postconfigure", Side.SOURCE, Per.PAIR, CONFIGURED, STARTING),
            Row(
                RELATIONSHIP_LIFECYCLE,
                "postconfigure",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.postconfigure@source",
                STARTING,
            ),
            Row(STANDARD, "start", Side.NODE, Per.INSTANCE, STARTING, STARTED, always=True),
            Row(LIFECYCLE, "start", Side.NODE, Per.INSTANCE, "Standard.start", STARTED),
            Row(DELEGATE, "reach", Side.NODE, Per.INSTANCE, agents, of_hosts=True),
            Row(
                ARTIFACT,
                DEPLOY_ON_HOST,
                Side.NODE,
                Per.INSTANCE,
                "delegate.reach",
                "monitoring_agent.install",
                of_hosts=True,
            ),
            Row(MONITORING_AGENT, "install", Side.NODE, Per.INSTANCE, "delegate.reach", of_hosts=True),
            Row(MONITORING_AGENT, "start", Side.NODE, Per.INSTANCE, "monitoring_agent.install", of_hosts=True),
            Row(CONFIGURE, "add_target", Side.SOURCE, Per.PAIR, links),
            Row(CONFIGURE, "add_source", Side.TARGET, Per.PAIR, "Configure.add_target"),
            Row(RELATIONSHIP_LIFECYCLE, "establish", Side.SOURCE, Per.PAIR, "Configure.add_source"),
            Row(
                RELATIONSHIP_LIFECYCLE,
                "establish",
                Side.TARGET,
                Per.PAIR,
                "relationship_lifecycle.establish@source",
            ),
            Row(MAINTAIN, "monitor_start", Side.NODE, Per.INSTANCE, watching),
            Row(MONITORING, "start", Side.NODE, Per.INSTANCE, "Maintain.monitor_start"),
        ),
    )


INSTALL = _install(STARTED, AGENT, ESTABLISHED)
"""How an instance comes to be, in order."""

INSTALL_REACHED_BY_LINK = _install(ESTABLISHED, STARTED, AGENT)
"""The same for a host whose address comes with a link: only when that is there can anything be done on it."""

UNINSTALL = in_order(
    (STOPPING, CONFIGURED, DELETING, DELETED),
    (
        Row(MAINTAIN, "monitor_stop", Side.NODE, Per.INSTANCE, STOPPING, undoes="Maintain.monitor_start"),
        Row(MONITORING, "stop", Side.NODE, Per.INSTANCE, "Maintain.monitor_stop", undoes="monitoring.start"),
        Row(
            MONITORING_AGENT,
            "stop",
            Side.NODE,
            Per.INSTANCE,
            "monitoring.stop",
            undoes="monitoring_agent.start",
            of_hosts=True,
        ),
        Row(
            MONITORING_AGENT,
            "uninstall",
            Side.NODE,
            Per.INSTANCE,
            "monitoring_agent.stop",
            undoes="monitoring_agent.install",
            of_hosts=True,
        ),
        Row(
            ARTIFACT,
            UNDEPLOY_FROM_HOST,
            Side.NODE,
            Per.INSTANCE,
            "monitoring_agent.uninstall",
            "Standard.stop",
            undoes=f"Artifact.{DEPLOY_ON_HOST}",
            of_hosts=True,
        ),
        Row(CONFIGURE, "remove_target", Side.SOURCE, Per.PAIR, "monitoring_agent.uninstall", "Standard.stop"),
        Row(CONFIGURE, "remove_source", Side.TARGET, Per.PAIR, "Configure.remove_target", "Standard.stop"),
        Row(STANDARD, "stop", Side.NODE, Per.INSTANCE, STOPPING, CONFIGURED, always=True),
        Row(LIFECYCLE, "stop", Side.NODE, Per.INSTANCE, "Standard.stop", CONFIGURED),
        Row(RELATIONSHIP_LIFECYCLE, "unlink", Side.SOURCE, Per.PAIR, CONFIGURED, DELETING),
        Row(
            RELATIONSHIP_LIFECYCLE,
            "unlink",
            Side.TARGET,
            Per.PAIR,
            "relationship_lifecycle.unlink@source",
            DELETING,
        ),
        Row(STANDARD, "delete", Side.NODE, Per.INSTANCE, DELETING, DELETED, always=True),
        Row(LIFECYCLE, "delete", Side.NODE, Per.INSTANCE, "Standard.delete", DELETED),
        Row(
            ARTIFACT,
            UNDEPLOY,
            Side.NODE,
            Per.INSTANCE,
            "lifecycle.delete",
            DELETED,
            undoes=f"Artifact.{DEPLOY}",
        ),
    ),
)
"""How an instance goes, in order."""

LINKED_BY = frozenset(
    {
        "Configure.pre_configure_source",
        "relationship_lifecycle.preconfigure@source",
        "relationship_lifecycle.preconfigure@target",
        "Configure.add_target",
        "Configure.add_source",
        "relationship_lifecycle.establish@source",
        "relationship_lifecycle.establish@target",
    }
)
"""The names of rows: a pair is unlinked only if one of these was started for it."""

MAKES = Stage(CREATING, STARTED)
REMOVES = Stage(STOPPING, DELETED)
"""The states that an instance passes through while a provider is at work."""

STARTS = Stage(STARTING, STARTED)
STOPS = Stage(STOPPING, CONFIGURED)
"""Those of an instance that nothing stops or starts, because a provider has made it."""
