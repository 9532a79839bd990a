"""Lifecycle steps that are written as policies: the type of the policy has the name of the block, and the targets are
the components that the step is about. Or in a file of their own, which names components and phases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.block_types import CONFIG, KnownBlocks
from ordito.model.lifecycle_steps import BUILT_IN, ON_FAILURE, PHASES, LifecycleStep
from ordito.model.policies import PolicyReader
from ordito.model.references import References
from ordito.model.service import NodeTemplate
from ordito.model.step_configs import StepConfigs, config_spans, refuse_inline, without_inline
from ordito.source import nodes
from ordito.source.nodes import Node, Scalar, is_null
from ordito.source.scalars import core_value
from ordito.syntax import policies as written
from ordito.syntax.expressions import Call, Value

WRITTEN_OUT = {"phase": "phase", "condition": "condition", "timeout": "timeout", "onFailure": "on_failure"}
"""The properties that say when and how a step runs, with the names of their fields in ``LifecycleStep``."""


def policy_steps(policies: PolicyReader, blocks: KnownBlocks, references: References) -> dict[str, LifecycleStep]:
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
                hint="remove them; what is to happen on an event belongs in a policy of another type",
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


# Lifecycle steps in a file of their own, beside a service: `module` holds those of the module by phase, `components`
# those of each component by phase. A phase is a change of the lifecycle (`install`) with lists `before` and `after`;
# each of their items says `fqn`, and may say `description`, `condition`, `timeout`, `onFailure` and `config`.

TOP = ("module", "components")
TEXTS = {
    "fqn": "fqn",
    "description": "description",
    "condition": "condition",
    "timeout": "timeout",
    "onFailure": "on_failure",
}
"""The keys of a step that are texts, with the names of their fields in ``LifecycleStep``."""
KEYS = (*TEXTS, "config")
TRANSITIONS = tuple(dict.fromkeys(phase.partition(".")[0] for phase in PHASES))
MOMENTS = ("before", "after")


def file_steps(
    root: Node,
    blocks: KnownBlocks,
    references: References,
    components: Mapping[str, NodeTemplate],
    steps: Mapping[str, LifecycleStep],
) -> dict[str, LifecycleStep]:
    """The steps of a service that are declared otherwise, ``steps``, and behind them those of a file, by their ids.
    ``components`` are the node templates."""
    found = _StepFile(blocks, references, components, steps).read(root)
    for name in found.keys() & steps.keys():
        references.diagnostics.error(
            "duplicate-name",
            f'a policy is called as the lifecycle step "{name}" of the file',
            steps[name].span,
            hint="rename the policy",
        )
    return {**steps, **found}


class _StepFile:
    """Reads such a file. ``steps`` are those that the service declares otherwise: none of the same phase of the same
    component may be declared in both places."""

    def __init__(
        self,
        blocks: KnownBlocks,
        references: References,
        components: Mapping[str, NodeTemplate],
        steps: Mapping[str, LifecycleStep],
    ) -> None:
        self._blocks = blocks
        self._configs = StepConfigs(references, references.diagnostics)
        self._components = components
        self._others: dict[tuple[str, str], LifecycleStep] = {}
        for step in steps.values():
            self._others.setdefault((step.component, step.phase), step)
        self._diagnostics = references.diagnostics

    def read(self, root: Node) -> dict[str, LifecycleStep]:
        """The steps of the file by their ids, in order; what is wrong with it is reported."""
        found: dict[str, LifecycleStep] = {}
        for key, value in self._entries(root, TOP, "a file of lifecycle steps"):
            if key.text == "module":
                self._lifecycle(value, "", "module", found)
                continue
            for component, lifecycle in self._entries(value, None, '"components"'):
                name = component.text
                if name not in self._components:
                    self._diagnostics.unknown("unknown-target", "node template", name, component.span, self._components)
                    continue
                self._lifecycle(lifecycle, name, f"components/{name}" if name == "module" else name, found)
        return found

    def _lifecycle(self, node: Node, component: str, name: str, found: dict[str, LifecycleStep]) -> None:
        for transition, phases in self._entries(node, TRANSITIONS, f'the lifecycle of "{name}"'):
            for moment, items in self._entries(phases, MOMENTS, f'"{transition.text}" of "{name}"'):
                phase = f"{transition.text}.{moment.text}"
                if not isinstance(items, nodes.Sequence):
                    self._wrong(items, f'"{phase}" of "{name}"', "a list of steps")
                    continue
                self._refuse_second(component, phase, moment.span if items.items else None)
                for index, item in enumerate(items.items):
                    step = self._step(item, f"{name}/{phase}[{index}]", component, phase)
                    if step is not None:
                        found[step.id] = step

    def _refuse_second(self, component: str, phase: str, place: Span | None) -> None:
        other = self._others.get((component, phase))
        if other is None or place is None:
            return
        whose = f'"{component}"' if component else "the module"
        self._diagnostics.error(
            "two-lifecycles",
            f"the steps of {phase} of {whose} are declared by policies as well",
            place,
            hint="declare them in one of the two places, so that their order is plain",
            related=(Related(f'the policy "{other.name}"', other.span),) if other.span is not None else (),
        )

    def _step(self, node: Node, name: str, component: str, phase: str) -> LifecycleStep | None:
        if not isinstance(node, nodes.Mapping):
            self._wrong(node, f"lifecycle step '{name}'", "a map with its fqn")
            return None
        refuse_inline(node.keys, name, self._diagnostics)
        kept = without_inline(node) or node
        given: dict[str, Node] = {}
        texts: dict[str, str] = {}
        for key, value in self._entries(kept, KEYS, f"lifecycle step '{name}'"):
            given[key.text] = value
            if key.text in TEXTS:
                texts[key.text] = self._text(value, key.text, name)
        if "fqn" not in given:
            self._diagnostics.error(
                "missing-keyname",
                f"lifecycle step '{name}' lacks \"fqn\"",
                node.span,
                hint="name the block; `ordito blocks list` shows those that there are",
            )
            return None
        fault = texts.get("onFailure", "")
        if fault and fault not in ON_FAILURE:
            self._diagnostics.unknown("bad-value", "reaction to a failure", fault, given["onFailure"].span, ON_FAILURE)
        config = given.get("config")
        whole = node.values.get("config")
        if isinstance(whole, nodes.Mapping):
            refuse_inline(whole.keys, name, self._diagnostics)
        block = self._blocks.find(texts["fqn"])
        spans = {TEXTS[key]: value.span for key, value in given.items() if key in TEXTS}
        return LifecycleStep(
            id=name,
            fqn=texts["fqn"],
            phase=phase,
            component=component,
            description=texts.get("description", ""),
            condition=texts.get("condition", ""),
            timeout=texts.get("timeout", ""),
            on_failure=fault or "abort",
            config=self._configs.read(config, block, name, node, [self._components[component]] if component else ()),
            block=block,
            name=name,
            span=node.span,
            spans={**spans, **config_spans(config)},
        )

    def _text(self, node: Node, key: str, name: str) -> str:
        """A text; what YAML takes for something else must have quotes, since that is what CUE would make of it."""
        if isinstance(node, Scalar) and (not node.plain or isinstance(core_value(node), str)):
            return node.text
        what = f"\"{key}\" of lifecycle step '{name}'"
        if isinstance(node, Scalar) and node.text:
            self._diagnostics.error("wrong-form", f"{what} must be a text", node.span, hint=f'write "{node.text}"')
        else:
            self._wrong(node, what, "a text")
        return ""

    def _entries(self, node: Node, known: Collection[str] | None, what: str) -> Iterator[tuple[Scalar, Node]]:
        """The entries of a map; those with unknown keys are reported and left out."""
        if not isinstance(node, nodes.Mapping):
            self._wrong(node, what, "a map")
            return
        for key, value in node.entries():
            if known is not None and key.text not in known:
                hint = self._diagnostics.suggestion(key.text, known)
                self._diagnostics.error("unknown-keyname", f'{what} has no "{key.text}"', key.span, hint=hint)
            else:
                yield key, value

    def _wrong(self, node: Node, what: str, expected: str) -> None:
        given = "and is empty" if nodes.is_null(node) else f"not {node.kind}"
        self._diagnostics.error("wrong-form", f"{what} must be {expected}, {given}", node.span)
