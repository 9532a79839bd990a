"""The workflows that can be run: those generated for every service, and those of the template."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.place import Place, place_of
from ordito.app.proposals.workflow import nothing_deployed
from ordito.app.services.pinned import read_pinned
from ordito.app.services.workflows import MADE, OVERRIDES, overriding, workflow_named
from ordito.ensemble.status import deployed_form
from ordito.ensemble.store import read_ensemble
from ordito.model.imperative import Activity, Assertion, Condition, Step, Workflow
from ordito.model.schema import PropertyDefinition, Schema
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.syntax.expressions import as_written


class ListedWorkflow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A workflow in the list."""

    name: str
    command: tuple[str, ...]
    """The words that run it."""

    description: str = ""
    inputs: tuple[str, ...] = ()
    """The names of its inputs."""

    place: str = ""
    """Where it is written, "" for a generated one."""

    replaces: str = ""
    """The generated workflow that it replaces, "" for none."""


class ShownInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input of a workflow; ``default`` is as written, None if there is none, or if it must not be shown."""

    name: str
    type: str
    required: bool = False
    default: object = None
    description: str = ""
    sensitive: bool = False
    """Whether its values are never shown."""


class ShownStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step of a workflow, for people."""

    name: str
    target: str = ""
    relationship: str = ""
    operation_host: str = ""
    filter: str = ""
    activities: tuple[str, ...] = ()
    on_success: tuple[str, ...] = ()
    on_failure: tuple[str, ...] = ()


class ShownWorkflow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A workflow of the template, in full; ``implementation`` is the file that carries it out instead of steps."""

    name: str
    description: str = ""
    place: str = ""
    replaces: str = ""
    inputs: tuple[ShownInput, ...] = ()
    preconditions: tuple[str, ...] = ()
    steps: tuple[ShownStep, ...] = ()
    implementation: str = ""
    outputs: dict[str, tuple[str | int, ...]] = {}


def list_workflows(directory: str) -> tuple[ListedWorkflow, ...]:
    """The workflows of the deployed service, those of the template first. Raises ``Refused``, ``InvalidDocument`` and
    ``EnsembleError``."""
    service = _deployed(place_of(directory))
    own = tuple(_listed(service, workflow) for workflow in service.workflows.values())
    made = (
        ListedWorkflow(name, (name,), description)
        for name, description in MADE.items()
        if overriding(service, name) is None
    )
    return (*own, *made)


def show_workflow(directory: str, name: str) -> ShownWorkflow:
    """A workflow of the deployed service. Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``."""
    service = _deployed(place_of(directory))
    workflow = workflow_named(service, name)
    marks = Marks(service.data_types)
    return ShownWorkflow(
        name=name,
        description=workflow.description,
        place=str(workflow.span or ""),
        replaces=_replaced(service, workflow),
        inputs=tuple(_input(d, hidden=marks.of(d) is not None) for d in workflow.inputs.values()),
        preconditions=tuple(
            f"{_about(p.target, p.relationship)}: {said(p.condition) if p.condition else 'exists'}"
            for p in workflow.preconditions
        ),
        steps=tuple(_step(step) for step in workflow.steps.values()),
        implementation=workflow.implementation.file if workflow.implementation is not None else "",
        outputs=dict(workflow.outputs),
    )


def _deployed(place: Place) -> Service:
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with read_ensemble(place.layout.root) as ensemble:
        status = ensemble.status
    if not status.service:
        raise nothing_deployed(place.shown)
    return read_pinned(place, deployed_form(status)).service


def _listed(service: Service, workflow: Workflow) -> ListedWorkflow:
    replaces = _replaced(service, workflow)
    command = (replaces,) if replaces else ("workflow", "run", workflow.name)
    place, inputs = str(workflow.span or ""), tuple(workflow.inputs)
    return ListedWorkflow(workflow.name, command, workflow.description, inputs, place, replaces)


def _replaced(service: Service, workflow: Workflow) -> str:
    """The generated workflow that one of the template replaces, "" for none."""
    return next((made for made in OVERRIDES if overriding(service, made) is workflow), "")


def _input(definition: PropertyDefinition, *, hidden: bool) -> ShownInput:
    default = as_written(definition.default) if definition.has_default and not hidden else None
    required = definition.required and not definition.has_default
    return ShownInput(
        definition.name, _type(definition.schema), required, default, definition.description, sensitive=hidden
    )


def _type(schema: Schema) -> str:
    return f"{schema.type} of {_type(schema.entry)}" if schema.entry is not None else schema.type


def _step(step: Step) -> ShownStep:
    return ShownStep(
        step.name,
        step.target,
        step.relationship,
        step.operation_host,
        said(step.filter) if step.filter is not None else "",
        tuple(_activity(a) for a in step.activities),
        step.on_success,
        step.on_failure,
    )


def _activity(activity: Activity) -> str:
    inputs = f" with {', '.join(activity.inputs)}" if activity.inputs else ""
    return f"{activity.kind} {activity.name}{inputs}"


def _about(target: str, relationship: str) -> str:
    return f"{target}.{relationship}" if relationship else target


def said(condition: Condition) -> str:
    """A condition, for people."""
    parts = list(_parts(condition))
    if condition.operator == "not":
        return f"not ({' and '.join(parts)})"
    text = f" {condition.operator if condition.operator == 'or' else 'and'} ".join(parts)
    return f"({text})" if len(parts) > 1 and condition.operator == "or" else text


def _parts(condition: Condition) -> Iterator[str]:
    for part in condition.parts:
        yield said(part) if isinstance(part, Condition) else _asserted(part)


def _asserted(assertion: Assertion) -> str:
    clauses = (f"{c.operator} {msgspec.json.encode(c.operand, enc_hook=str).decode()}" for c in assertion.constraints)
    return f"{assertion.attribute} {' and '.join(clauses)}"
