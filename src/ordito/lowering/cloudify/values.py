"""Values of a blueprint as values of TOSCA: single ones as YAML 1.1 takes them, and calls of functions, which have the
same names where they mean the same."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Data, Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import core_value
from ordito.syntax.cloudify.yaml_values import is_date, is_text, meant
from ordito.syntax.functions import BLUEPRINT, FORMS, FUNCTIONS

OWN = frozenset(
    {
        "get_input",
        "get_property",
        "get_attribute",
        "get_attributes_list",
        "get_attributes_dict",
        "get_secret",
        "get_capability",
        "get_environment_capability",
        "get_group_capability",
        "get_label",
        "get_sys",
        "get_consumers",
        "concat",
        "merge",
        "string_find",
        "string_replace",
        "string_split",
        "string_lower",
        "string_upper",
    }
)
"""The functions of the language."""

OF_SERVICES = frozenset({"get_group_capability", "get_consumers"})
"""The functions that ask several other services at once."""

CAPABILITY = "get_capability"
OF_ENVIRONMENT = "get_environment_capability"
"""The functions that ask another service, by its name or as the one that this is part of."""
PARENT = "csys-obj-parent"
"""The label, and the input, that names the service that this one is part of."""

SUBSTITUTED = frozenset({"get_label", "get_sys"})
"""The functions that the blueprint itself answers."""

SECRET = "secret:"
"""How the names of inputs begin that are secrets."""

OUTPUT = "capability:"
"""How the names of inputs begin that are capabilities of other services."""


class Asked(msgspec.Struct, frozen=True):
    """A capability of another service; ``service`` is its name, or ``@`` and an input that names it."""

    service: str
    capability: Scalar


Answers = Callable[[list[str]], "Node | str | None"]

SINCE = {"concat": "cloudify_dsl_1_1", "merge": "cloudify_dsl_1_3"}
"""The versions that have brought functions."""


class Values:
    """Lowers values. Those that mean the same in both languages stay the nodes that they are."""

    def __init__(self, version: str, diagnostics: Diagnostics, facts: MappingType[str, Answers]) -> None:
        self._version = version
        self._facts = facts
        self._diagnostics = diagnostics
        self._known: dict[int, tuple[Node, Node]] = {}
        self.secrets: dict[str, Scalar] = {}
        """The secrets that functions ask for, by name."""
        self.outputs: dict[str, Asked] = {}
        """The outputs of other services that functions ask for, by the names of the inputs that stand for them."""
        self.parent = ""
        """The service that this one is part of, "" where an input names it."""
        self.components: dict[str, str] = {}
        """The node templates that stand for other services, by the names of these and their own."""

    def lowered(self, node: Node) -> Node:
        """The value of a node. How deep documents nest is bounded by the loader, so recursion is safe here."""
        kind = type(node)
        if kind is Scalar:
            return self.single(node)  # type: ignore[arg-type]
        known = self._known.get(id(node))
        if known is not None:
            return known[1]
        made = self._listed(node) if isinstance(node, Sequence) else self._map(node)  # type: ignore[arg-type]
        self._known[id(node)] = node, made
        return made

    def entries(self, node: Mapping) -> Mapping:
        """The values of a map of names, which is no call itself."""
        values = {name: self.lowered(value) for name, value in node.values.items()}
        if all(made is old for made, old in zip(values.values(), node.values.values(), strict=True)):
            return node
        return mapping(zip(node.keys, values.values(), strict=True), node)

    def single(self, node: Scalar) -> Scalar:
        """A single value in the form that YAML 1.2 has for what YAML 1.1 takes it for."""
        written = node.text
        if not node.plain or not written:
            return node
        first = written[0]
        if first.isalpha() and first not in "yYnNtTfFoO":
            return node
        found = meant(written)
        if found is not None and found != written:
            return text(found, node)
        if is_text(written) or is_date(written):
            return text(written, node, plain=False)
        return node

    def _listed(self, node: Sequence) -> Sequence:
        items = [self.lowered(item) for item in node.items]
        if all(made is old for made, old in zip(items, node.items, strict=True)):
            return node
        return sequence(items, node)

    def _map(self, node: Mapping) -> Node:
        if len(node.keys) <= 2:
            name = self._called(node)
            if name:
                return self._call(name, node)
        made = self.entries(node)
        return self._as_data(made) if len(node.keys) == 1 else made

    def _called(self, node: Mapping) -> str:
        """The function that a map calls, "" where it is data."""
        names = [name for name in node.values if name in OWN]
        if len(names) != 1 or (len(node.values) > 1 and "type" not in node.values):
            return ""
        return names[0]

    def _as_data(self, node: Mapping) -> Mapping:
        """A map with one key, which must not look like a call."""
        (key,) = node.keys
        if key.text.startswith(("get_", "string_")) or key.text in FUNCTIONS:
            near = self._diagnostics.nearest(key.text, OWN)
            self._diagnostics.warning(
                "no-call",
                f'"{key.text}" is no function of Cloudify, so this is a plain map',
                key.span,
                hint=f'did you mean "{near[0]}"?' if near else "",
            )
        if key.text not in FUNCTIONS:
            return node
        place = (node.source, node.line, node.column, node.end_line, node.end_column)
        return Data(*place, node.keys, node.values)

    def _call(self, name: str, node: Mapping) -> Node:
        key = node.key(name)
        written = node.values[name]
        if name in SINCE and self._version < SINCE[name]:
            self._diagnostics.error(
                "bad-call",
                f"there is no function {name} in {self._version}",
                key.span,
                hint=f"it has come with {SINCE[name]}: raise tosca_definitions_version",
            )
        below = self.lowered(written) if isinstance(written, Scalar) else self._arguments(written)
        if name == "concat" and isinstance(below, Sequence):
            below = self._texts(below)
        if name in SUBSTITUTED:
            return self._substituted(name, below, node)
        if name == "get_secret":
            return self._secret(below, key, node)
        if name in (CAPABILITY, OF_ENVIRONMENT):
            return self._capability(name, written, below, key, node)
        lowered = f"{BLUEPRINT}{name}"
        if lowered in FORMS:
            if name in OF_SERVICES:
                self._diagnostics.warning(
                    "not-supported-yet",
                    f"{name} asks other services, which is not possible here yet",
                    key.span,
                    hint="make it an input",
                )
            if FORMS[lowered].scalar and isinstance(below, Mapping):
                below = sequence([below], below)
            return mapping([(text(lowered, key), below)], node)
        if below is written and len(node.keys) == 1:
            return node
        return mapping([(key, below)], node)

    def _secret(self, arguments: Node, key: Scalar, node: Mapping) -> Node:
        """A secret, which is an input that the store of secrets gives."""
        items: list[Node] = [arguments] if isinstance(arguments, Scalar) else getattr(arguments, "items", [])
        first = items[0] if items else arguments
        if not isinstance(first, Scalar):
            self._diagnostics.error(
                "bad-call", "get_secret takes the name of a secret", arguments.span, hint="write get_secret: name"
            )
            return node
        self.secrets.setdefault(first.text, first)
        name = text(f"{SECRET}{first.text}", first)
        below = sequence([name, *items[1:]], arguments) if len(items) > 1 else name
        return mapping([(text("get_input", key), below)], node)

    def _capability(self, name: str, written: Node, below: Node, key: Scalar, node: Mapping) -> Node:
        """The capability of another service: a runtime property of the node that stands for the service, else an
        input that the outputs of that service give."""
        items: list[Node] = list(below.items) if isinstance(below, Sequence) else [below]
        service: str | None = self.parent
        if name == CAPABILITY:
            first = written.items[0] if isinstance(written, Sequence) and written.items else written
            items = items[1:]
            inner = self._component(first)
            if inner:
                path = [text(inner, first, plain=False), text("capabilities", first, plain=False), *items]
                return mapping([(text("get_attribute", key), sequence(path, node))], node)
            service = self._service(first)
        capability = items[0] if items else None
        if service is None or not isinstance(capability, Scalar):
            form = "[deployment id, capability]" if name == CAPABILITY else "capability"
            self._diagnostics.error(
                "bad-call",
                f"{name} needs the name of a service and of a capability that are written, or an input for the former",
                node.span,
                hint=f"write {name}: {form}",
            )
            return node
        asked = Asked(service or f"@{PARENT}", capability)
        own = f"{OUTPUT}{asked.service.removeprefix('@')}:{capability.text}"
        self.outputs.setdefault(own, asked)
        below = sequence([text(own, capability), *items[1:]], node) if len(items) > 1 else text(own, capability)
        return mapping([(text("get_input", key), below)], node)

    def _component(self, node: Node) -> str:
        """The node template that stands for the service that the first argument names, "" for none."""
        if isinstance(node, Scalar):
            return self.components.get(node.text, "")
        if isinstance(node, Mapping) and is_call(node) and node.keys[0].text in ("get_attribute", "get_property"):
            below = node.values[node.keys[0].text]
            first = below.items[0] if isinstance(below, Sequence) and below.items else None
            if isinstance(first, Scalar) and first.text in self.components.values():
                return first.text
        return ""

    def _service(self, node: Node) -> str | None:
        """The name of a service, or ``@`` and that of the input which names it; None where it is neither."""
        if isinstance(node, Scalar):
            return node.text
        if isinstance(node, Mapping) and [k.text for k in node.keys] == ["get_input"]:
            below = node.values["get_input"]
            return f"@{below.text}" if isinstance(below, Scalar) else None
        return None

    def _substituted(self, name: str, arguments: Node, node: Mapping) -> Node:
        """What a function gives that the blueprint itself answers."""
        found = self._facts.get(name)
        names = [arguments] if isinstance(arguments, Scalar) else getattr(arguments, "items", [])
        path = [n.text for n in names if isinstance(n, Scalar)]
        answer = found(path) if found is not None and len(path) == len(names) and path else None
        if isinstance(answer, Scalar | Sequence | Mapping):
            return self.lowered(answer)
        if answer is not None:
            return text(answer, node, plain=False)
        self._diagnostics.error("bad-call", f"{name} knows nothing of {' '.join(path) or 'this'}", arguments.span)
        return node

    def _arguments(self, node: Node) -> Node:
        """The arguments of a call: a list or a map, which is no call by itself."""
        return self._listed(node) if isinstance(node, Sequence) else self.lowered(node)

    def _texts(self, node: Sequence) -> Sequence:
        """The arguments of concat, as the texts that Python makes of them."""
        items: list[Node] = []
        for item in node.items:
            made: Node = item
            if isinstance(item, Scalar) and item.plain:
                value = core_value(item)
                if value is None or isinstance(value, bool):
                    made = text(str(value), item, plain=False)
                if value is None:
                    self._warn_of_text(item, "None")
            elif isinstance(item, Sequence) or (isinstance(item, Mapping) and not self._called(item)):
                shown = repr(plain(item))
                made = text(shown, item, plain=False)
                self._warn_of_text(item, shown)
            items.append(made)
        return sequence(items, node)

    def _warn_of_text(self, item: Node, shown: str) -> None:
        self._diagnostics.warning(
            "odd-text", f"concat makes the text {shown[:60]} of this", item.span, hint="write the text that is meant"
        )


def plain(node: Node) -> object:
    """What a lowered value is as data; a call is a map."""
    if isinstance(node, Scalar):
        return core_value(node)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.values.items()}


def is_call(node: Node) -> bool:
    """Whether a node calls a function of the language."""
    if not isinstance(node, Mapping):
        return False
    names = [name for name in node.values if name in OWN]
    return len(names) == 1 and (len(node.values) == 1 or (len(node.values) == 2 and "type" in node.values))


def holds_call(node: Node) -> bool:
    """Whether there is a call anywhere in a value."""
    if isinstance(node, Scalar):
        return False
    if is_call(node):
        return True
    return any(holds_call(n) for n in (node.items if isinstance(node, Sequence) else node.values.values()))


__all__ = ["OWN", "Values", "holds_call", "is_call", "is_null", "plain"]
