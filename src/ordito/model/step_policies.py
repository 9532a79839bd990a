"""Lifecycle steps that are written as policies: the type of the policy has the name of the block, and the targets are
the components that the step is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.model.block import BUILT_IN
from ordito.model.block_types import CONFIG, KnownBlocks
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.policies import Policies
from ordito.model.references import References
from ordito.model.service import NodeTemplate
from ordito.model.step_configs import StepConfigs, config_spans, refuse_inline, without_inline
from ordito.source import nodes
from ordito.source.nodes import is_null
from ordito.syntax import policies as written
from ordito.syntax.expressions import Call, Value

WRITTEN_OUT = {"phase": "phase", "condition": "condition", "timeout": "timeout", "onFailure": "on_failure"}
"""The properties that say when and how a step runs, and what they are called here."""


def policy_steps(policies: Policies, blocks: KnownBlocks, references: References) -> dict[str, LifecycleStep]:
    """The steps of the policies that are lifecycle steps, in the order of declaration."""
    reader = _StepPolicies(blocks, StepConfigs(references, references.diagnostics), references.diagnostics)
    found: dict[str, LifecycleStep] = {}
    for item, definition in policies.steps:
        if definition is None:
            step = reader.untyped(item)
            found[step.id] = step
            continue
        policy = policies.found[item.name]
        # Where targets are written and all of them are wrong, there is nothing that the step is about.
        components = policy.nodes if item.targets else ("",)
        about = [policies.components[name] for name in components if name]
        step = reader.read(item, definition.content.name, policy.properties, about)
        for component in components:
            name = f"{item.name}@{component}" if len(components) > 1 else item.name
            found[name] = msgspec.structs.replace(step, id=name, component=component)
    return found


class _StepPolicies:
    def __init__(self, blocks: KnownBlocks, configs: StepConfigs, diagnostics: Diagnostics) -> None:
        self._blocks = blocks
        self._configs = configs
        self._diagnostics = diagnostics

    def read(
        self, item: written.Policy, fqn: str, properties: Mapping[str, Value], about: Collection[NodeTemplate]
    ) -> LifecycleStep:
        """The step of a policy, without its component; ``properties`` are those of the policy, as read by its type,
        ``about`` the nodes that it is about."""
        self._refuse(item)
        assigned = item.properties
        config = assigned.values.get(CONFIG) if assigned is not None else None
        if isinstance(config, nodes.Mapping):
            refuse_inline(config.keys, item.name, self._diagnostics)
            config = without_inline(config)
        block = self._blocks.find(fqn)
        given = properties.get(CONFIG)
        # What the policy's own type has found to be wrong is not read once more.
        is_wrong = given is None and config is not None and not is_null(config)
        if not is_wrong and (block is None or block.origin or not isinstance(given, dict)):
            given = self._configs.read(config, block, item.name, item, about)
        known = {name: self._text(item, name, properties.get(name)) for name in WRITTEN_OUT}
        return LifecycleStep(
            id=item.name,
            fqn=fqn,
            phase=known["phase"],
            description=item.description.text if item.description is not None else "",
            condition=known["condition"],
            timeout=known["timeout"],
            on_failure=known["onFailure"] or "abort",
            config=given if isinstance(given, dict) else {},
            block=block,
            name=item.name,
            span=item.span,
            spans={**_spans(item), **config_spans(config)},
        )

    def untyped(self, item: written.Policy) -> LifecycleStep:
        """The step of a policy whose type is not there: that of a block that some catalogue has must be imported."""
        block = self._blocks.find(item.type.text)
        if block is not None:
            source = "profile:blocks" if block.origin == BUILT_IN else f"the definitions of {block.origin}"
            self._diagnostics.error(
                "unknown-type",
                f'no policy type named "{item.type.text}" is imported here',
                item.type.span,
                hint=f"there is a block of that name: import {source}",
            )
        return LifecycleStep(item.name, item.type.text, "", name=item.name, span=item.span, spans=_spans(item))

    def _refuse(self, item: written.Policy) -> None:
        """Refuse what a step must not have."""
        if isinstance(item.at, nodes.Mapping):
            refuse_inline(item.at.keys, item.name, self._diagnostics)
        if item.properties is not None:
            refuse_inline(item.properties.keys, item.name, self._diagnostics)
        if item.triggers and isinstance(item.at, nodes.Mapping):
            self._diagnostics.error(
                "step-trigger",
                f'lifecycle step "{item.name}" cannot have triggers: its phase says when it runs',
                item.at.key("triggers").span,
                hint="remove them; what is to happen on an event belongs into a policy of another type",
            )

    def _text(self, item: written.Policy, name: str, value: Value) -> str:
        """What a property says that must be written out, so that it can be checked before anything runs."""
        if isinstance(value, Call):
            self._diagnostics.error(
                "bad-value",
                f'"{name}" of lifecycle step "{item.name}" must be written out, and is a function here',
                value.span,
                hint="write the value itself",
            )
        return value if isinstance(value, str) else ""


def _spans(item: written.Policy) -> dict[str, Span]:
    """The places of what a policy says of its step, by the names of the step's fields."""
    assigned = item.properties.values if item.properties is not None else {}
    found = {field: assigned[name].span for name, field in WRITTEN_OUT.items() if name in assigned}
    found["fqn"] = item.type.span
    if item.description is not None:
        found["description"] = item.description.span
    if item.targets:
        found["component"] = item.targets[0].span
    return found
