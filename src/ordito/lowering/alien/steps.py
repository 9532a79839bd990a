"""Workflows of a topology, in the forms of all versions, as imperative workflows (section 6.2)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from collections.abc import Set

from ordito.lowering.alien.definitions import DefinitionsOf
from ordito.lowering.alien.functions import FunctionsOf, interface_name
from ordito.lowering.alien.shapes import ArchiveShapes, without
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

CALLED = {"install": "deploy", "uninstall": "undeploy"}
"""What the workflows that the program has itself are called here."""
RENAMED = {
    "node": "target",
    "activity": "activities",
    "on-success": "on_success",
    "relationship": "target_relationship",
}
DOING = frozenset({"activity", "activities"})


class WorkflowsOf:
    """Lowers the workflows. ``links`` are the requirements that links fulfil, by node template and name."""

    def __init__(
        self,
        shapes: ArchiveShapes,
        definitions: DefinitionsOf,
        functions: FunctionsOf,
        links: MappingType[tuple[str, str], str],
    ) -> None:
        self._shapes = shapes
        self._definitions = definitions
        self._functions = functions
        self._links = links
        self._diagnostics = shapes.diagnostics

    def lowered(self, node: Node | None) -> Mapping | None:
        """The workflows; those that the program has itself under its own names."""
        found = self._shapes.each(node, '"workflows"', self._workflow)
        if found is None:
            return None
        return mapping([(text(CALLED.get(k.text, k.text), k), v) for k, v in found.entries()], found)

    def _workflow(self, key: Scalar, node: Node) -> Node | None:
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'workflow "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "workflow")
        entries = without(written, "steps", "inputs", "metadata")
        inputs = self._definitions.properties(written.values.get("inputs"), "inputs")
        if inputs is not None:
            entries.append((written.key("inputs"), inputs))
        metadata = self._shapes.texts(written.values.get("metadata"))
        if metadata is not None:
            entries.append((written.key("metadata"), metadata))
        table = self._shapes.table(written.values.get("steps"), '"steps"')
        if table is not None:
            idle = {k.text for k, v in table.entries() if isinstance(v, Mapping) and DOING.isdisjoint(v.values)}
            steps = self._shapes.each(table, '"steps"', lambda k, v: self._step(k, v, table.values.keys(), idle))
            if steps is not None:
                entries.append((written.key("steps"), steps))
        return mapping(entries, written)

    def _step(self, key: Scalar, node: Node, names: Set[str], idle: Set[str]) -> Node | None:
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'step "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "workflow step")
        entries: dict[str, tuple[Scalar, Node]] = {}
        for name, value in without(written):
            called = RENAMED.get(name.text, name.text)
            entries[called] = text(called, name), value
        target = entries.get("target")
        node_name = ""
        if target is not None and isinstance(target[1], Scalar):
            known = self._functions.template(target[1])
            node_name = known.text
            entries["target"] = target[0], known
        link = entries.get("target_relationship")
        if link is not None and isinstance(link[1], Scalar):
            requirement = self._links.get((node_name, link[1].text), link[1].text)
            entries["target_relationship"] = link[0], text(requirement, link[1])
        for following in ("on_success", "on_failure"):
            if following in entries:
                entries[following] = entries[following][0], self._following(entries[following][1], names, idle)
        activities = self._activities(entries["activities"][1]) if "activities" in entries else []
        if not activities:
            self._diagnostics.error(
                "missing-keyname", f'step "{key.text}" has no activities', key.span, hint="say what it does"
            )
            return None
        entries["activities"] = entries["activities"][0], sequence(activities, entries["activities"][1])
        return mapping(entries.values(), written)

    def _following(self, node: Node, names: Set[str], idle: Set[str]) -> Node:
        """The steps that follow, without those that there are not, and without ``idle`` ones, which are reported."""
        listed = self._shapes.listed(node)
        kept = []
        for item in listed.items if isinstance(listed, Sequence) else []:
            if isinstance(item, Scalar) and item.text not in names:
                self._diagnostics.warning(
                    "unknown-step",
                    f'no step named "{item.text}", so nothing follows there',
                    item.span,
                    hint=self._diagnostics.suggestion(item.text, names),
                )
            elif not (isinstance(item, Scalar) and item.text in idle):
                kept.append(item)
        return sequence(kept, node)

    def _activities(self, node: Node) -> list[Node]:
        """What a step does, one thing after the other."""
        items = node.items if isinstance(node, Sequence) else [node]
        return [self._activity(k, v) for i in items if isinstance(i, Mapping) for k, v in i.entries() if not is_null(v)]

    def _activity(self, key: Scalar, value: Node) -> Node:
        if key.text == "call_operation":
            if isinstance(value, Scalar):
                value = self._operation(value)
            elif isinstance(value, Mapping):
                value = mapping(
                    [
                        (k, self._operation(v) if k.text == "operation" and isinstance(v, Scalar) else v)
                        for k, v in value.entries()
                    ],
                    value,
                )
        elif key.text == "inline" and isinstance(value, Scalar):
            value = text(CALLED.get(value.text, value.text), value)
        return mapping([(key, value)], key)

    def _operation(self, written: Scalar) -> Scalar:
        interface, dot, operation = written.text.rpartition(".")
        return text(f"{interface_name(interface)}{dot}{operation}", written)
