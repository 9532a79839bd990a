"""The configs of lifecycle steps, read by the types that their blocks declare, and checks that both ways to write steps
share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Placed, Span
from ordito.model.lifecycle_steps import INLINE, BlockType
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.service import NodeTemplate
from ordito.model.values import Values
from ordito.source import nodes
from ordito.source.nodes import Scalar, is_null
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import call_in, read_untyped


class StepConfigs:
    """Reads the config of steps. Values are typed by the block, calls are checked against the topology."""

    def __init__(self, references: References, diagnostics: Diagnostics) -> None:
        self._references = references
        self._diagnostics = diagnostics
        self._values: dict[int, tuple[Values, BlockType]] = {}

    def read(
        self,
        node: nodes.Node | None,
        block: BlockType | None,
        name: str,
        owner: Placed,
        about: Iterable[NodeTemplate] = (),
    ) -> dict[str, Value]:
        """The config of a step, complete; without a block as it is written. ``name`` is the step's; in it SELF
        means the nodes that it is ``about``."""
        what = f'the config of lifecycle step "{name}"'
        if node is not None and is_null(node):
            node = None
        if node is not None and (not isinstance(node, nodes.Mapping) or call_in(node)):
            given = "a function" if isinstance(node, nodes.Mapping) else node.kind
            self._diagnostics.error(
                "wrong-form",
                f"{what} must be a map, not {given}",
                node.span,
                hint="write the names of values, and these",
            )
            return {}
        value = self._untyped(node) if block is None else self._typed(node, block, what, owner)
        for place in [Place(node) for node in about] or [Place()]:
            self._references.check_all(calls(value), place)
        return value if isinstance(value, dict) else {}

    def _untyped(self, node: nodes.Mapping | None) -> Value:
        return read_untyped(node, self._diagnostics) if node is not None else {}

    def _typed(self, node: nodes.Mapping | None, block: BlockType, what: str, owner: Placed) -> Value:
        definition = block.config
        if definition is None:
            if node is not None and node.keys:
                self._diagnostics.error(
                    "unknown-property", f"{block.fqn} takes no config", node.keys[0].span, hint="remove config"
                )
            return {}
        values = self._reader(block)
        if node is not None:
            return values.read_as(definition, node, what)
        if definition.has_default:
            return definition.default
        needed = [d.name for d in block.fields.values() if d.required and not d.has_default]
        if not needed and block.fields:
            return values.fields(None, block.fields, what, "field", owner)
        if definition.required:
            self._diagnostics.error(
                "missing-value",
                f"{what} is missing, which {block.fqn} requires",
                owner.span,
                hint=f"write config: with {', '.join(needed)}" if needed else "write config:",
            )
        return {}

    def _reader(self, block: BlockType) -> Values:
        """Who reads values of a block's types."""
        known = self._values.get(id(block.data_types))
        if known is None:
            known = self._values[id(block.data_types)] = Values(block.data_types, self._diagnostics), block
        return known[0]


def refuse_inline(keys: Iterable[Scalar], name: str, diagnostics: Diagnostics) -> bool:
    """Report keys with which a step says itself what it does; returns whether there were any."""
    found = [key for key in keys if key.text in INLINE]
    for key in found:
        diagnostics.error(
            "inline-step",
            f"lifecycle step '{name}': custom or inline implementations are not allowed (FR-11-003); "
            "reference a catalog block by fqn",
            key.span,
            hint="`ordito blocks list` shows the blocks that there are",
        )
    return bool(found)


def without_inline(node: nodes.Mapping | None) -> nodes.Mapping | None:
    """A step without the keys that it must not have, which were reported, also in its config."""
    if node is None:
        return None
    kept: list[tuple[Scalar, nodes.Node]] = []
    for key, value in node.entries():
        if key.text not in INLINE:
            inner = without_inline(value) if key.text == "config" and isinstance(value, nodes.Mapping) else value
            kept.append((key, inner if inner is not None else value))
    return _with_entries(node, kept)


def _with_entries(node: nodes.Mapping, entries: list[tuple[Scalar, nodes.Node]]) -> nodes.Mapping:
    if all(node.values.get(key.text) is value for key, value in entries) and len(entries) == len(node.keys):
        return node
    place = (node.source, node.line, node.column, node.end_line, node.end_column)
    return nodes.Mapping(*place, [key for key, _ in entries], {key.text: value for key, value in entries})


def config_spans(node: nodes.Node | None) -> Mapping[str, Span]:
    """The places of the keys of a config, by ``config.<key>``, and its own."""
    if node is None:
        return {}
    found = {"config": node.span}
    if isinstance(node, nodes.Mapping):
        found |= {f"config.{key.text}": value.span for key, value in node.entries()}
    return found
