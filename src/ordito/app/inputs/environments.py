"""Environments: one service in several surroundings, each with inputs, variables and connections of its own.

spec:
  inputs: { size: 1 }
  environments:
    prod:
      inputs: { size: 3 }
      variables: { LOG_LEVEL: warn }
      connections:
        cloud: { properties: { url: "https://cloud.example", token: { secret: cloud-token } } }
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.base.diagnostics import Diagnostics, suggestion
from ordito.base.span import Span
from ordito.model.operation import NODE_VARIABLES, RELATIONSHIP_VARIABLES
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, is_null

SECTION = ("inputs", "variables", "connections", "hosts", "lock")
"""The keys that may be written for all environments, and for one."""

LOCKS = ("git", "none")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
RESERVED = frozenset({*NODE_VARIABLES, *RELATIONSHIP_VARIABLES})
OWN_PREFIX = "ORDITO_"


class EnvironmentConnection(msgspec.Struct, frozen=True):
    """A connection to something outside: its properties, as written, and their data type ("" for none) with its place.
    ``span`` is the place of the connection."""

    properties: Mapping[str, Node]
    span: Span
    node: MappingNode | None = None
    type: str = ""
    type_span: Span | None = None


class EnvironmentSection(msgspec.Struct, frozen=True):
    """The settings of an environment, as written: inputs, variables of every operation, connections, and how clones are
    kept from working at the same time (``lock``: git, none, or "" for no setting). ``hosts`` is the path of the
    inventory."""

    inputs: Mapping[str, Node] = {}
    variables: Mapping[str, Node] = {}
    connections: Mapping[str, EnvironmentConnection] = {}
    lock: str = ""
    hosts: Node | None = None

    def over(self, common: EnvironmentSection) -> EnvironmentSection:
        """The settings of this environment, with those that are common to all for what it leaves out."""
        return EnvironmentSection(
            {**common.inputs, **self.inputs},
            {**common.variables, **self.variables},
            {**common.connections, **self.connections},
            self.lock or common.lock,
            self.hosts if self.hosts is not None else common.hosts,
        )


class Environment(msgspec.Struct, frozen=True):
    """The environment in which a command works: its name, "" for none, and its settings."""

    name: str = ""
    section: EnvironmentSection = EnvironmentSection()


class Environments(msgspec.Struct, frozen=True):
    """The environments of an ensemble by name, the settings that are ``common`` to all, and the one that is used for
    the first deployment if no other is named (``first``, "" for none)."""

    common: EnvironmentSection = EnvironmentSection()
    by_name: Mapping[str, EnvironmentSection] = {}
    first: str = ""

    @property
    def asks_for_lock(self) -> bool:
        """Whether clones lock each other out. One environment that asks for it is enough, since all share one state."""
        return any(section.lock == "git" for section in (self.common, *self.by_name.values()))

    def get(self, name: str) -> Environment:
        """The environment with an existing name, or for "" the common settings."""
        return Environment(name, self.by_name[name].over(self.common) if name else self.common)

    def choose(self, wanted: str | None, deployed: str | None, shown: str) -> Environment:
        """The environment to work in: the ``wanted`` one (None if the command names none, "" for no environment), else
        the ``deployed`` one (None if nothing is deployed), else the first. ``shown`` is the file name for messages.

        Raises ``Refused`` for one that does not exist.
        """
        name = wanted if wanted is not None else deployed if deployed is not None else self.first
        if not name or name in self.by_name:
            return self.get(name)
        if wanted is None:
            known = suggestion(name, self.by_name)
            raise Refused(
                "unknown-environment",
                f'{shown} no longer has the environment "{name}", which is the deployed one',
                f'write it again, or choose another with --env NAME, none with --env ""; {known}',
            )
        hint = suggestion(name, self.by_name) if self.by_name else 'describe it below "environments:" there'
        raise Refused("unknown-environment", f'{shown} has no environment "{name}"', hint)


# ---------------------------------------------------------------------------------------------------------- reading


def read_section(entries: Mapping[str, Node], diagnostics: Diagnostics) -> EnvironmentSection:
    """The settings of an environment in the entries of a map; other entries are ignored."""
    lock = entries.get("lock")
    text = lock.text if isinstance(lock, Scalar) and not is_null(lock) else ""
    if lock is not None and not is_null(lock) and text not in LOCKS:
        diagnostics.unknown("bad-value", "lock", text, lock.span, LOCKS)
    return EnvironmentSection(
        entries_of(entries.get("inputs"), '"inputs"', diagnostics),
        _variables(entries.get("variables"), diagnostics),
        _connections(entries.get("connections"), diagnostics),
        text,
        entries.get("hosts"),
    )


def read_environments(spec: Mapping[str, Node], diagnostics: Diagnostics) -> Environments:
    """The environments that `spec` describes."""
    found: dict[str, EnvironmentSection] = {}
    for name, node in entries_of(spec.get("environments"), '"environments"', diagnostics).items():
        entries = entries_of(node, f'the environment "{name}"', diagnostics, SECTION)
        found[name] = read_section(entries, diagnostics)
        if not name.strip():
            diagnostics.error("bad-value", "an environment has a name", node.span, hint="give it one")
    first = spec.get("environment")
    name = ""
    if first is not None and not is_null(first):
        name = first.text if isinstance(first, Scalar) else ""
        if name not in found:
            diagnostics.unknown("unknown-environment", "environment", name, first.span, found)
    return Environments(read_section(spec, diagnostics), found, name)


def entries_of(
    node: Node | None, what: str, diagnostics: Diagnostics, known: tuple[str, ...] = ()
) -> Mapping[str, Node]:
    """The entries of a map; with ``known``, all other keys are errors."""
    if node is None or is_null(node):
        return {}
    if not isinstance(node, MappingNode):
        diagnostics.error("bad-value", f"{what} is a map, not {node.kind}", node.span)
        return {}
    if known:
        for key in node.keys:
            if key.text not in known:
                diagnostics.unknown("unknown-keyname", "key", key.text, key.span, known)
    return node.values


def _variables(node: Node | None, diagnostics: Diagnostics) -> Mapping[str, Node]:
    found = entries_of(node, '"variables"', diagnostics)
    for name, value in found.items():
        problem = unfit(name)
        if problem:
            diagnostics.error("bad-value", f'"{name}" {problem}', value.span, hint="choose another name")
    return found


def unfit(name: str) -> str:
    """Why something cannot be the name of a variable of operations, "" if it can."""
    if not VARIABLE.fullmatch(name):
        return "is not a valid name of a variable: use letters, digits and _, and do not begin with a digit"
    if name in RESERVED:
        return "is a variable that every operation has already"
    return f"begins with {OWN_PREFIX}, as only variables of Ordito itself do" if name.startswith(OWN_PREFIX) else ""


def _connections(node: Node | None, diagnostics: Diagnostics) -> Mapping[str, EnvironmentConnection]:
    found: dict[str, EnvironmentConnection] = {}
    variables: dict[str, str] = {}
    for name, value in entries_of(node, '"connections"', diagnostics).items():
        connection = _connection(name, value, diagnostics)
        found[name] = connection
        for property_ in connection.properties:
            variable = variable_of(name, property_)
            place = connection.properties[property_].span
            if problem := unfit(variable):
                diagnostics.error("bad-value", f'"{variable}" {problem}', place, hint="choose another name")
            elif variable in variables:
                also = variables[variable]
                said = f'"{variable}" would be the variable of {also} and of {name}.{property_}'
                diagnostics.error("bad-value", said, place, hint="choose another name for one of them")
            variables[variable] = f"{name}.{property_}"
    return found


def _connection(name: str, node: Node, diagnostics: Diagnostics) -> EnvironmentConnection:
    entries = entries_of(node, f'the connection "{name}"', diagnostics, ("type", "properties"))
    type_ = entries.get("type")
    if type_ is not None and not isinstance(type_, Scalar):
        diagnostics.error("bad-value", f'"type" is the name of a data type, not {type_.kind}', type_.span)
    properties = entries.get("properties")
    written = type_ if isinstance(type_, Scalar) and not is_null(type_) else None
    return EnvironmentConnection(
        entries_of(properties, '"properties"', diagnostics),
        node.span,
        properties if isinstance(properties, MappingNode) else None,
        written.text if written is not None else "",
        written.span if written is not None else None,
    )


def variable_of(connection: str, property_: str) -> str:
    """The name of the variable in which operations find a property of a connection."""
    return re.sub(r"[^A-Z0-9_]", "_", f"{connection}_{property_}".upper(), flags=re.ASCII)
