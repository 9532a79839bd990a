"""Merging: parts that a document includes from elsewhere; maps are merged deeply and lists appended, before anything
else is read.

A map with directives is a stack of layers: its own entries on top, then what each directive names, the last one first.
The value of a key is the stack of the values that the layers have there. Stacks are followed when needed, so a document
can name parts of itself; only a part that would contain itself is an error. Nodes keep their places, whichever file
they come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.app.inputs.sources import ReadableFiles, Unreadable
from ordito.base.diagnostics import Diagnostics, Related
from ordito.source.loader import MOST_DEPTH, load
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null, same_data

MOST_BYTES = 4 * 1024 * 1024
"""The largest file that can be included, in bytes."""
MOST_FILES = 100
MOST_NODES = 200_000
"""How many values a merged document may have."""


class MergedDocument(msgspec.Struct, frozen=True):
    """A document with everything that it includes, and the paths of the included files."""

    root: Node
    files: tuple[str, ...] = ()


class _Document:
    """A file that is read once: its folder, and its root node, None if it cannot be read."""

    __slots__ = ("folder", "root")

    def __init__(self, folder: Path, root: Node | None) -> None:
        self.folder = folder
        self.root = root


class _Layer(msgspec.Struct, frozen=True):
    """One node of a stack, and its file."""

    node: Node
    document: _Document


_Stack = list[_Layer]


def merged(root: Node, reach: ReadableFiles, diagnostics: Diagnostics) -> MergedDocument:
    """A document of the ensemble's directory with everything that it includes; after errors only a part of that."""
    if not has_directives(root):
        return MergedDocument(root)
    return _Merging(reach, diagnostics).run(root)


class _RefusedMerge(Exception):
    """A part includes itself, or there is too much; that has been reported."""


