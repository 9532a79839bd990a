"""Policies and their triggers, as they are written (§3.6.21, §3.6.22, §3.8.6)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.activities import Activities, Activity
from ordito.syntax.conditions import Clause, Conditions
from ordito.syntax.grammar import Entity, Key, Reading, read_entity
from ordito.syntax.shapes import Assignments, Many, Metadata, Named, NamedList, One, Raw, Text, Texts, Whole


class EventFilter(Entity, frozen=True, eq=False, kw_only=True):
    """Event filter (§3.6.21): the node of an event, or what one of its requirements or capabilities leads to."""

    WHAT: ClassVar[str] = "event filter"

    node: Annotated[Scalar, Key(Text(), required=True)]
    requirement: Annotated[Scalar | None, Key(Text())] = None
    capability: Annotated[Scalar | None, Key(Text())] = None


class TriggerCondition(Entity, frozen=True, eq=False, kw_only=True):
    """The extended form of a trigger's condition (§3.6.22.2)."""

    WHAT: ClassVar[str] = "condition of a trigger"

    constraint: Annotated[Clause | None, Key(Conditions())] = None
    period: Annotated[Scalar | None, Key(Text())] = None
    evaluations: Annotated[int | None, Key(Whole())] = None
    method: Annotated[Scalar | None, Key(Text())] = None


EXTENDED = frozenset({"constraint", "period", "evaluations", "method"})


class TriggerConditions(msgspec.Struct, frozen=True):
    """A trigger's condition: the extended form, or the condition alone."""

    def read(self, node: Node, what: str, reading: Reading) -> TriggerCondition | None:
        """The condition in its extended form; None, with a diagnostic, where it cannot be read."""
        if isinstance(node, Mapping) and not EXTENDED.isdisjoint(node.values):
            return read_entity(TriggerCondition, node, reading)
        clause = Conditions().read(node, what, reading)
        return TriggerCondition(at=node, constraint=clause) if clause is not None else None


class Trigger(Entity, frozen=True, eq=False, kw_only=True):
    """Trigger definition (§3.6.22)."""

    WHAT: ClassVar[str] = "trigger"

    description: Annotated[Scalar | None, Key(Text())] = None
    event: Annotated[Scalar | None, Key(Text())] = None
    event_type: Annotated[Scalar | None, Key(Text(), instead="event")] = None
    schedule: Annotated[Node | None, Key(Raw())] = None
    target_filter: Annotated[EventFilter | None, Key(One(EventFilter))] = None
    condition: Annotated[TriggerCondition | None, Key(TriggerConditions())] = None
    action: Annotated[list[Activity], Key(Many(Activities()), required=True)]


class Policy(Entity, frozen=True, eq=False, kw_only=True):
    """Policy (§3.8.6)."""

    WHAT: ClassVar[str] = "policy"

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    targets: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    triggers: Annotated[dict[str, Trigger] | None, Key(Named(Trigger))] = None


class Policies(msgspec.Struct, frozen=True):
    """The policies of a topology: a list of maps with one name each; a map of names is accepted, too, with a
    warning."""

    def read(self, node: Node, what: str, reading: Reading) -> list[Policy] | None:
        """The policies that can be read, in their order."""
        if isinstance(node, Mapping):
            reading.diagnostics.warning(
                "list-expected", f"{what} is a list", node.span, hint='write a dash before each name: "- name: ..."'
            )
            read = Named(Policy).read(node, what, reading)
            return list(read.values()) if read is not None else None
        return NamedList(Policy).read(node, what, reading)
