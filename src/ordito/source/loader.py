"""The loader: from bytes to a tree of YAML nodes with their places, built from the events of libyaml.

Nothing is guessed and nothing is executed: tags are ignored, scalars keep their text. Duplicate keys, keys that are
not scalars, recursive aliases, aliases that make the document too large, too deep nesting and a second document are
errors with a place. The tree is built with an explicit stack, so deep documents need no recursion.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from yaml._yaml import CParser

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import SourceText, Span
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.tree import place
from ordito.source.yaml_errors import report_character

if TYPE_CHECKING:
    from ordito.source.mended import Mended

MOST_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 100
"""How deep lists and maps may be nested, with aliases followed, so that readers of the tree may recurse."""
MOST_ALIASED_NODES = 1_000_000
MOST_REPAIRS = 10
MOST_REREAD = 32 * 1024 * 1024
"""How many characters are read again at most to find all faults of a text that is not valid YAML."""
MERGE = "<<"


class Document:
    """One loaded file: its text and the root of its tree."""

    __slots__ = ("root", "source")

    def __init__(self, source: SourceText, root: Node) -> None:
        self.source = source
        self.root = root


class _RefusedText(Exception):
    def __init__(self, code: str, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.report = (code, message, span, hint)


_PAIR = re.compile(rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
"""A character that JSON writes as a surrogate pair (RFC 8259 section 7), which YAML writes in another way."""


def _joined(pair: re.Match[bytes]) -> bytes:
    number = 0x10000 + ((int(pair[2], 16) - 0xD800) << 10) + int(pair[3], 16) - 0xDC00
    return pair[1] + b"\\U%08X" % number


def load(
    name: str, data: bytes, diagnostics: Diagnostics, note: str = "", *, last_wins: bool = False
) -> Document | None:
    """Load one YAML document from bytes; None, with the reason in ``diagnostics``, where it cannot be read.

    ``name`` is the name of the file in messages, ``note`` is added to the places in it. A document with a fault that
    leaves its structure clear (a bracket that is not closed, a duplicate key) is returned nevertheless, so that all its
    faults can be reported together. Of keys that are given twice the last counts with ``last_wins``, with a warning.
    """
    if name.endswith(".json"):
        data = _PAIR.sub(_joined, data)
    text = decode(name, data, diagnostics)
    if text is None:
        return None
    source = SourceText(name, text, note)
    try:
        root = _build(source, diagnostics, last_wins=last_wins)
    except _RefusedText as refusal:
        code, message, span, hint = refusal.report
        diagnostics.error(code, message, span, hint=hint)
        return None
    except yaml.reader.ReaderError as error:
        report_character(error, source, diagnostics)
        return None
    return Document(source, root) if root is not None else None


def read_again(span: Span) -> Node | None:
    """The node at a span, read from that text alone; None where that is not a document. Its lines count from 1 at the
    beginning of the span, its columns as in the whole text."""
    lines = span.source.lines[span.line - 1 : span.end_line]
    if not lines:
        return None
    if len(lines) == span.end_line - span.line + 1:
        lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    parser = CParser("\n".join(lines))
    try:
        return _build_tree(parser.get_event, span.source, Diagnostics())
    except (yaml.YAMLError, _RefusedText):
        return None
    finally:
        parser.dispose()


def decode(name: str, data: bytes, diagnostics: Diagnostics) -> str | None:
    if len(data) > MOST_BYTES:
        limit = MOST_BYTES // (1024 * 1024)
        diagnostics.error(
            "too-large",
            f"{name} has {len(data):,} bytes; at most {limit} MiB are read",
            Span(SourceText(name, ""), 1, 1, 1, 1),
            hint="split the service template into several files with imports",
        )
        return None
    for mark, encoding in ENCODING_MARKS:
        if data.startswith(mark):
            diagnostics.error(
                "encoding",
                f"the file is encoded as {encoding}; TOSCA files are UTF-8",
                Span(SourceText(name, ""), 1, 1, 1, 1),
                hint=f"convert it, for example with: iconv -f {encoding} -t UTF-8",
            )
            return None
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        readable = SourceText(name, data.decode("utf-8", errors="replace"))
        before = data[: error.start].decode("utf-8")
        diagnostics.error(
            "encoding",
            f"byte 0x{data[error.start]:02x} is not valid UTF-8",
            readable.span_at(len(before)),
            hint="save the file as UTF-8",
        )
        return None


ENCODING_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class _Anchors:
    """What aliases may refer to, and how much they have been used: the guard against alias bombs.

    For each anchor: its node, how many nodes that is, aliases in it followed, and how deep it is nested.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.sizes: dict[str, int] = {}
        self.heights: dict[str, int] = {}
        self.open: set[str] = set()
        self.expanded = 0

    def add(self, name: str, node: Node, size: int, height: int) -> None:
        self.open.discard(name)
        self.nodes[name], self.sizes[name], self.heights[name] = node, size, height

    def resolve(self, event: Any, source: SourceText, depth: int) -> Node:
        name = event.anchor
        span = _span(event, source)
        if name in self.open:
            raise _RefusedText("recursive-alias", f'"*{name}" stands inside the node that it names', span)
        if name not in self.nodes:
            raise _RefusedText("unknown-alias", f'no anchor "&{name}" comes before this alias', span)
        if depth + self.heights[name] > MOST_DEPTH:
            raise _too_deep(span)
        self.expanded += self.sizes[name]
        if self.expanded > MOST_ALIASED_NODES:
            raise _RefusedText(
                "alias-bomb",
                f"aliases expand this document by more than {MOST_ALIASED_NODES:,} nodes",
                span,
                hint="write the repeated parts as types or separate templates",
            )
        return self.nodes[name]


