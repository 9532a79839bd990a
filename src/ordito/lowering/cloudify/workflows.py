"""The workflows that a blueprint defines (section 10): those of the product are the program's own, and scripts of
others are not run; what is wrong with one is found all the same."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.implementations import OF_PROGRAM, Implementations
from ordito.lowering.cloudify.parameters import ParametersOf
from ordito.lowering.cloudify.values import is_call
from ordito.syntax.cloudify.policies import Workflow
from ordito.syntax.cloudify.yaml_values import truth

ACTIVE = ("all", "partial", "none")
"""How many instances of nodes may have to be active."""


def check_workflows(
    written: Mapping[str, Workflow],
    implementations: Implementations,
    parameters: ParametersOf,
    diagnostics: Diagnostics,
) -> None:
    """Report what is wrong with workflows, and warn of those that nothing here runs."""
    for item in written.values():
        found = implementations.of(item.mapping)
        parameters.inputs(item.parameters or {})
        rules = item.availability_rules
        if rules is not None:
            for state in rules.node_instances_active or ():
                if state.text not in ACTIVE:
                    diagnostics.unknown("bad-value", "state of instances", state.text, state.span, ACTIVE)
            if rules.available is not None and truth(rules.available) is None and not is_call(rules.available):
                diagnostics.error("bad-value", '"available" must be true, false or a function', rules.available.span)
        if found.plugin and found.plugin not in OF_PROGRAM:
            diagnostics.note(
                "unsupported-plugin-operation",
                f'workflow "{item.name}" is not run here: workflow scripts are not run',
                item.mapping.span,
            )