class _Merging:
    def __init__(self, reach: ReadableFiles, diagnostics: Diagnostics) -> None:
        self._reach = reach
        self._diagnostics = diagnostics
        self._documents: dict[Path, _Document] = {}
        self._files: list[str] = []
        self._stacks: dict[int, _Stack] = {}
        self._open: dict[int, Mapping] = {}
        self._within: dict[int, Node] = {}
        self._listed: set[int] = set()
        self._nodes = 0

    def run(self, root: Node) -> MergedDocument:
        document = _Document(self._reach.root, root)
        self._documents[(self._reach.root / "ensemble.yaml").resolve()] = document
        try:
            if isinstance(root, Mapping) and strategy_of(root, self._diagnostics):
                place = root.key(STRATEGY).span
                said = "nothing is below the whole document that it could be merged with"
                self._diagnostics.error("bad-merge", said, place, hint="remove it here")
            stack = self._stack(root, document)
            return MergedDocument(self._built(stack, 0) if stack else root, tuple(self._files))
        except _RefusedMerge:
            return MergedDocument(root, tuple(self._files))

    # ------------------------------------------------------------------------------------------------- stacks

    def _stack(self, node: Node, document: _Document) -> _Stack:
        """A node with the parts that its directives include below it."""
        if not isinstance(node, Mapping):
            return [_Layer(node, document)]
        known = self._stacks.get(id(node))
        if known is not None:
            return known
        directives = directives_of(node, self._diagnostics)
        if id(node) in self._open:
            self._refuse_circle(directives)
        self._open[id(node)] = node
        below: _Stack = []
        for directive in reversed(directives):
            below += self._target(directive, document)
        del self._open[id(node)]
        own = [_Layer(node, document)]
        if below and not isinstance(below[0].node, Mapping):
            # What is brought in is no map, and stands in the place of the whole.
            if any(not is_directive(key) for key in node.keys):
                key = next(key for key in node.keys if is_directive(key))
                said = f'"{key.text}" includes {below[0].node.kind}, which cannot be combined with other keys'
                self._diagnostics.error("bad-merge", said, key.span, hint="remove the other keys, or name a map")
            own = []
        stack = [*own, *(layer for layer in below if not own or isinstance(layer.node, Mapping))]
        self._stacks[id(node)] = stack
        return stack

    def _refuse_circle(self, directives: list[Directive]) -> None:
        around = [directive for node in self._open.values() for directive in self._directives(node)]
        names = " -> ".join(f"{d.key.text} ({d.key.span})" for d in around)
        place = directives[0].key.span if directives else None
        self._diagnostics.error(
            "bad-merge",
            f"what is included leads back to itself: {names}",
            place,
            hint="name a part that does not include this one",
        )
        raise _RefusedMerge

    def _directives(self, node: Mapping) -> Iterator[Directive]:
        yield from directives_of(node, Diagnostics())

    def _target(self, directive: Directive, document: _Document) -> _Stack:
        """What a directive names; nothing if that is missing, which is reported unless it may be missing."""
        if directive.file:
            found = self._document(directive, document)
            if found is None:
                return []
            document = found
        if document.root is None:
            return []
        stack = self._stack(document.root, document)
        for number, step in enumerate(directive.path):
            below = self._child(stack, step)
            if not below:
                if not directive.may_miss:
                    self._report_missing(directive, number, stack)
                return []
            stack = below
        return stack

    def _report_missing(self, directive: Directive, number: int, stack: _Stack) -> None:
        path = "/".join(("", *directive.path[:number]))
        known = {key.text for layer in stack if isinstance(layer.node, Mapping) for key in _own(layer.node)}
        hint = self._diagnostics.suggestion(directive.path[number], known, note="use +? for a part that may be missing")
        where = f' in "{path}"' if path else ""
        name = stack[0].node.source.name
        said = f'there is no "{directive.path[number]}"{where} of {name}'
        self._diagnostics.error("bad-merge", said, directive.key.span, hint=hint)

    def _document(self, directive: Directive, document: _Document) -> _Document | None:
        """The file of a directive, read once; None if it is missing or cannot be read."""
        try:
            path = self._reach.find(directive.file, document.folder)
            known = self._documents.get(path.resolve())
            if known is not None:
                return known
            content = self._reach.read(directive.file, document.folder, MOST_BYTES)
        except Unreadable as error:
            if not (error.missing and directive.may_miss):
                self._diagnostics.error("bad-merge", error.message, directive.key.span, hint=error.hint)
            return None
        self._files.append(str(path))
        if len(self._files) > MOST_FILES:
            said = f"more than {MOST_FILES} files are included"
            self._diagnostics.error("bad-merge", said, directive.key.span, hint="join some of them")
            raise _RefusedMerge
        loaded = load(self._reach.name(path), content, self._diagnostics)
        found = _Document(path.parent, loaded.root if loaded is not None else None)
        self._documents[path.resolve()] = found
        return found

    def _child(self, stack: _Stack, step: str) -> _Stack:
        """The stack of values at a key, or at an index of a list."""
        if stack and isinstance(stack[0].node, Sequence):
            items = list(self._items(stack))
            return items[int(step)] if step.isdecimal() and step.isascii() and int(step) < len(items) else []
        found: _Stack = []
        strategy = ""
        for key, value, document in _entries(stack, step):
            own = strategy_of(value, self._diagnostics)
            if own == "nullout":
                return found or [_Layer(_null(value), document)]
            if own == "whiteout" or (found and not self._goes_on(found, strategy or own, key)):
                break
            below = self._stack(value, document)
            if found and below and not _fit(found[0].node, below[0].node):
                break
            found += below
            strategy = strategy or own
        return found

    def _goes_on(self, found: _Stack, strategy: str, key: Scalar) -> bool:
        """Whether the layer below is merged with what was found above it."""
        if strategy == "error":
            self._diagnostics.error(
                "bad-merge",
                f'"{key.text}" must not be merged with anything, but is in both places',
                found[0].node.span,
                hint="give it another name in one of them, or remove +%: error",
                related=(Related("the other one is here", key.span),),
            )
        return strategy not in {"error", "replace"}

    # ------------------------------------------------------------------------------------------------ building

    def _built(self, stack: _Stack, depth: int) -> Node:
        """The node that results from a stack."""
        top = stack[0].node
        self._nodes += 1
        if self._nodes > MOST_NODES or depth > MOST_DEPTH:
            said = f"this has more than {MOST_NODES:,} values or {MOST_DEPTH} levels after merging"
            self._diagnostics.error("bad-merge", said, top.span, hint="include less")
            raise _RefusedMerge
        if isinstance(top, Scalar):
            return top
        self._enter(stack)
        if isinstance(top, Sequence):
            node: Node = self._list(top, stack, depth)
        else:
            node = self._map(top, stack, depth)
        for layer in stack:
            self._within.pop(id(layer.node), None)
        return node

    def _enter(self, stack: _Stack) -> None:
        for layer in stack:
            if id(layer.node) in self._within:
                said = "what is included would contain itself endlessly"
                self._diagnostics.error(
                    "bad-merge", said, layer.node.span, hint="name a part that does not contain this one"
                )
                raise _RefusedMerge
        for layer in stack:
            self._within[id(layer.node)] = layer.node

    def _map(self, top: Mapping, stack: _Stack, depth: int) -> Mapping:
        keys: list[Scalar] = []
        values: dict[str, Node] = {}
        seen: set[str] = set()
        for layer in stack:
            for key in _own(layer.node) if isinstance(layer.node, Mapping) else ():
                if key.text in seen:
                    continue
                seen.add(key.text)
                below = self._child(stack, key.text)
                if below:
                    keys.append(key)
                    values[key.text] = self._built(below, depth + 1)
        return Mapping(top.source, top.line, top.column, top.end_line, top.end_column, keys, values)

    def _list(self, top: Sequence, stack: _Stack, depth: int) -> Sequence:
        items: list[Node] = []
        for below in self._items(stack):
            item = self._built(below, depth + 1)
            if not any(same_data(item, known) for known in items):
                items.append(item)
        return Sequence(top.source, top.line, top.column, top.end_line, top.end_column, items)

    def _items(self, stack: _Stack) -> Iterator[_Stack]:
        """The items of lists, those of the lowest layer first; a directive that names a list gives its items."""
        for layer in reversed(stack):
            if not isinstance(layer.node, Sequence):
                continue
            if id(layer.node) in self._listed:
                self._refuse_inside(layer.node)
            self._listed.add(id(layer.node))
            for item in layer.node.items:
                below = self._stack(item, layer.document)
                if below and isinstance(below[0].node, Sequence) and below[0].node is not item:
                    yield from self._items(below)
                elif below:
                    yield below
            self._listed.discard(id(layer.node))

    def _refuse_inside(self, node: Node) -> None:
        said = "what is included would contain itself endlessly"
        self._diagnostics.error("bad-merge", said, node.span, hint="name a part that does not contain this one")
        raise _RefusedMerge


