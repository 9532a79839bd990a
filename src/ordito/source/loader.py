"""The located loader: from bytes to a tree of located nodes, on libyaml's event stream.

Nothing is guessed and nothing is executed: tags are ignored, scalars keep their text. Duplicate keys, keys that are
not scalars, recursive aliases, aliases that would blow the document up, too deep nesting and a second document are
errors with a place. The tree is built with a stack of its own, so the nesting of the input costs no recursion.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import yaml
from yaml._yaml import CParser

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import SourceText, Span
from ordito.source.nodes import Mapping, Node, Scalar, Sequence

MOST_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 200
MOST_ALIASED_NODES = 1_000_000
MERGE = "<<"


class Document:
    """One loaded file: its text and the root of its tree."""

    __slots__ = ("root", "source")

    def __init__(self, source: SourceText, root: Node) -> None:
        self.source = source
        self.root = root


class _Refused(Exception):
    def __init__(self, code: str, message: str, span: Span, hint: str = "", related: tuple[Related, ...] = ()) -> None:
        super().__init__(message)
        self.report = (code, message, span, hint, related)


def load(name: str, data: bytes, diagnostics: Diagnostics) -> Document | None:
    """Load one YAML document from bytes; None when it cannot be read, with the reason in ``diagnostics``.

    ``name`` is the file name shown to people.
    """
    text = _decode(name, data, diagnostics)
    if text is None:
        return None
    source = SourceText(name, text)
    try:
        root = _build(source)
    except _Refused as refusal:
        code, message, span, hint, related = refusal.report
        diagnostics.error(code, message, span, hint=hint, related=related)
        return None
    except yaml.MarkedYAMLError as error:
        _report_syntax(error, source, diagnostics)
        return None
    except yaml.reader.ReaderError as error:
        _report_character(error, source, diagnostics)
        return None
    if root is None:
        diagnostics.error("empty-document", "the file holds no YAML document", Span(source, 1, 1, 1, 2))
        return None
    return Document(source, root)


def _decode(name: str, data: bytes, diagnostics: Diagnostics) -> str | None:
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
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        readable = SourceText(name, data.decode("utf-8", errors="replace"))
        diagnostics.error(
            "encoding",
            f"byte 0x{data[error.start]:02x} is not valid UTF-8",
            Span(readable, line, column, line, column + 1),
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
    """What aliases may refer to, and how much they have been used: the guard against alias bombs."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.sizes: dict[str, int] = {}
        self.open: set[str] = set()
        self.expanded = 0

    def resolve(self, event: Any, source: SourceText) -> Node:
        name = event.anchor
        span = _span(event, source)
        if name in self.open:
            raise _Refused("recursive-alias", f'"*{name}" stands inside the node that it names', span)
        if name not in self.nodes:
            raise _Refused("unknown-alias", f'no anchor "&{name}" comes before this alias', span)
        self.expanded += self.sizes[name]
        if self.expanded > MOST_ALIASED_NODES:
            raise _Refused(
                "alias-bomb",
                f"aliases expand this document by more than {MOST_ALIASED_NODES:,} nodes",
                span,
                hint="write the repeated parts as types or separate templates",
            )
        return self.nodes[name]


def _build(source: SourceText) -> Node | None:
    parser = CParser(source.text)
    try:
        return _build_tree(parser.get_event, source)
    finally:
        parser.dispose()


