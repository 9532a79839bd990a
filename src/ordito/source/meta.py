"""`TOSCA-Metadata/TOSCA.meta`: what an archive says about itself (§6.2).

Blocks of ``Key: value`` lines are separated by empty lines; a value continues in the next line where that begins with a
blank. Only the first block, block_0, has a meaning for Ordito; the others belong to the author of the archive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics, Related, suggestion
from ordito.base.span import SourceText, Span
from ordito.source.loader import decode

META = "TOSCA-Metadata/TOSCA.meta"

FILE_VERSION = "TOSCA-Meta-File-Version"
CSAR_VERSION = "CSAR-Version"
CREATED_BY = "Created-By"
ENTRY = "Entry-Definitions"
OTHERS = "Other-Definitions"
KNOWN = (FILE_VERSION, CSAR_VERSION, CREATED_BY, ENTRY, OTHERS)
VERSION = "1.1"
OLD_VERSION = "1.0"
RESERVED = ("TOSCA", "tosca")

WORD = re.compile(r'"(?P<quoted>[^"]*)"|(?P<open>"[^"]*)|(?P<plain>[^\s"]+)')


class Piece(msgspec.Struct, frozen=True, eq=False):
    """A text with its place."""

    text: str
    span: Span


class MetaEntry(msgspec.Struct, frozen=True, eq=False):
    """A key with the lines of its value."""

    key: Piece
    lines: list[Piece]

    @property
    def value(self) -> str:
        """The value, its lines joined by blanks."""
        return " ".join(line.text for line in self.lines if line.text)

    @property
    def span(self) -> Span:
        """The place of the value, or of the key where there is none."""
        return next((line.span for line in self.lines if line.text), self.key.span)


class Meta(msgspec.Struct, frozen=True, eq=False):
    """The content of TOSCA.meta. Files are relative to the root of the archive."""

    entry: Piece
    """The file of Entry-Definitions."""
    others: tuple[Piece, ...]
    """The files of Other-Definitions."""
    block: Mapping[str, str]
    """The texts of block_0, by their keys."""
    further: tuple[Mapping[str, str], ...] = ()
    """The texts of each further block."""


def read_meta(name: str, data: bytes, diagnostics: Diagnostics) -> Meta | None:
    """Read a TOSCA.meta; ``name`` is its name in messages. None, with the reasons, where it names no entry."""
    text = decode(name, data, diagnostics)
    if text is None:
        return None
    source = SourceText(name, text)
    blocks = _blocks(source, diagnostics)
    block = blocks[0] if blocks else {}
    _check_versions(block, diagnostics)
    _check_keys(blocks, diagnostics)
    _check_missing(block, source, diagnostics)
    entry = next(iter(_files(block[ENTRY], diagnostics)), None) if ENTRY in block else None
    if entry is None:
        return None
    others = _files(block[OTHERS], diagnostics) if OTHERS in block else []
    texts = [{key: entry.value for key, entry in each.items()} for each in blocks]
    return Meta(entry, tuple(others), texts[0], tuple(texts[1:]))


def _blocks(source: SourceText, diagnostics: Diagnostics) -> list[dict[str, MetaEntry]]:
    blocks: list[dict[str, MetaEntry]] = []
    block: dict[str, MetaEntry] | None = None
    key: Piece | None = None
    for number, line in enumerate(source.lines, start=1):
        if not line.strip():
            block, key = None, None
            continue
        if line[0] in " \t":
            if block is not None and key is not None:
                entry = block[key.text]
                if entry.key is key:
                    entry.lines.append(_piece(source, number, line, 0))
                continue
            if block is not None:
                continue  # It goes on with a line that was reported.
        if block is None:
            block = {}
            blocks.append(block)
        key = _read_line(source, number, line, block, diagnostics)
    return blocks


def _read_line(
    source: SourceText, number: int, line: str, block: dict[str, MetaEntry], diagnostics: Diagnostics
) -> Piece | None:
    """Read a line into a block; gives its key, None where it has none."""
    begin = len(line) - len(line.lstrip())
    name, colon, _ = line.partition(":")
    if begin or not name or not colon:
        diagnostics.error(
            "wrong-form",
            "this line has no key and is not indented, so it belongs to no value"
            if not begin
            else "there is no key above that this line could belong to",
            Span(source, number, begin + 1, number, len(line) + 1),
            hint='write "Key: value"; a line that continues the value above it begins with a blank',
        )
        return None
    key = Piece(name.rstrip(), Span(source, number, 1, number, len(name.rstrip()) + 1))
    earlier = block.get(key.text)
    if earlier is not None:
        diagnostics.error(
            "duplicate-key",
            f'"{key.text}" is given twice in this block',
            key.span,
            hint="keep one of them; a value continues in lines that begin with a blank",
            related=(Related("first given here", earlier.key.span),),
        )
        return key
    block[key.text] = MetaEntry(key, [_piece(source, number, line, len(name) + 1)])
    return key


def _piece(source: SourceText, number: int, line: str, begin: int) -> Piece:
    text = line[begin:].strip()
    column = line.index(text, begin) + 1
    return Piece(text, Span(source, number, column, number, column + max(len(text), 1)))


def _check_versions(block: Mapping[str, MetaEntry], diagnostics: Diagnostics) -> None:
    for key in (FILE_VERSION, CSAR_VERSION):
        entry = block.get(key)
        if entry is None or not entry.value or entry.value == VERSION:
            continue
        if entry.value == OLD_VERSION:
            diagnostics.warning(
                "deprecated",
                f"{key} {OLD_VERSION} is the version of older archives",
                entry.span,
                hint=f"write {VERSION}",
            )
        else:
            diagnostics.error(
                "bad-value", f'{key} must be {VERSION}, not "{entry.value}"', entry.span, hint=f"write {VERSION}"
            )


def _check_keys(blocks: Iterable[Mapping[str, MetaEntry]], diagnostics: Diagnostics) -> None:
    for number, block in enumerate(blocks):
        for name, entry in block.items():
            if name in KNOWN and (number == 0 or name != FILE_VERSION):
                continue
            if name.startswith(RESERVED):
                diagnostics.warning(
                    "reserved-name",
                    f'keys that begin with "{RESERVED[0]}" or "{RESERVED[1]}" are reserved for the specification',
                    entry.key.span,
                    hint="begin it with the name of your organisation",
                )
            elif number == 0:
                diagnostics.warning(
                    "unknown-keyname",
                    f'"{name}" has no meaning in the first block of TOSCA.meta',
                    entry.key.span,
                    hint=suggestion(name, KNOWN, note="your own keys belong in a block below an empty line"),
                )


def _check_missing(block: Mapping[str, MetaEntry], source: SourceText, diagnostics: Diagnostics) -> None:
    begin = min((e.key.span.line for e in block.values()), default=1)
    for key in (FILE_VERSION, CSAR_VERSION, ENTRY, CREATED_BY):
        entry = block.get(key)
        if entry is not None and entry.value:
            continue
        report = diagnostics.warning if key == CREATED_BY else diagnostics.error
        values = {ENTRY: "definitions/service.yaml", CREATED_BY: "the name of its author"}
        report(
            "missing-keyname",
            f'the first block of TOSCA.meta lacks "{key}"' if entry is None else f'"{key}" has no value',
            entry.key.span if entry is not None else Span(source, begin, 1, begin, 2),
            hint=f"add {key}: {values.get(key, VERSION)}",
        )


def _files(entry: MetaEntry, diagnostics: Diagnostics) -> list[Piece]:
    """The names of files in a value: separated by blanks, those with blanks in them in double quotes."""
    one = entry.key.text == ENTRY
    found = []
    for line in entry.lines:
        if one and '"' not in line.text:
            # There is only one name, so a blank in it needs no quotes.
            found += [line] if line.text else []
            continue
        for word in WORD.finditer(line.text):
            at = line.span.column + word.start()
            span = Span(line.span.source, line.span.line, at, line.span.line, at + len(word[0]))
            if word["open"] is not None:
                diagnostics.error("wrong-form", "this quotation mark is not closed", span, hint='write " at its end')
            else:
                found.append(Piece(word["quoted"] if word["quoted"] is not None else word["plain"], span))
    return found


def meta_text(entry: str, others: Iterable[str], author: str) -> bytes:
    """The text of a TOSCA.meta (§6.2)."""
    lines = [
        f"{FILE_VERSION}: {VERSION}",
        f"{CSAR_VERSION}: {VERSION}",
        f"{CREATED_BY}: {' '.join(author.split())}",
        f"{ENTRY}: {_quoted(entry)}",
    ]
    # A line for each, since values go on where a line begins with a blank.
    for number, other in enumerate(others):
        lines.append(f"{'' if number else f'{OTHERS}:'} {_quoted(other)}")
    return ("\n".join(lines) + "\n").encode()


def _quoted(file: str) -> str:
    return f'"{file}"' if " " in file else file