def _too_deep(span: Span) -> _RefusedText:
    return _RefusedText(
        "too-deep", f"nested deeper than {MOST_DEPTH} levels", span, hint="split it into types or separate templates"
    )


def _build(source: SourceText, diagnostics: Diagnostics, *, last_wins: bool) -> Node | None:
    """The tree of a text. What was never closed is reported, and closed where it probably should have been."""
    mended: Mended | None = None
    text = source.text
    for _ in range(max(1, min(MOST_REPAIRS, MOST_REREAD // max(len(text), 1)))):
        parser = CParser(text)
        try:
            root = _build_tree(parser.get_event, source, diagnostics, last_wins=last_wins)
            if mended is not None and root is not None:
                mended.finish(root)
            return root
        except yaml.MarkedYAMLError as error:
            # Needed for broken texts only.
            from ordito.source.mended import Mended

            mended = Mended(source, diagnostics) if mended is None else mended
            if not mended.mend(error):
                return None
            text = mended.text
        finally:
            parser.dispose()
    return None


def _build_tree(  # noqa: C901, PLR0912, PLR0915
    get_event: Any, source: SourceText, diagnostics: Diagnostics, *, last_wins: bool = False
) -> Node | None:
    # One loop without helper calls for scalars: they are nine tenths of all events, and reading is the cost of
    # validation.
    scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
    sequence_start, sequence_end = yaml.SequenceStartEvent, yaml.SequenceEndEvent
    mapping_start, mapping_end = yaml.MappingStartEvent, yaml.MappingEndEvent
    anchors = _Anchors()
    root: Node | None = None
    documents = 0
    count = 0
    stack: list[_Frame] = []
    container: Sequence | Mapping | None = None
    items: list[Node] | None = None
    values: dict[str, Node] | None = None
    pending: Scalar | None = None
    anchor: str | None = None
    started = height = 0
    keys: dict[str, str] = {}
    """Each key once: a document has few, which are looked up in many tables."""
    row, line = 0, 1
    """The last line met, counted from 0 and from 1. The nodes of a line share its number: there are very many."""
    while True:
        event = get_event()
        kind = type(event)
        if kind is scalar_event:
            start, end = event.start_mark, event.end_mark
            text = event.value
            is_key = pending is None and values is not None
            if is_key:
                text = keys.setdefault(text, text)
            number = start.line
            if number != row:
                row, line = number, number + 1
            number = end.line
            end_line = line if number == row else number + 1
            scalar = Scalar(source, line, start.column + 1, end_line, end.column + 1, text, not event.style)
            count += 1
            if event.anchor is not None:
                anchors.add(event.anchor, scalar, 1, 0)
            if is_key:
                pending = scalar
                continue
            node: Node = scalar
        elif kind is mapping_start or kind is sequence_start:
            if len(stack) >= MOST_DEPTH:
                raise _too_deep(_span(event, source))
            start = event.start_mark
            number = start.line
            if number != row:
                row, line = number, number + 1
            column = start.column + 1
            count += 1
            stack.append((container, items, values, pending, anchor, started, height))
            if kind is mapping_start:
                items, values = None, {}
                container = Mapping(source, line, column, line, column + 1, [], values)
            else:
                items, values = [], None
                container = Sequence(source, line, column, line, column + 1, items)
            pending, anchor, started, height = None, event.anchor, count, 0
            if anchor is not None:
                anchors.open.add(anchor)
            continue
        elif kind is mapping_end or kind is sequence_end:
            assert container is not None
            node = container
            end = event.end_mark
            number = end.line
            if number != row:
                row, line = number, number + 1
            node.end_line, node.end_column = line, end.column + 1
            if values is not None and MERGE in values:
                _merge(node)  # type: ignore[arg-type]
            inner = height + 1
            if anchor is not None:
                anchors.add(anchor, node, count - started + 1, inner)
            container, items, values, pending, anchor, started, height = stack.pop()
            if inner > height:  # noqa: PLR1730  (a call for every map and list would cost more)
                height = inner
        elif kind is alias_event:
            node = anchors.resolve(event, source, len(stack))
            count += anchors.sizes[event.anchor]
            height = max(height, anchors.heights[event.anchor])
        elif kind is yaml.DocumentStartEvent:
            documents += 1
            if documents > 1:
                diagnostics.error(
                    "second-document",
                    "a second YAML document begins here; a service template is a single one",
                    _span(event, source),
                    hint="remove everything from this line on, or put it into a separate file",
                )
                return root
            continue
        elif kind is yaml.StreamEndEvent:
            if root is None:
                diagnostics.error("empty-document", "the file holds no YAML document", place(source.name))
            return root
        else:
            continue

        if items is not None:
            items.append(node)
        elif values is None:
            root = node
        elif pending is None:
            pending = node if type(node) is Scalar else _refused_key(node, diagnostics)
        elif pending is NO_KEY:
            pending = None
        else:
            name = pending.text
            if name not in values:
                values[name] = node
                container.keys.append(pending)  # type: ignore[union-attr]
            elif last_wins:
                _take_last(pending, node, container, diagnostics)  # type: ignore[arg-type]
            else:
                _report_duplicate(pending, container, diagnostics)  # type: ignore[arg-type]
            pending = None


_Frame: TypeAlias = tuple[
    Sequence | Mapping | None, list[Node] | None, dict[str, Node] | None, Scalar | None, str | None, int, int
]
"""What is put aside while a list or map is read: the one around it, its entries so far, and how it is closed."""

NO_KEY = Scalar(SourceText("", ""), 1, 1, 1, 1, "", False)
"""Takes the place of a key that was refused; its value is left out."""


def _refused_key(node: Node, diagnostics: Diagnostics) -> Scalar:
    diagnostics.error(
        "complex-key",
        f"{node.kind} cannot be the key of a map here",
        node.span,
        hint="write a plain name before the colon; quote text that holds special characters",
    )
    return NO_KEY


def _report_duplicate(key: Scalar, mapping: Mapping, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "duplicate-key",
        f'"{key.text}" is given twice in this map',
        key.span,
        hint="write << once, with a list of the maps to merge" if key.text == MERGE else "keep one of them",
        related=(Related("first given here", mapping.key(key.text).span),),
    )


def _take_last(key: Scalar, value: Node, mapping: Mapping, diagnostics: Diagnostics) -> None:
    """Take the later one of two entries with the same key."""
    before = mapping.key(key.text)
    diagnostics.warning(
        "duplicate-key",
        f'"{key.text}" is given twice in this map, and the last one counts',
        key.span,
        hint="keep one of them",
        related=(Related("first given here", before.span),),
    )
    mapping.keys[mapping.keys.index(before)] = key
    mapping.values[key.text] = value


def _merge(mapping: Mapping) -> None:
    """Resolve YAML merge keys: what the merged maps hold and the map itself does not."""
    position = mapping.keys.index(mapping.key(MERGE))
    value = mapping.values[MERGE]
    parts = value.items if isinstance(value, Sequence) else [value]
    if not mapping.keys[position].plain or not all(isinstance(p, Mapping) for p in parts):
        return
    del mapping.keys[position]
    del mapping.values[MERGE]
    for part in parts:
        assert isinstance(part, Mapping)
        for key, node in part.entries():
            if key.text not in mapping.values:
                mapping.values[key.text] = node
                mapping.keys.append(key)


def _span(event: Any, source: SourceText) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(source, start.line + 1, start.column + 1, end.line + 1, max(end.column + 1, start.column + 2))
