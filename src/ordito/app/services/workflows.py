"""The workflows of a template: their list, those that replace generated ones, and their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import GatheredInputs, read_given
from ordito.app.requests import GivenInputs
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.suggest import nearest
from ordito.model.imperative import Workflow
from ordito.model.inputs import bind_inputs
from ordito.model.service import Service
from ordito.planning.options import PlanOptions, WrittenWorkflow
from ordito.work.workflows import ALIASES, WORKFLOWS

OVERRIDES: Mapping[str, tuple[str, ...]] = {name: (name, alias) for alias, name in ALIASES.items()}
"""The generated workflows, and the names of workflows that replace them (§7.1)."""


MADE: Mapping[str, str] = {workflow.name: workflow.summary for workflow in WORKFLOWS.values() if workflow.summary}
"""The workflows that are generated for every service, each with a command of its own."""


def overriding(service: Service, workflow: str) -> Workflow | None:
    """The workflow of the template that replaces a generated one; None for none."""
    return next((service.workflows[n] for n in OVERRIDES.get(workflow, ()) if n in service.workflows), None)


def workflow_named(service: Service, name: str) -> Workflow:
    """A workflow of the template. Raises ``Refused`` if there is none with this name."""
    if name in service.workflows:
        return service.workflows[name]
    made = ALIASES.get(name, name)
    if made in MADE:
        raise Refused(
            "unknown-workflow",
            f'"{name}" is generated for every service, and the deployed template has no workflow of that name',
            next_words=(made, "--help"),
            purpose="it is a command of its own",
        )
    near = nearest(name, service.workflows)
    named = ", ".join(service.workflows)
    hint = f'did you mean "{near[0]}"?' if near else f"there are: {named}" if named else "the template has none"
    raise Refused(
        "unknown-workflow",
        f'the deployed service has no workflow "{name}"',
        hint,
        next_words=("workflow", "list"),
        purpose="see all of them",
    )


def given_values(given: GivenInputs) -> dict[str, object]:
    """The values that a command gives. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    values = read_given(given, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return values


def bound_inputs(workflow: Workflow, values: Mapping[str, object], service: Service) -> dict[str, object]:
    """The inputs of a workflow, checked against types and constraints, with defaults, sensitive ones wrapped. Raises
    ``InvalidDocument``."""
    diagnostics = Diagnostics()
    takes = Service(workflow.name, "", (), workflow.inputs, {}, {}, {}, {}, service.data_types)
    bound = bind_inputs(takes, values, diagnostics, whose=f'workflow "{workflow.name}"')
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return dict(bound)


def without_own(gathered: GatheredInputs, service: Service) -> GatheredInputs:
    """The given inputs of the topology, without those that only its deploying workflow declares."""
    found = overriding(service, "deploy")
    own = set(found.inputs) - set(service.inputs) if found is not None else set()
    if own.isdisjoint(gathered.asked):
        return gathered
    values = {name: value for name, value in gathered.values.items() if name not in own}
    asked = {name: value for name, value in gathered.asked.items() if name not in own}
    return msgspec.structs.replace(gathered, values=values, asked=asked)


def in_place(service: Service, options: PlanOptions, workflow: str, values: Mapping[str, object]) -> PlanOptions:
    """The options for planning if the template has a workflow that replaces a generated one; of ``values``, those that
    it declares are used. Raises ``InvalidDocument``."""
    found = overriding(service, workflow)
    if found is None:
        return options
    own = {name: value for name, value in values.items() if name in found.inputs}
    return replace(options, written=WrittenWorkflow(found.name, bound_inputs(found, own, service)))
