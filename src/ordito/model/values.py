"""Values in documents: read by their declared types, with every fault reported at its place (§3.3, §3.6.11, §3.6.13),
and completed with the defaults of definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Mapping as MappingType
from contextlib import contextmanager

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Placed, Span
from ordito.model.checking import Checker
from ordito.model.faults import KEY, Fault, Path
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import hide
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax.expressions import Call, Value

UNREADABLE = Schema("")
"""The schema of a definition whose type does not exist: its values are not checked."""
EXTENDED = {"description", "value"}


class Values:
    """Reads located values by their schemas. Where findings go may change from one value to the next."""

    def __init__(
        self, data_types: MappingType[str, DataType], diagnostics: Diagnostics, *, literal: bool = False
    ) -> None:
        self.data_types = data_types
        self.diagnostics = diagnostics
        self.checker = Checker(data_types, literal=literal)
        self.written = Written()
        """Where the properties of nodes, capabilities and relationships are written."""

    @contextmanager
    def collecting_calls(self) -> Iterator[list[Call]]:
        """Collect the calls in all values that are read inside the block."""
        outer, self.checker.calls = self.checker.calls, []
        yield self.checker.calls
        self.checker.calls = outer

    @contextmanager
    def without_functions(self) -> Iterator[None]:
        """Read data that may look like function calls, but never holds any, inside the block."""
        outer, self.checker.literal = self.checker.literal, True
        yield
        self.checker.literal = outer

    def base(self, schema: Schema) -> str:
        """The primitive type at the root of a schema's type, "" for complex types."""
        return self.checker.base(schema)

    def read(
        self,
        node: Node,
        schema: Schema,
        what: str,
        declared: Span | None = None,
        metadata: MappingType[str, str] | None = None,
    ) -> Value:
        """Read a value of a schema. Where it does not fit, an error is reported and None returned.

        ``what`` names the value in messages (``property "port"``), ``declared`` is where its type was declared. Nothing
        is shown of a value that ``metadata`` or the type marks as sensitive.
        """
        value = self.checker.read(node, schema, what, declared, metadata)
        self._report(node, node)
        return value

    def read_as(self, definition: PropertyDefinition, node: Node, what: str) -> Value:
        """Read a value of a definition."""
        return self.read(node, definition.schema, what, definition.span, definition.metadata)

    def check_as(self, definition: PropertyDefinition, value: Value, place: Placed, what: str) -> None:
        """Check a value that was read before, from ``place``, by the constraints of a definition and the rules of its
        type."""
        self.checker.check(value, definition, what)
        self._report(None, place)

    def fits(self, node: Node, schema: Schema) -> bool:
        """Whether a node can be read as a value of a schema; nothing is reported."""
        is_fitting = self.checker.fits(node, schema)
        self._hide(_Parts(node, node))
        return is_fitting

    def fields(
        self,
        node: Mapping | None,
        definitions: MappingType[str, PropertyDefinition],
        what: str,
        part: str,
        owner: Placed,
        astray: Collection[str] = (),
    ) -> dict[str, Value]:
        """Read the values that a map assigns to definitions, completed with defaults.

        ``part`` is the word for one of them ("property"), ``what`` the name of their owner, ``owner`` its place, for
        required values that are missing. Names that are written in the wrong place (``astray``, which was reported) do
        not count as missing.
        """
        before = self.checker.errors
        found = self.checker.fields(None if node is None else node.values, definitions, what, part, astray)
        is_sound = self.checker.errors == before
        self._report(node, owner)
        if part != "property":
            return found
        is_astray = astray is not definitions and not definitions.keys().isdisjoint(astray)
        if is_astray and node is None:
            found = dict(found)  # of its own, since nothing is wrong with the defaults that others have as well
        if node is not None or is_astray:
            self.written.remember(found, node, is_sound=is_sound and not is_astray)
        return found

    def missing(self, definition: PropertyDefinition, message: str, owner: Placed, hint: str = "") -> None:
        """Report that something required has no value."""
        related = (Related("declared here", definition.span),) if definition.span else ()
        hint = hint or f"give it a value of type {definition.schema.type}"
        message = f'{message} "{definition.name}"'
        self.diagnostics.error("missing-value", message, owner.span, hint=hint, related=related)

    def forget(self, definitions: MappingType[str, PropertyDefinition]) -> None:
        """Look at definitions again: their defaults have changed."""
        self.checker.forget(definitions)

    def attributes(
        self, node: Mapping | None, definitions: MappingType[str, PropertyDefinition], what: str
    ) -> dict[str, Value]:
        """Read the attribute values that a map assigns, completed with defaults (§3.6.13)."""
        if node is None:
            return self.checker.attributes(None, definitions, what)
        parts = {n: self._attribute_value(v, definitions[n]) if n in definitions else v for n, v in node.values.items()}
        found = self.checker.attributes(parts, definitions, what)
        if self.checker.faults or self.checker.secrets:
            at = (node.source, node.line, node.column, node.end_line, node.end_column)
            self._report(Mapping(*at, node.keys, parts), node)
        return found

    def _attribute_value(self, node: Node, definition: PropertyDefinition) -> Node:
        """The value in an attribute assignment, which may be written beside a description (§3.6.13.2.2). Where the
        attribute is a map or complex, what is written is plain data unless only the value in it fits."""
        if not isinstance(node, Mapping) or "value" not in node.values or not node.values.keys() <= EXTENDED:
            return node
        inner = node.values["value"]
        if self.base(definition.schema) not in {"map", ""} or definition.schema.type not in self.data_types:
            return inner
        if not self.fits(inner, definition.schema):
            return node
        if not self.fits(node, definition.schema):
            return inner
        self.diagnostics.warning(
            "ambiguous-value",
            f'attribute "{definition.name}": this may be a value with a description, or all of it may be the value',
            node.span,
            hint="it is taken as the value; to give a value with a description, move the description to a comment",
        )
        return node

    def _report(self, root: Node | None, owner: Placed) -> None:
        """Report what the checker has found of what stands at ``root``; of the whole at ``owner``."""
        if self.checker.faults or self.checker.secrets:
            parts = _Parts(root, owner)
            self._hide(parts)
            for fault in self.checker.taken():
                fault.report(self.diagnostics, parts.span(fault))

    def _hide(self, parts: _Parts) -> None:
        """Have no message show the values that must not be shown."""
        for path in self.checker.secrets:
            node = parts.at(path)
            if node is not None:
                hide(node)
        self.checker.secrets.clear()


