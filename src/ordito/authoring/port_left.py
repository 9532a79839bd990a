"""What of a ported service only this program reads: what TOSCA 1.3 has no equivalent for, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax.functions import BLUEPRINT, OF_BLUEPRINTS
from ordito.syntax.service_template import ServiceFile
from ordito.work.given_helpers import GIVEN

MOST_NAMED = 8
SECRET, OUTPUT, MESSAGE = "ordito.secret", "ordito.output", "ordito.message"


class LeftOver(msgspec.Struct, frozen=True):
    """Something without an equivalent: ``what``, where it was written, and what to do ``instead``."""

    what: str
    place: str
    instead: str


HOW = {
    "any": ("values of any type (`type: any`)", "give each property and input a type of TOSCA"),
    "functions": ("functions of blueprints", "write the value itself, or make it an output of an operation"),
    "scripts": (
        "scripts that call ctx",
        "read variables, and set attributes by `outputs:` of the operation; then let `type:` of the artifact go",
    ),
    "attributes": ("attributes that no type declares", "declare them below `attributes:` of a node type"),
    "secrets": ("secrets that functions ask for", "declare an input, and give it { secret: NAME } in ensemble.yaml"),
    "outputs": ("values of other services", "declare an input, and give it the value"),
    "messages": ("words of constraints", "let them go"),
}


def left_over(tree: Mapping, content: ServiceFile) -> Iterator[LeftOver]:
    """What a document holds that TOSCA has no equivalent for, each kind once, with the first places."""
    found: dict[str, list[Scalar]] = {}
    waiting: list[Node] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            for key, value in node.entries():
                kind = _kind(key, value)
                if kind:
                    found.setdefault(kind, []).append(_named(kind, key, value))
            waiting += node.values.values()
        elif not isinstance(node, Scalar):
            waiting += node.items
    declared = {n for t in (content.node_types or {}).values() for n in (t.attributes or {})}
    found["attributes"] = [s for s in found.get("attributes", []) if s.text not in declared]
    for kind, (what, instead) in HOW.items():
        places = [s for s in found.get(kind, []) if not s.source.name.startswith("profile:")]
        if places:
            ordered = sorted(places, key=lambda s: (s.source.name, s.line, s.column))
            shown = [*dict.fromkeys(f"{s.source.name}:{s.line}" for s in ordered)]
            more = f", and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
            yield LeftOver(f"{what}: {len(places)}", ", ".join(shown[:MOST_NAMED]) + more, instead)


def _named(kind: str, key: Scalar, value: Node) -> Scalar:
    """What is named for a thing without an equivalent: the attribute, or what is written there."""
    if kind == "attributes" and isinstance(value, Sequence) and len(value.items) > 1:
        return next((n for n in value.items[1:] if isinstance(n, Scalar)), key)
    return value if isinstance(value, Scalar) else key


def _kind(key: Scalar, value: Node) -> str:
    """What kind of thing without an equivalent an entry of a map is, "" for none."""
    if key.text.startswith(BLUEPRINT) and key.text in OF_BLUEPRINTS:
        return "functions"
    if key.text == "get_attribute":
        return "attributes"
    if isinstance(value, Scalar):
        if key.text in ("type", "entry_schema") and value.text == "any":
            return "any"
        if key.text == "type" and value.text in GIVEN:
            return "scripts"
    return {SECRET: "secrets", OUTPUT: "outputs", MESSAGE: "messages"}.get(key.text, "")


def page(left: tuple[LeftOver, ...], language: str) -> str:
    """The list for people."""
    lines = [
        "# What was ported",
        "",
        f"This service was written from one in `{language}`. `ordito.language` in its metadata keeps open what that",
        "language leaves open: values of any type, and attributes that nobody declares. What is listed here is read by",
        "Ordito, and by no other program for TOSCA 1.3. When nothing is left of it, take that line out.",
        "",
    ]
    if not left:
        lines.append("There is nothing.")
    for one in left:
        place = f" ({one.place})" if one.place else ""
        lines.append(f"- {one.what}{place}" + (f": {one.instead}" if one.instead else ""))
    return "\n".join([*lines, ""])
