"""Gathering values of inputs from the ensemble, from earlier commands, and from this command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.app.inputs.environments import Environment
from ordito.app.inputs.evaluate import GivenInput, UserPartEvaluation, computable
from ordito.app.requests import GivenInputs
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.base.sensitive import is_sensitive, revealed
from ordito.base.span import SourceText
from ordito.model.schema import PropertyDefinition
from ordito.model.settings import SECRET
from ordito.source.nodes import NULLS, Node, Scalar, Sequence, is_null
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.package import load_file
from ordito.source.scalars import core_value
from ordito.work.records import GivenValue


class GatheredInputs(msgspec.Struct, frozen=True):
    """Values by input, before their service is known: nodes, texts and plain data."""

    environment: str = ""
    """The name of the environment, "" for none."""

    written: Mapping[str, Node] = {}
    """The values in the ensemble, as written."""

    kept: Mapping[str, GivenValue] = {}
    """The values of earlier commands that are still valid."""

    asked: Mapping[str, object] = {}
    """The values of this command."""

    values: Mapping[str, object] = {}
    """The resulting values."""

    secret: frozenset[str] = frozenset()
    """The names of those that come from a secret."""

    made_of: Mapping[str, frozenset[str]] = {}
    """For values of templates, the other inputs that they use."""


def gather_inputs(
    environment: Environment,
    remembered: Mapping[str, GivenValue],
    given: GivenInputs,
    evaluation: UserPartEvaluation,
    diagnostics: Diagnostics,
) -> GatheredInputs:
    """Gather values. A value of a command overrides the written one, as long as the written one is the same as at that
    time, and in the same environment. Overridden values are not evaluated."""
    written = environment.section.inputs
    asked = read_given(given, diagnostics)
    for name in given.forgotten:
        if name not in remembered:
            diagnostics.note(
                "nothing-forgotten",
                f'no earlier command has given input "{name}" a value that is remembered',
                None,
                hint=f"remembered are: {', '.join(sorted(remembered))}" if remembered else "",
            )
    kept = {
        name: value
        for name, value in remembered.items()
        if name not in asked
        and name not in given.forgotten
        and value.environment == environment.name
        and revealed(value.over) == plain(written.get(name))
    }
    known = {**{n: _seen(v.value) for n, v in kept.items()}, **{n: _seen(v) for n, v in asked.items()}}
    own = evaluation.inputs(written, known)
    values = {**own.values, **{name: value.value for name, value in kept.items()}, **asked}
    return GatheredInputs(environment.name, written, kept, asked, values, own.secret, own.made_of)


def with_secrets(
    gathered: GatheredInputs, declared: Mapping[str, PropertyDefinition], evaluation: UserPartEvaluation
) -> GatheredInputs:
    """The values with those of inputs that stand for secrets, as the functions of blueprints ask for them, and that
    nobody gives another value."""
    wanted = {
        name: definition.metadata[SECRET]
        for name, definition in declared.items()
        if SECRET in definition.metadata and name not in gathered.values
    }
    if not wanted:
        return gathered
    found = evaluation.others({name: _reference(secret) for name, secret in wanted.items()})
    values = {**gathered.values, **found.values}
    return msgspec.structs.replace(gathered, values=values, secret=gathered.secret | found.secret)


def _reference(secret: str) -> MappingNode:
    """The node that refers to a secret, as an ensemble would write it."""
    at = (SourceText("", ""), 1, 1, 1, 1)
    return MappingNode(*at, [Scalar(*at, "secret", True)], {"secret": Scalar(*at, secret, False)})


def _seen(value: object) -> GivenInput:
    """A given value, as templates see it."""
    if isinstance(value, str):
        # As if it were written without quotes, but no text becomes nothing.
        source = SourceText("", value)
        return GivenInput(computable(Scalar(source, 1, 1, 1, 1, value, value not in NULLS)))
    if isinstance(value, Scalar | Sequence | MappingNode):
        return GivenInput(computable(value))
    return GivenInput(revealed(value), is_sensitive(value))


def read_given(given: GivenInputs, diagnostics: Diagnostics) -> dict[str, object]:
    """The values of one command, by input: nodes, texts and plain data."""
    values: dict[str, object] = dict(given.values)
    for path in given.files:
        values.update(_read_file(path, diagnostics))
    values.update(given.texts)
    return values


def sendable(given: GivenInputs, diagnostics: Diagnostics) -> tuple[dict[str, object], dict[str, str]]:
    """The values of one command for another machine: plain data, and texts as on a command line. What a file writes
    without quotes is a text too, since only its type says what it means."""
    values: dict[str, object] = dict(given.values)
    texts: dict[str, str] = {}
    for name, node in read_given(GivenInputs(given.files), diagnostics).items():
        if isinstance(node, Scalar) and node.plain and not is_null(node):
            texts[name] = node.text
            values.pop(name, None)
        elif isinstance(node, Scalar | Sequence | MappingNode):
            values[name] = plain(node)
            texts.pop(name, None)
    values = {name: value for name, value in values.items() if name not in given.texts}
    return values, {**texts, **given.texts}


def _read_file(path: str, diagnostics: Diagnostics) -> Mapping[str, object]:
    before = len(diagnostics)
    document = load_file(path, diagnostics)
    hide_values(list(diagnostics)[before:])
    if document is None or is_null(document.root):
        return {}
    if not isinstance(document.root, MappingNode):
        diagnostics.error(
            "bad-value",
            f"a file of inputs must contain a map of names and values, not {document.root.kind}",
            document.root.span,
            hint="write one input on each line, as in: port: 8080",
        )
        return {}
    return document.root.values


def hide_values(found: Iterable[Diagnostic]) -> None:
    """Show only the names in a file with errors, because it is not known yet which values are sensitive."""
    for source in {id(f.span.source): f.span.source for f in found if f.span is not None}.values():
        for number, line in enumerate(source.lines, 1):
            indent = len(line) - len(line.lstrip())
            begin = indent if line.startswith("-", indent) else line.find(":") + 1 or indent
            begin += len(line[begin:]) - len(line[begin:].lstrip())
            source.hide((number, begin + 1), (number, len(line) + 1))


# Located values, as they stand in documents, for rooms that ask for the data only.


def plain(node: Node | None) -> object:
    """A node as plain data, by the YAML 1.2 core schema; None for nothing."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return core_value(node)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.values.items()}