def _build_tree(get_event: Any, source: SourceText) -> Node | None:  # noqa: PLR0912, PLR0915
    # One loop without helper calls for scalars: they are nine tenths of all events, and reading is the cost of
    # validation.
    scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
    sequence_start, sequence_end = yaml.SequenceStartEvent, yaml.SequenceEndEvent
    mapping_start, mapping_end = yaml.MappingStartEvent, yaml.MappingEndEvent
    anchors = _Anchors()
    root: Node | None = None
    documents = 0
    count = 0
    stack: list[tuple[Sequence | Mapping, Scalar | None, str | None, int]] = []
    container: Sequence | Mapping | None = None
    pending: Scalar | None = None
    anchor: str | None = None
    started = 0
    while True:
        event = get_event()
        kind = type(event)
        if kind is scalar_event:
            start, end = event.start_mark, event.end_mark
            node: Node = Scalar(
                source, start.line + 1, start.column + 1, end.line + 1, end.column + 1, event.value, not event.style
            )
            count += 1
            if event.anchor is not None:
                anchors.nodes[event.anchor] = node
                anchors.sizes[event.anchor] = 1
        elif kind is mapping_start or kind is sequence_start:
            if len(stack) >= MOST_DEPTH:
                raise _Refused("too-deep", f"nested deeper than {MOST_DEPTH} levels", _span(event, source))
            start = event.start_mark
            line, column = start.line + 1, start.column + 1
            if kind is mapping_start:
                node = Mapping(source, line, column, line, column + 1, [], {})
            else:
                node = Sequence(source, line, column, line, column + 1, [])
            count += 1
            stack.append((container, pending, anchor, started))  # type: ignore[arg-type]
            container, pending, anchor, started = node, None, event.anchor, count
            if anchor is not None:
                anchors.open.add(anchor)
            continue
        elif kind is mapping_end or kind is sequence_end:
            assert container is not None
            node = container
            node.end_line, node.end_column = event.end_mark.line + 1, event.end_mark.column + 1
            if kind is mapping_end and MERGE in container.values:  # type: ignore[union-attr]
                _merge(node)  # type: ignore[arg-type]
            if anchor is not None:
                anchors.open.discard(anchor)
                anchors.nodes[anchor] = node
                anchors.sizes[anchor] = count - started + 1
            container, pending, anchor, started = stack.pop()
        elif kind is alias_event:
            node = anchors.resolve(event, source)
            count += anchors.sizes[event.anchor]
        elif kind is yaml.DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise _Refused(
                    "second-document",
                    "a second YAML document begins here; a service template is a single one",
                    _span(event, source),
                    hint="remove everything from this line on, or put it into a file of its own",
                )
            continue
        elif kind is yaml.StreamEndEvent:
            return root
        else:
            continue

        if container is None:
            root = node
        elif type(container) is Sequence:
            container.items.append(node)
        elif pending is None:
            if type(node) is not Scalar:
                raise _Refused(
                    "complex-key",
                    f"{node.kind} cannot be the key of a map here",
                    node.span,
                    hint="write a plain name before the colon; quote text that holds special characters",
                )
            pending = node
        else:
            values = container.values  # type: ignore[union-attr]
            name = pending.text
            if name in values:
                first = container.key(name)  # type: ignore[union-attr]
                raise _Refused(
                    "duplicate-key",
                    f'"{name}" is given twice in this map',
                    pending.span,
                    hint="keep one of them, or give them different names",
                    related=(Related("first given here", first.span),),
                )
            values[name] = node
            container.keys.append(pending)  # type: ignore[union-attr]
            pending = None


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


def _report_syntax(error: yaml.MarkedYAMLError, source: SourceText, diagnostics: Diagnostics) -> None:
    mark = error.problem_mark or error.context_mark
    span = _at(source, mark.line, mark.column) if mark else Span(source, 1, 1, 1, 2)
    problem = error.problem or error.context or "not valid YAML"
    related: tuple[Related, ...] = ()
    hint = ""
    opening = BRACKETS.get(error.context or "")
    if opening is not None and error.context_mark is not None:
        begin = _at(source, error.context_mark.line, error.context_mark.column)
        what, bracket = opening
        related = (Related(f'the "{bracket[0]}" is opened here', begin),)
        problem = f'{what} is not closed: expected "," or "{bracket[1]}"'
        hint = f'close it with "{bracket[1]}" before this place'
    elif error.context_mark is not None and error.problem_mark is not None:
        begin = _at(source, error.context_mark.line, error.context_mark.column)
        if (begin.line, begin.column) != (span.line, span.column):
            related = (Related(error.context or "it begins here", begin),)
    line = source.line(span.line)
    if not hint:
        if re.match(r" *\t", line):
            hint = "indent with spaces; YAML allows no tab there"
        elif "mapping values are not allowed" in problem:
            problem = "a second colon on this line makes it unreadable"
            hint = "quote the text if the colon belongs to it, or check the indentation of this line"
        elif "could not find expected ':'" in problem:
            hint = "write a colon and a space after the key"
        elif "did not find expected key" in problem:
            hint = "check the indentation of this line against the lines above it"
    diagnostics.error("yaml-syntax", problem, span, hint=hint, related=related)


BRACKETS = {
    "while parsing a flow sequence": ("the list", "[]"),
    "while parsing a flow mapping": ("the map", "{}"),
}


def _at(source: SourceText, line: int, column: int) -> Span:
    """The span of one character; at the end of the text, of its last character that is not blank."""
    number = min(line + 1, max(len(source.lines), 1))
    if number <= line:
        column = len(source.line(number))
    while number > 1 and not source.line(number).strip():
        number -= 1
        column = len(source.line(number))
    return Span(source, number, column + 1, number, column + 2)


def _report_character(error: yaml.reader.ReaderError, source: SourceText, diagnostics: Diagnostics) -> None:
    match = UNPRINTABLE.search(source.text)
    position = match.start() if match else 0
    before = source.text[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    shown = f"U+{ord(source.text[position]):04X}" if match else str(error.reason)
    diagnostics.error(
        "yaml-syntax",
        f"the character {shown} is not allowed in YAML",
        Span(source, line, column, line, column + 1),
        hint="remove it, or write it as an escape in a double-quoted text",
    )


UNPRINTABLE = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
