"""Workflows of a blueprint (section 10): those of the product are the program's own; scripts of others are listed, and
not run."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.implementations import OF_PROGRAM, Found, Implementations, Runs
from ordito.lowering.cloudify.parameters import ParametersOf
from ordito.lowering.cloudify.values import is_call
from ordito.lowering.making import text
from ordito.syntax import entities
from ordito.syntax.cloudify.policies import AvailabilityRules, CloudifyWorkflow
from ordito.syntax.cloudify.yaml_values import truth
from ordito.syntax.workflows import Workflow

ACTIVE = ("all", "partial", "none")
"""How many instances of nodes may have to be active."""
SCRIPT = "cloudify.artifacts.WorkflowScript"


def workflows_of(
    written: Mapping[str, CloudifyWorkflow],
    implementations: Implementations,
    parameters: ParametersOf,
    diagnostics: Diagnostics,
) -> dict[str, Workflow]:
    """The workflows that are not the program's own; what is wrong with any of them is reported."""
    made: dict[str, Workflow] = {}
    for name, item in written.items():
        found = implementations.of(item.mapping)
        inputs = parameters.inputs(item.parameters or {})
        if item.availability_rules is not None:
            _check_rules(item.availability_rules, diagnostics)
        if found.runs in (Runs.NOTHING, Runs.UNKNOWN) or found.plugin in OF_PROGRAM:
            continue
        diagnostics.note(
            "unsupported-plugin-operation",
            f'workflow "{item.name}" is not run here: workflow scripts are not run',
            item.mapping.span,
        )
        made[name] = Workflow(
            at=item.at,
            key=item.key,
            inputs=inputs or None,
            implementation=_implementation(item, found, implementations),
        )
    return made


def _implementation(item: CloudifyWorkflow, found: Found, known: Implementations) -> entities.Implementation:
    at = item.mapping
    file = at if found.runs is Runs.SCRIPT else text(known.main, at)
    artifact = entities.ArtifactDefinition(at=at, type=text(SCRIPT, at), file=file)
    return entities.Implementation(at=at, primary=artifact)


def _check_rules(rules: AvailabilityRules, diagnostics: Diagnostics) -> None:
    for state in rules.node_instances_active or ():
        if state.text not in ACTIVE:
            diagnostics.unknown("bad-value", "state of instances", state.text, state.span, ACTIVE)
    if rules.available is not None and truth(rules.available) is None and not is_call(rules.available):
        diagnostics.error("bad-value", '"available" must be true, false or a function', rules.available.span)