def _entries(stack: _Stack, step: str) -> Iterator[tuple[Scalar, Node, _Document]]:
    """The values of the layers of a stack at a key, the highest first."""
    for layer in stack:
        if isinstance(layer.node, Mapping) and step in layer.node.values:
            key = layer.node.key(step)
            if not is_directive(key):
                yield key, layer.node.values[step], layer.document


def _fit(upper: Node, lower: Node) -> bool:
    """Whether two values are merged (two maps, or two lists); else the upper one hides the lower."""
    return isinstance(upper, Mapping | Sequence) and type(upper) is type(lower)


def _own(node: Mapping) -> Iterator[Scalar]:
    """The keys of a map that are not directives."""
    return (key for key in node.keys if not is_directive(key))


def _null(at: Node) -> Scalar:
    return Scalar(at.source, at.line, at.column, at.end_line, at.end_column, "null", True)


# The keys that merge: `+[?][FILE][/PATH]` brings in what stands elsewhere, `+%` says how a map is merged.
#
# A key in quotes is never one of them.

STRATEGIES = ("merge", "replace", "whiteout", "nullout", "error")
STRATEGY = "+%"
FILES = (".yaml", ".yml", ".json")
"""The endings of file names in directives, which show where the path inside the file begins."""

AS_IT_IS = "write the key in quotes if it is not meant as a directive"


class Directive(msgspec.Struct, frozen=True):
    """One directive: the file that it names, "" for its own; the path of keys in that file; whether what it names
    ``may_miss``; and its key."""

    file: str
    path: tuple[str, ...]
    may_miss: bool
    key: Scalar


def is_directive(key: Scalar) -> bool:
    """Whether a key of a map belongs to merging."""
    return key.plain and key.text.startswith("+")


def has_directives(root: Node) -> bool:
    """Whether a document has any directive."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            if any(is_directive(key) for key in node.keys):
                return True
            waiting.extend(node.values.values())
        elif not isinstance(node, Scalar):
            waiting.extend(node.items)
    return False


def directives_of(node: Mapping, diagnostics: Diagnostics) -> list[Directive]:
    """The directives of a map, in written order; invalid ones are reported."""
    found = []
    for key, value in node.entries():
        if is_directive(key) and key.text != STRATEGY:
            directive = _directive(key, diagnostics)
            if directive is not None and not is_null(value):
                diagnostics.error(
                    "bad-merge",
                    f'"{key.text}" takes no value: write your own entries beside it',
                    value.span,
                    hint="leave it empty",
                )
            elif directive is not None:
                found.append(directive)
    return found


def strategy_of(node: Node, diagnostics: Diagnostics) -> str:
    """The merge strategy that a map sets, "" for none."""
    said = node.values.get(STRATEGY) if isinstance(node, Mapping) else None
    if said is None or not isinstance(node, Mapping) or not node.key(STRATEGY).plain:
        return ""
    text = said.text if isinstance(said, Scalar) else ""
    if text not in STRATEGIES:
        diagnostics.unknown("bad-merge", "way to merge", text, said.span, STRATEGIES)
        return ""
    return text


def _directive(key: Scalar, diagnostics: Diagnostics) -> Directive | None:
    text = key.text[1:]
    may_miss = text.startswith("?")
    parts = text.removeprefix("?").split("/")
    end = next((i for i, part in enumerate(parts) if part.endswith(FILES) and part not in FILES), None)
    if end is None and (parts[0] or len(parts) == 1):
        diagnostics.error(
            "bad-merge",
            f'"{key.text}" names neither a file (its name ends with {", ".join(FILES)}) nor a path that begins with /',
            key.span,
            hint=AS_IT_IS,
        )
        return None
    file = "/".join(parts[: end + 1]) if end is not None else ""
    path = parts[end + 1 :] if end is not None else parts[1:]
    # As in a JSON pointer (RFC 6901).
    steps = tuple(part.replace("~1", "/").replace("~0", "~") for part in path if part)
    return Directive(file, steps, may_miss, key)