class _Parts:
    """The parts of a located value, by their paths. ``owner`` stands for the whole where that is not written."""

    def __init__(self, root: Node | None, owner: Placed) -> None:
        self._root = root
        self._owner = owner
        self._keys: dict[int, dict[str, Scalar]] = {}

    def at(self, path: Path | None) -> Node | None:
        """The part to which a path leads, or the last on the way there that is written."""
        current = self._root
        for step in path.steps() if path is not None else ():
            inner: Node | None = None
            if isinstance(current, Mapping):
                inner = current.values.get(str(step.step))
            elif isinstance(current, Sequence) and isinstance(step.step, int):
                inner = current.items[step.step]
            if inner is None:
                break
            current = inner
        return current

    def span(self, fault: Fault) -> Span:
        """Where a fault is."""
        path = fault.path
        if path is None:
            return self._owner.span
        if not fault.at_name and path.part != KEY:
            return (self.at(path) or self._owner).span
        holder = self.at(path.outer)
        if isinstance(holder, Mapping) and path.step in holder.values:
            if id(holder) not in self._keys:
                self._keys[id(holder)] = {key.text: key for key in holder.keys}
            return self._keys[id(holder)][str(path.step)].span
        return (holder or self._owner).span


# Where values that have been read are written.


class Written:
    """The map from which each set of properties was read, and whether it had no errors. Properties that consist of
    defaults only have no map, and no errors."""

    def __init__(self) -> None:
        # The values are kept, so that no other ones can come to lie where they were.
        self._of: dict[int, tuple[MappingType[str, Value], Mapping | None, bool]] = {}

    def remember(self, values: MappingType[str, Value], node: Mapping | None, *, is_sound: bool) -> None:
        """Note where values were read from; None for those that are written in the wrong place."""
        self._of[id(values)] = values, node, is_sound

    def of(self, values: MappingType[str, Value]) -> tuple[Mapping | None, bool]:
        """The map that values were read from, if any, and whether all of them were right."""
        found = self._of.get(id(values))
        return (found[1], found[2]) if found is not None else (None, True)


def is_bundled(span: Span | None) -> bool:
    """Whether something is written in a profile that comes with Ordito."""
    return span is None or span.source.name.startswith(PROFILE_SCHEME)
