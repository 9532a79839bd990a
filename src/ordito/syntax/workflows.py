"""Imperative workflows, as they are written (§3.6.26, §3.6.27, §3.8.7)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.activities import Activities, Activity
from ordito.syntax.conditions import Clause, Conditions
from ordito.syntax.entities import Implementation, ParameterDefinition
from ordito.syntax.grammar import Entity, Key, Reading
from ordito.syntax.shapes import Assignments, Either, Many, Metadata, Named, One, Text, Texts


class StepNames(msgspec.Struct, frozen=True):
    """A list of names of steps; a single name is accepted, too, with a warning (§7.3.1)."""

    def read(self, node: Node, what: str, reading: Reading) -> list[Scalar] | None:
        """The names, with their places."""
        if isinstance(node, Scalar):
            name = Text().read(node, what, reading)
            if name is None:
                return None
            reading.diagnostics.warning(
                "list-expected", f"{what} is a list of steps", node.span, hint=f"write [ {node.text} ]"
            )
            return [name]
        return Many(Text()).read(node, what, reading)


class Precondition(Entity, frozen=True, eq=False, kw_only=True):
    """Workflow precondition (§3.6.26)."""

    WHAT: ClassVar[str] = "precondition"
    NOTE: ClassVar[str] = 'states and attributes are tested below "condition:", as - state: [ { equal: started } ]'

    target: Annotated[Scalar, Key(Text(), required=True)]
    target_relationship: Annotated[Scalar | None, Key(Text())] = None
    condition: Annotated[Clause | None, Key(Conditions())] = None


class Step(Entity, frozen=True, eq=False, kw_only=True):
    """Workflow step (§3.6.27)."""

    WHAT: ClassVar[str] = "workflow step"

    target: Annotated[Scalar | None, Key(Text())] = None
    target_relationship: Annotated[Scalar | None, Key(Text())] = None
    operation_host: Annotated[Scalar | None, Key(Text())] = None
    filter: Annotated[Clause | None, Key(Conditions())] = None
    activities: Annotated[list[Activity] | None, Key(Many(Activities()))] = None
    on_success: Annotated[list[Scalar] | None, Key(StepNames())] = None
    on_failure: Annotated[list[Scalar] | None, Key(StepNames())] = None


class Workflow(Entity, frozen=True, eq=False, kw_only=True):
    """Imperative workflow (§3.8.7): steps, or an artifact that implements it."""

    WHAT: ClassVar[str] = "workflow"

    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    inputs: Annotated[dict[str, ParameterDefinition] | None, Key(Named(ParameterDefinition))] = None
    preconditions: Annotated[list[Precondition] | None, Key(Many(One(Precondition)))] = None
    steps: Annotated[dict[str, Step] | None, Key(Named(Step, empty=True))] = None
    implementation: Annotated[Scalar | Implementation | None, Key(Either(One(Implementation)))] = None
    outputs: Annotated[Mapping | None, Key(Assignments())] = None
