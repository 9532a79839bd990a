"""Interfaces and operations of types and templates (section 5)."""

from __future__ import annotations

from ordito.lowering.alien.functions import FunctionsOf, interface_name
from ordito.lowering.alien.shapes import ArchiveShapes, without
from ordito.lowering.alien.variables import VariablesOf
from ordito.lowering.making import mapping, named, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

KEYNAMES = frozenset({"type", "inputs", "description", "operations", "notifications"})


class InterfacesOf:
    """Lowers the interfaces of one file."""

    def __init__(self, shapes: ArchiveShapes, functions: FunctionsOf, variables: VariablesOf | None = None) -> None:
        self._shapes = shapes
        self._functions = functions
        self._variables = variables
        self.owner = ""
        """The node type whose operations are lowered, "" for none."""

    @property
    def is_abstract(self) -> bool:
        """Whether the node type is one that only says what others have to offer."""
        return self._variables is not None and self._variables.is_abstract(self.owner)

    def lowered(self, node: Node | None) -> Mapping | None:
        """Interfaces by their names; two spellings of one name are one interface."""
        if isinstance(node, Scalar) and not is_null(node):
            return mapping([(text(interface_name(node.text), node), mapping([], node))], node)
        if isinstance(node, Sequence):
            node = mapping([entry for item in node.items for entry in _entries(item)], node)
        table = self._shapes.table(node, '"interfaces"')
        if table is None:
            return None
        found: dict[str, tuple[Scalar, Mapping]] = {}
        for key, value in table.entries():
            name = interface_name(key.text)
            made = self._interface(key, value)
            if made is None:
                continue
            if name in found:
                earlier = found[name][1]
                made = mapping([*earlier.entries(), *made.entries()], table)
                made = mapping([(k, made.values[k.text]) for k in {k.text: k for k in made.keys}.values()], table)
            found[name] = text(name, key), made
        return mapping(found.values(), table)

    def _interface(self, key: Scalar, node: Node) -> Mapping | None:
        if is_null(node):
            return mapping([], node)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'interface "{key.text}"', "a map of its operations")
            return None
        entries = [e for e in node.entries() if e[0].text not in KEYNAMES]
        inner = node.values.get("operations")
        if isinstance(inner, Mapping):
            entries += inner.entries()
        operations = [(k, self._operation(k, v)) for k, v in entries]
        kept = [(k, v) for k, v in without(node, "inputs", "operations", "type") if k.text in KEYNAMES]
        inputs = self._inputs(node.values.get("inputs"))
        if inputs is not None:
            kept.append((node.key("inputs"), inputs))
        done = [(k, v) for k, v in operations if v is not None]
        if done:
            section = mapping(done, node)
            kept.append((text("operations", done[0][0]), section))
        return mapping(kept, node)

    def _operation(self, key: Scalar, node: Node) -> Node | None:
        if is_null(node):
            return named([("description", text(key.text, key, plain=False))], key)
        if isinstance(node, Scalar):
            moved = self._shapes.move(node)
            more = self._more(moved, None)
            return named([("implementation", moved), ("inputs", mapping(more, node))], node) if more else moved
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'operation "{key.text}"', "an implementation or a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "operation")
        entries = without(written, "implementation", "inputs", "input", "dependencies", "outputs")
        implementation = self._implementation(written.values.get("implementation"), written.values.get("dependencies"))
        if implementation is not None:
            entries.append((text("implementation", implementation), implementation))
        inputs = self._inputs(written.values.get("inputs") or written.values.get("input"))
        more = self._more(implementation, inputs)
        if more:
            inputs = mapping([*(inputs.entries() if inputs is not None else ()), *more], written)
        if inputs is not None:
            entries.append((text("inputs", inputs), inputs))
        outputs = written.values.get("outputs")
        if isinstance(outputs, Mapping):
            mapped = [(k, v) for k, v in outputs.entries() if isinstance(v, Sequence)]
            entries.append((written.key("outputs"), mapping(mapped, outputs)))
        return mapping(entries, written)

    def _more(self, implementation: Node | None, inputs: Node | None) -> list[tuple[Scalar, Node]]:
        """Inputs for variables that the script reads without having declared them."""
        if self._variables is None:
            return []
        return self._variables.inputs(implementation, self.owner, inputs)

    def _inputs(self, node: Node | None) -> Mapping | None:
        """Values and functions; what has a type is the definition of an input, which whoever runs the operation
        gives."""
        table = self._shapes.table(node, '"inputs"')
        if table is None:
            return None
        return mapping([(k, self._input(v)) for k, v in table.entries()], table)

    def _input(self, node: Node) -> Node:
        if isinstance(node, Mapping) and "type" in node.values:
            kept = without(node, "password", "suggestion", "required")
            if "required" in node.values:
                kept.append((node.key("required"), self._shapes.flag(node.values["required"], '"required"')))
            return mapping([(k, self._functions.lowered(v) if k.text == "default" else v) for k, v in kept], node)
        return self._functions.lowered(node)

    def _implementation(self, node: Node | None, dependencies: Node | None) -> Node | None:
        """A script, or the artifact that says of what kind it is; with what it needs."""
        primary: Node | None = None
        more: list[Node] = [n for n in (dependencies,) if n is not None]
        if isinstance(node, Scalar) and not is_null(node):
            primary = self._shapes.move(node)
        elif isinstance(node, Mapping):
            file = node.values.get("file") or node.values.get("primary")
            more += [node.values["dependencies"]] if "dependencies" in node.values else []
            if isinstance(file, Scalar):
                at_home = "repository" not in node.values
                moved = self._shapes.move(file) if at_home else file
                facts = [
                    (k, v) for k, v in without(node) if k.text in ("type", "repository", "deploy_path", "properties")
                ]
                primary = mapping([*facts, (text("file", file), moved)], node) if facts else moved
            elif isinstance(file, Mapping):
                primary = file
        if primary is None or (isinstance(primary, Scalar) and not more):
            return primary
        items = [i for n in more for i in (n.items if isinstance(n, Sequence) else [n])]
        needed = [self._shapes.move(i) if isinstance(i, Scalar) else i for i in items if not is_null(i)]
        entries: list[tuple[Scalar, Node]] = [(text("primary", primary), primary)]
        if needed:
            entries.append((text("dependencies", primary), sequence(needed, primary)))
        return mapping(entries, primary)


def _entries(item: Node) -> list[tuple[Scalar, Node]]:
    """An entry of a list of interfaces: a map of them, or the name of one."""
    if isinstance(item, Mapping):
        return [*item.entries()]
    return [(item, text("", item))] if isinstance(item, Scalar) and not is_null(item) else []
