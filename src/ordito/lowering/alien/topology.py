"""The topology of the main file (section 6)."""

from __future__ import annotations

from ordito.lowering.alien.definitions import DefinitionsOf
from ordito.lowering.alien.functions import FunctionsOf
from ordito.lowering.alien.interfaces import InterfacesOf
from ordito.lowering.alien.shapes import ArchiveShapes, is_function, without
from ordito.lowering.alien.steps import WorkflowsOf
from ordito.lowering.alien.templates import NodeTemplatesOf
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

SPREADING = frozenset({"tosca.policy.ha", "tosca.policies.ha", "tosca.policies.Ha", "tosca.policy.Ha"})
GROUP = "tosca.groups.Root"
LEAST_OF_OUTPUT = {"get_attribute": 2, "get_property": 2}
TWO_NAMES = 2


class TopologyOf:
    """Lowers a topology. ``later`` says whether links have names of their own, as from 2.0.0 on."""

    def __init__(
        self,
        shapes: ArchiveShapes,
        definitions: DefinitionsOf,
        interfaces: InterfacesOf,
        functions: FunctionsOf,
        later: bool,
    ) -> None:
        self._shapes = shapes
        self._definitions = definitions
        self._interfaces = interfaces
        self._functions = functions
        self._diagnostics = shapes.diagnostics
        self._later = later

    def lowered(self, node: Node | None) -> Mapping | None:
        """The topology."""
        if node is None or is_null(node):
            return None
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, '"topology_template"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "topology template")
        names = self._shapes.table(written.values.get("node_templates"), '"node_templates"')
        if names is None or not names.keys:
            self._diagnostics.warning(
                "empty-topology", "the topology has no node templates, so nothing is deployed", node.span
            )
        groups = self._groups(
            written.values.get("groups"), frozenset(names.values) if names is not None else frozenset()
        )
        spread = frozenset(m for group in groups.values() if group.spreads for m in group.members)
        templates = NodeTemplatesOf(
            self._shapes, self._definitions, self._interfaces, self._functions, spread, self._later
        )
        parts = {
            "inputs": self._definitions.properties(written.values.get("inputs"), "inputs"),
            "node_templates": templates.lowered(written.values.get("node_templates")),
            "groups": mapping([(g.key, g.node) for g in groups.values()], node) if groups else None,
            "policies": self._policies(written.values.get("policies")),
            "outputs": self._outputs(written.values.get("outputs")),
            "substitution_mappings": self._substitution(written.values.get("substitution_mappings")),
        }
        workflows = WorkflowsOf(self._shapes, self._definitions, self._functions, templates.links)
        parts["workflows"] = workflows.lowered(written.values.get("workflows"))
        entries = [(written.key(name), value) for name, value in parts.items() if value is not None]
        description = written.values.get("description")
        if description is not None and not is_null(description):
            entries.append((written.key("description"), description))
        return mapping(entries, written)

    # Groups and policies.

    def _groups(self, node: Node | None, templates: frozenset[str]) -> dict[str, _GroupOf]:
        found: dict[str, _GroupOf] = {}
        table = self._shapes.table(node, '"groups"')
        for key, value in table.entries() if table is not None else ():
            if not isinstance(value, Mapping):
                self._shapes.wrong(value, f'group "{key.text}"', "a map with its keynames")
                continue
            written = self._shapes.keynames.kept(value, "group")
            members = self._members(written.values.get("members"), templates)
            spreads = self._spreads(written.values.get("policies"))
            entries: list[tuple[Scalar, Node]] = [(text("type", key), text(GROUP, key))]
            if members:
                entries.append((written.key("members"), sequence(members, written.values["members"])))
            entries += without(written, "members", "policies", "metadata")
            found[key.text] = _GroupOf(key, mapping(entries, value), [m.text for m in members], spreads)
        return found

    def _members(self, node: Node | None, templates: frozenset[str]) -> list[Scalar]:
        listed = self._shapes.listed(node)
        found = []
        if listed is not None and not is_null(listed) and not isinstance(listed, Sequence):
            self._shapes.wrong(listed, '"members"', "a list of node templates")
        for item in listed.items if isinstance(listed, Sequence) else []:
            if not isinstance(item, Scalar):
                continue
            known = self._functions.template(item)
            if known.text in templates:
                found.append(known)
            else:
                self._diagnostics.warning(
                    "unknown-member",
                    f'no node template named "{item.text}", so the group goes without it',
                    item.span,
                    hint=self._diagnostics.suggestion(item.text, templates),
                )
        return found

    def _spreads(self, node: Node | None) -> bool:
        """Whether a policy of a group puts instances on different hosts; other policies do nothing."""
        items = node.items if isinstance(node, Sequence) else [node] if node is not None and not is_null(node) else []
        spreads = False
        for item in items:
            kind = item.values.get("type") if isinstance(item, Mapping) else item
            if isinstance(item, Mapping) and kind is None and item.keys:
                kind = next(iter(item.values.values()))
            if isinstance(kind, Scalar) and kind.text in SPREADING:
                spreads = True
            elif isinstance(kind, Scalar):
                self._diagnostics.warning(
                    "policy-not-evaluated",
                    f"nothing acts on {kind.text}",
                    kind.span,
                    hint="write tosca.policy.ha for instances on different hosts",
                )
        return spreads

    def _policies(self, node: Node | None) -> Node | None:
        table = self._shapes.table(node, '"policies"')
        lowered = self._shapes.each(table, '"policies"', self._policy)
        return sequence([mapping([e], lowered) for e in lowered.entries()], lowered) if lowered is not None else None

    def _policy(self, key: Scalar, node: Node) -> Node | None:
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'policy "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "policy")
        entries = without(written, "targets", "metadata", "properties")
        targets = self._shapes.listed(written.values.get("targets"))
        if isinstance(targets, Sequence):
            names = [self._functions.template(t) if isinstance(t, Scalar) else t for t in targets.items]
            entries.append((written.key("targets"), sequence(names, targets)))
        properties = self._shapes.table(written.values.get("properties"), '"properties"')
        if properties is not None:
            values = [(k, self._functions.lowered(v)) for k, v in properties.entries() if not is_null(v)]
            entries.append((written.key("properties"), mapping(values, properties)))
        metadata = self._shapes.texts(written.values.get("metadata"))
        if metadata is not None:
            entries.append((written.key("metadata"), metadata))
        return mapping(entries, written)

    # Outputs and substitution.

    def _outputs(self, node: Node | None) -> Mapping | None:
        return self._shapes.each(node, '"outputs"', self._output)

    def _output(self, key: Scalar, node: Node) -> Node | None:
        value = node
        entries: list[tuple[Scalar, Node]] = []
        if isinstance(node, Mapping) and not is_function(node):
            written = self._shapes.keynames.kept(node, "output")
            entries = without(written, "value")
            value = written.values.get("value") or text("", key)
        if is_null(value) or not self._is_output(key, value):
            return None
        return mapping([*entries, (text("value", value), self._functions.lowered(value))], node)

    def _is_output(self, key: Scalar, value: Node) -> bool:
        """Whether a function has the arguments that it needs; an output with another one is left out."""
        if not isinstance(value, Mapping) or len(value.keys) != 1:
            return True
        (name,) = value.keys
        arguments = value.values[name.text]
        least = LEAST_OF_OUTPUT.get(name.text, 0)
        if least and not (isinstance(arguments, Sequence) and len(arguments.items) >= least):
            self._diagnostics.warning(
                "bad-call",
                f'{name.text} takes a node and a name at least, so there is no output "{key.text}"',
                value.span,
                hint=f"write {name.text}: [node, name]",
            )
            return False
        return True

    def _substitution(self, node: Node | None) -> Node | None:
        if not isinstance(node, Mapping):
            return None
        entries: list[tuple[Scalar, Node]] = []
        for key, value in without(node):
            if key.text == "node_type" and isinstance(value, Mapping) and "type" in value.values:
                entries.append((key, value.values["type"]))
            elif key.text in ("capabilities", "requirements"):
                mapped = self._shapes.each(value, f'"{key.text}"', self._mapping)
                if mapped is not None:
                    entries.append((key, mapped))
            else:
                entries.append((key, value))
        return mapping(entries, node)

    def _mapping(self, key: Scalar, node: Node) -> Node | None:
        """A node and the name of its capability or requirement; what else is written is for services of others."""
        if not isinstance(node, Sequence):
            return node
        items = [self._functions.template(i) if isinstance(i, Scalar) else i for i in node.items[:1]]
        return sequence([*items, *node.items[1:TWO_NAMES]], node)


class _GroupOf:
    """A group: as it is lowered, its members, and whether their instances stand on different hosts."""

    def __init__(self, key: Scalar, node: Mapping, members: list[str], spreads: bool) -> None:
        self.key = key
        self.node = node
        self.members = members
        self.spreads = spreads
