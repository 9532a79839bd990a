"""The variables that an environment gives to every operation: its own, and the properties of its connections."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.inputs.environments import Environment, EnvironmentConnection, variable_of
from ordito.app.inputs.evaluate import TemplateNames, UserPartEvaluation
from ordito.app.inputs.gathered import plain
from ordito.app.inputs.sources import ReadableFiles, Sources, secrets_of
from ordito.app.place import Place
from ordito.app.surroundings import seen_variables
from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import Sensitive, is_sensitive, revealed
from ordito.base.text import as_text
from ordito.model.schema import Schema
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.model.values import Values
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, is_null


def variables_of(
    place: Place, environment: Environment, service: Service, diagnostics: Diagnostics
) -> dict[str, object]:
    """The variables by name, each a text, ``Sensitive`` if it contains a secret; variables without a value are left
    out. A variable overrides a connection's property of the same name."""
    evaluation = evaluation_of(place, diagnostics, environment)
    found: dict[str, object] = {}
    for name, connection in environment.section.connections.items():
        for property_, value in _properties(name, connection, evaluation, service, diagnostics).items():
            found[variable_of(name, property_)] = value
    evaluated = evaluation.others(environment.section.variables)
    for name, node in evaluated.values.items():
        text = _text(node)
        if text is not None:
            found[name] = Sensitive(text) if name in evaluated.secret else text
    return found


def _text(node: Node) -> str | None:
    """The text of a value as written, None if it is null."""
    if isinstance(node, Scalar):
        return None if is_null(node) else node.text
    return as_text(plain(node))


def _properties(
    name: str,
    connection: EnvironmentConnection,
    evaluation: UserPartEvaluation,
    service: Service,
    diagnostics: Diagnostics,
) -> dict[str, object]:
    evaluated = evaluation.others(connection.properties)
    secret = set(evaluated.secret)
    texts: dict[str, object] = {}
    if len(evaluated.values) < len(connection.properties):
        # That something is missing is said, and nothing else that follows from it.
        return {}
    if connection.type:
        values = _typed(name, connection, evaluated.values, bool(secret), service, diagnostics)
        secret |= {key for key, value in values.items() if is_sensitive(value)}
        texts = {key: as_text(revealed(value)) for key, value in values.items() if value is not None}
    else:
        texts = {key: text for key, node in evaluated.values.items() if (text := _text(node)) is not None}
    return {key: Sensitive(text) if key in secret else text for key, text in texts.items()}


def _typed(
    name: str,
    connection: EnvironmentConnection,
    values: Mapping[str, Node],
    secret: bool,
    service: Service,
    diagnostics: Diagnostics,
) -> dict[str, object]:
    """The properties checked against their data type, with its defaults."""
    data_type = service.data_types.get(connection.type)
    if data_type is None or data_type.base:
        complex_types = [t.name for t in service.data_types.values() if not t.base]
        diagnostics.unknown("unknown-type", "data type", connection.type, connection.type_span, complex_types)
        return {}
    at = connection.span
    node = connection.node or MappingNode(at.source, at.line, at.column, at.end_line, at.end_column, [], {})
    keys = [key for key in node.keys if key.text in values]
    given = MappingNode(node.source, node.line, node.column, node.end_line, node.end_column, keys, dict(values))
    found = Diagnostics()
    reader = Values(service.data_types, found, literal=True)
    value = reader.read(given, Schema(connection.type), f'connection "{name}"')
    if secret and found.has_errors:
        diagnostics.error(
            "bad-value",
            f'the connection "{name}" does not fit its type {connection.type}',
            at,
            hint="it contains a secret, so no more is shown",
        )
    else:
        diagnostics.extend(found)
    marks = Marks(service.data_types)
    marked = marks.wrap(value, marks.by(Schema(connection.type), {}))
    if isinstance(marked, Sensitive):
        # The type as a whole is sensitive, and so is each of its fields.
        return {key: Sensitive(field) for key, field in value.items()} if isinstance(value, dict) else {}
    return dict(marked) if isinstance(marked, dict) else {}


# The user's part of an ensemble as one command reads it: evaluated with the variables and files there are now.

NO_ENVIRONMENT = Environment()


def evaluation_of(
    place: Place, diagnostics: Diagnostics, environment: Environment = NO_ENVIRONMENT
) -> UserPartEvaluation:
    """The evaluation of the values of an ensemble, in an environment."""
    seen = seen_variables()
    sources = Sources(ReadableFiles(place.layout.root, place.shown), seen, secrets_of(place.layout), diagnostics)
    root = place.layout.root
    names = TemplateNames(seen, environment.name, {"directory": str(root), "name": root.name})
    return UserPartEvaluation(sources, names, diagnostics)
