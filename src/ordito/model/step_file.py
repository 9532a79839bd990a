"""Lifecycle steps in a file of their own, beside a service: those of the module, and those of components, by phase.

module:
  install:
    after: [ { fqn: ..., description: ..., condition: ..., timeout: ..., onFailure: ..., config: ... } ]
components:
  database:
    upgrade:
      before: [ ... ]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ordito.base.diagnostics import Related
from ordito.base.span import Span
from ordito.model.block_types import KnownBlocks
from ordito.model.lifecycle_steps import ON_FAILURE, PHASES, LifecycleStep
from ordito.model.references import References
from ordito.model.service import NodeTemplate
from ordito.model.step_configs import StepConfigs, config_spans, refuse_inline, without_inline
from ordito.source import nodes
from ordito.source.nodes import Node, Scalar
from ordito.source.scalars import core_value

TOP = ("module", "components")
TEXTS = {
    "fqn": "fqn",
    "description": "description",
    "condition": "condition",
    "timeout": "timeout",
    "onFailure": "on_failure",
}
"""The keys of a step that are texts, and what they are called here."""
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
