"""Explains faults of texts that are not valid YAML exactly, and says how reading can go on after them.

A fault comes with lines that replace the faulty ones where it is clear enough what was meant, or which value is lost.
Further findings in those lines may only follow from the guess and are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec
import yaml

TAB = re.compile(r" *\t[ \t]*")
LEAD = re.compile(r" *(?:- +)*")
KEY = re.compile(r" *(?:- +)*(?P<key>[^\s'\"\[\]{},#].*?)\s*:(?=\s|$)")
NO_SPACE = re.compile(r" *(?:- +)*(?P<key>[\w.-]+):(?!//)\S")
WORD = re.compile(r" *(?:- +)*(?P<word>[\w.-]+)(?P<rest> .*)?")
COMMENT = re.compile(r"\s#.*")
IN_FLOW = re.compile(r"[\[{][^\]}]*$")
MERGE = re.compile(r"(?:<{7}|={7}|>{7})(?:\s|$)")
TAB_WIDTH = 2
ENDS = "\r\n\x85\u2028\u2029"
"""The characters that end a line for libyaml."""


class YamlFault(msgspec.Struct, frozen=True):
    """A fault of a text, and how reading goes on. Lines and columns count from 0."""

    line: int
    column: int
    end: int
    """The column after it."""
    message: str
    hint: str
    lines: Mapping[int, str] | None = None
    """New texts of lines, by their numbers; None where reading cannot go on."""
    exact: bool = False
    """Whether the new texts are surely meant, so that findings in them are reported."""


class _Text(msgspec.Struct, frozen=True):
    """The lines of a text with their ends, where a fault was found in it, and where what it lies in begins."""

    lines: list[str]
    line: int
    column: int
    begin: tuple[int, int] = (0, 0)

    @property
    def here(self) -> str:
        """The line of the fault."""
        return self.at(self.line)

    def at(self, number: int) -> str:
        """A line without its end."""
        return self.lines[number].rstrip(ENDS) if number < len(self.lines) else ""

    def above(self) -> int | None:
        """The nearest line above that holds something."""
        for number in range(self.line - 1, -1, -1):
            if _holds(self.lines[number]):
                return number
        return None

    def replaced(self, number: int, text: str) -> dict[int, str]:
        """A line with another text."""
        whole = self.lines[number]
        return {number: text + whole[len(whole.rstrip(ENDS)) :]}


def find_fault(lines: list[str], error: yaml.MarkedYAMLError) -> YamlFault | None:
    """The fault that an error of libyaml means in a text of these lines (with their ends); None where the message of
    libyaml explains it well enough."""
    mark = error.problem_mark or error.context_mark
    if mark is None or mark.line >= len(lines):
        return None
    begin = error.context_mark or mark
    text = _Text(lines, mark.line, mark.column, (begin.line, begin.column))
    if TAB.match(text.here) and _indentation(text.here) <= mark.column <= len(TAB.match(text.here)[0]):  # type: ignore[index]
        return _tab(text)
    for number in (begin.line, mark.line):
        if MERGE.match(text.at(number)):
            message, hint = "this is the mark of a merge that was not finished", "keep one of the two sides"
            return YamlFault(number, 0, len(text.at(number)), message, f"{hint}, and remove the marks")
    problem = str(error.problem or error.context or "")
    for part, explain in EXPLAINED:
        if part in problem:
            return explain(text)
    return None


# ------------------------------------------------------------------------------------------------------- indentation


def _tab(text: _Text) -> YamlFault:
    """Lines that are indented with tabs: all of them are, or nobody can know how wide a tab was meant to be."""
    at = text.here.index("\t")
    indented = {n: t for n, t in enumerate(text.lines) if t.strip() and t[0] in " \t"}
    lines = None
    if all(re.match(r"\t+(?! )", line) for line in indented.values()):
        lines = {n: " " * TAB_WIDTH * (len(t) - len(t.lstrip("\t"))) + t.lstrip("\t") for n, t in indented.items()}
    hint = "indent with spaces" + (": all indented lines of this file begin with tabs" if lines else "")
    return YamlFault(text.line, at, at + 1, "there is a tab where YAML allows only spaces", hint, lines)


def _levels(text: _Text) -> dict[int, int]:
    """How far what is open above a line is indented, and the line of each, the nearest first."""
    levels: dict[int, int] = {}
    least = len(text.here) + 1
    for number in range(text.line - 1, -1, -1):
        line = text.at(number)
        if not _holds(line):
            continue
        lead = LEAD.match(line)
        content = lead.end() if lead is not None else 0
        for level in {content, _indentation(line)}:
            if level < least or (level == content and not levels):
                levels.setdefault(level, number)
        least = min(least, _indentation(line))
        if least == 0:
            break
    return levels


def _indented(text: _Text) -> YamlFault | None:
    """A line that does not continue those above it."""
    here = text.here
    indent = _indentation(here)
    before = here[: text.column].rstrip()
    if before and before[-1] in "\"'":
        opened = _opened_above(text, before)
        if opened is not None:
            return opened
        return YamlFault(
            text.line,
            text.column,
            len(here),
            "the quoted text ends before this",
            "put the whole text into quotes; in single ones write '' for a quotation mark in it",
            _lost(text),
        )
    if before.strip():
        return None
    if here[indent : indent + 1] == ":":
        return YamlFault(text.line, indent, indent + 1, "there is no key before this colon", "write a name before it")
    levels = _levels(text)
    if indent in levels or not levels:
        if here[indent : indent + 2] in {"- ", "-"}:
            message = "an entry of a list cannot stand beside keys"
            hint = "indent the list deeper than the key that it belongs to, or remove the dash"
            return YamlFault(text.line, indent, indent + 1, message, hint)
        return None
    near = sorted(levels, key=lambda level: abs(level - indent))
    shown = [f"by {level} as line {levels[level] + 1}" for level in near[:2]]
    sure = len(near) == 1 or abs(near[0] - indent) < abs(near[1] - indent)
    return YamlFault(
        text.line,
        indent,
        max(len(here.rstrip()), indent + 1),
        "this line does not continue the lines above it: it is indented "
        f"by {indent}, which matches no line above it that is still open",
        "check the indentation: indent it " + " or ".join(shown),
        _shifted(text, indent, near[0]) if sure else None,
    )


def _opened_above(text: _Text, before: str) -> YamlFault | None:
    """A quoted text that begins in a line above, ends here and was probably meant to end there."""
    sign = before[-1]
    if not _is_odd(before, sign):
        return None
    begins = re.compile(rf"(?:^|[\s\[{{,]){sign}")
    for number in range(text.line - 1, -1, -1):
        line = text.at(number)
        if not _is_odd(line, sign):
            continue
        found = begins.search(line)
        if found is None:
            return None
        content = line.rstrip()
        return YamlFault(
            number,
            len(content),
            len(content) + 1,
            f"the quoted text that begins in line {number + 1} is not closed",
            f"write {sign} here",
            text.replaced(number, f"{content}{sign}"),
            exact=True,
        )
    return None


def _is_odd(line: str, sign: str) -> bool:
    """Whether a text in quotes that begins in a line does not end in it."""
    return (line.count(sign) - (line.count(f"\\{sign}") if sign == '"' else 0)) % 2 == 1


def _shifted(text: _Text, indent: int, level: int) -> dict[int, str]:
    """A line, and what follows it as deep as it is, indented in another way."""
    shifted = {}
    for number in range(text.line, len(text.lines)):
        line = text.lines[number]
        if not line.strip():
            continue
        if _indentation(line) < indent:
            break
        shifted[number] = " " * level + line[indent:] if level < indent else " " * (level - indent) + line
    return shifted


# -------------------------------------------------------------------------------------------------------- colons


def _colon(text: _Text) -> YamlFault | None:
    """A colon where no key can be."""
    key = KEY.match(text.here)
    if key is not None and key.end() <= text.column:
        return YamlFault(
            text.line,
            text.column,
            text.column + 1,
            f'a key cannot stand here: this is a second colon in the line, in the value of "{_short(key["key"])}"',
            "quote the text if the colon belongs to it; write each key of a map on a line of its own",
            _lost(text),
        )
    number = text.above()
    if number is None:
        return None
    return _colon_above(text, number)


def _colon_above(text: _Text, number: int) -> YamlFault | None:
    """A key that cannot follow the line above it."""
    above = COMMENT.sub("", text.at(number)).rstrip()
    lacking = NO_SPACE.match(above)
    if lacking is not None:
        return _no_space(text, number, lacking)
    word = WORD.fullmatch(above)
    if word is not None and not word["rest"]:
        return YamlFault(
            number,
            len(above) - 1,
            len(above),
            f'a colon is missing after "{word["word"]}"',
            "write a colon after the key",
            text.replaced(number, f"{above}:"),
        )
    key = KEY.match(above)
    indent = _indentation(text.here)
    if key is None or indent <= _indentation(above):
        return None
    if len(above[key.end() :].split()) == 1 and above[-1] not in "|>":
        lead = LEAD.match(above)
        level = lead.end() if lead is not None else 0
        return YamlFault(
            text.line,
            indent,
            len(text.here.rstrip()),
            f'this line is indented deeper than "{_short(key["key"])}" above it, which already has a value',
            f"check the indentation: indent it by {level} as line {number + 1}, or remove that value",
            _shifted(text, indent, level),
        )
    return YamlFault(
        text.line,
        text.column,
        text.column + 1,
        f'a key cannot stand here: the text of "{_short(key["key"])}" continues in this line',
        "quote the whole text if the colon belongs to it, or check the indentation of this line",
        text.replaced(text.line, f"{text.here[: text.column]};{text.here[text.column + 1 :]}"),
    )


def _no_space(text: _Text, number: int, lacking: re.Match[str]) -> YamlFault:
    """A colon with a value right behind it."""
    at = lacking.end() - 1
    line = text.at(number)
    message = f'a space is missing after the colon of "{lacking["key"]}"'
    lines = text.replaced(number, f"{line[:at]} {line[at:]}")
    return YamlFault(number, at, at + 1, message, "write key: value", lines)


CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")


def _no_key(text: _Text) -> YamlFault | None:
    """A line without a colon among keys."""
    number, begin = text.begin
    line = text.at(number)
    if line.startswith(CONFLICT):
        message = "this is the mark of a merge that was not finished"
        return YamlFault(number, 0, len(line), message, "keep one of the two sides, and remove the marks", None)
    content = COMMENT.sub("", line).rstrip()
    lacking = NO_SPACE.match(content)
    if lacking is not None:
        return _no_space(text, number, lacking)
    word = WORD.fullmatch(content)
    lines = None
    if word is not None:
        at = word.end("word")
        lines = text.replaced(number, f"{content[:at]}:{content[at:]}")
    return YamlFault(
        number,
        begin,
        max(len(content), begin + 1),
        "this line is not a key: it has no colon",
        "write a colon and a space after the key",
        lines,
    )


# -------------------------------------------------------------------------------------------------- single characters


def _character(text: _Text) -> YamlFault | None:
    """A character that no plain text begins with."""
    here = text.here[text.column : text.column + 1]
    if here not in {"@", "`", "%"}:
        return None
    message = f'a plain text cannot begin with "{here}"'
    return YamlFault(text.line, text.column, text.column + 1, message, "put the text into quotes", _lost(text))


def _name_expected(text: _Text) -> YamlFault | None:
    """An alias, an anchor or a tag that is none."""
    number, column = text.begin
    begun = text.at(number)[column : column + 1]
    if number != text.line or begun not in {"*", "&", "!"}:
        return None
    at = _Text(text.lines, number, column)
    message = f'a plain text cannot begin with "{begun}", which has a special meaning in YAML'
    return YamlFault(number, column, column + 1, message, "put the text into quotes", _lost(at))


def _dash(text: _Text) -> YamlFault:
    """A list on the line of its key."""
    return YamlFault(
        text.line,
        text.column,
        text.column + 1,
        "a list cannot begin on the line of its key",
        "begin the list on a line of its own, or write [ ... ]",
        _lost(text),
    )


def _escape(text: _Text) -> YamlFault:
    """A backslash before what it has no meaning for."""
    at = text.column if text.here[text.column : text.column + 1] == "\\" else text.here.rfind("\\", 0, text.column)
    lines = text.replaced(text.line, f"{text.here[:at]}\\{text.here[at:]}") if at >= 0 else None
    shown = text.here[max(at, 0) : at + 2]
    message = f'there is no escape "{shown}"'
    hint = "double the backslash, or put the text into single quotes"
    return YamlFault(text.line, max(at, 0), at + 2, message, hint, lines)


def _block_header(text: _Text) -> YamlFault:
    """Something behind the sign that begins a block of text."""
    here = text.here
    return YamlFault(
        text.line,
        text.column,
        len(here.rstrip()),
        "nothing but a comment may follow this sign, which begins a block of text",
        "write the text in the lines below, indented deeper than the key",
        text.replaced(text.line, here[: text.column]),
    )


# ------------------------------------------------------------------------------------------------------------ brackets


def _comma(text: _Text) -> YamlFault | None:
    """Two entries without a comma between them."""
    here = text.here
    begin = text.column
    if here[begin : begin + 1] in {"]", "}"}:
        return _closer(text)
    if here[begin : begin + 1] == ":":
        begin = here.rfind(" ", 0, len(here[:begin].rstrip())) + 1
    lines = None
    if begin > 0 and here[begin - 1] == " " and here[:begin].strip():
        lines = text.replaced(text.line, f"{here[: begin - 1]},{here[begin:]}")
    message, hint = "a comma is missing before this place", "separate the entries with commas"
    return YamlFault(text.line, text.column, text.column + 1, message, hint, lines)


def _content(text: _Text) -> YamlFault | None:
    """A sign where a value should be."""
    here = text.here
    sign = here[text.column : text.column + 1]
    if sign in {"]", "}"}:
        return _closer(text)
    if sign != ",":
        return None
    flow = IN_FLOW.search(here[: text.column]) is not None
    lines = text.replaced(text.line, f"{here[: text.column]} {here[text.column + 1 :]}") if flow else _lost(text)
    message = "a value is missing before this comma" if flow else "a plain text cannot begin with a comma"
    hint = "give one, or remove the comma" if flow else "put the text into quotes"
    return YamlFault(text.line, text.column, text.column + 1, message, hint, lines)


def _closer(text: _Text) -> YamlFault | None:
    """A bracket that closes nothing."""
    here = text.here
    if here[text.column : text.column + 1] not in {"]", "}"}:
        return None
    return YamlFault(
        text.line,
        text.column,
        text.column + 1,
        "this bracket closes nothing",
        "remove it, or open it before this place",
        text.replaced(text.line, f"{here[: text.column]} {here[text.column + 1 :]}"),
    )


def _unexpected(text: _Text) -> YamlFault | None:
    """What may not stand in a block map: a bracket too many, or a line that is not indented as it should be."""
    return _closer(text) or _indented(text)


EXPLAINED: tuple[tuple[str, Callable[[_Text], YamlFault | None]], ...] = (
    ("mapping values are not allowed", _colon),
    ("could not find expected ':'", _no_key),
    ("did not find expected key", _unexpected),
    ("did not find expected '-' indicator", _closer),
    ("did not find expected <document start>", _closer),
    ("cannot start any token", _character),
    ("alphabetic or numeric character", _name_expected),
    ("did not find expected tag URI", _name_expected),
    ("undefined tag handle", _name_expected),
    ("did not find the expected '!'", _name_expected),
    ("block sequence entries are not allowed", _dash),
    ("unknown escape character", _escape),
    ("did not find expected comment or line break", _block_header),
    ("did not find expected ',' or", _comma),
    ("did not find expected node content", _content),
)


# --------------------------------------------------------------------------------------------------------------- texts


def _lost(text: _Text) -> dict[int, str] | None:
    """The line with the value in which the fault lies written over, as long as it is."""
    here = text.here
    content = COMMENT.sub("", here, count=1).rstrip()
    opened = IN_FLOW.search(here[: text.column])
    if opened is not None:
        begin = max(here.rfind(sign, 0, text.column) for sign in "[{,")
        separation = here.rfind(": ", begin, text.column)
        begin = (separation if separation >= 0 else begin) + 1
        ends = [at for sign in ",]}" if (at := here.find(sign, text.column)) >= 0]
        end = min(ends, default=len(content))
    else:
        key = KEY.match(here)
        lead = LEAD.match(here)
        begin = key.end() if key is not None and key.end() <= text.column else lead.end() if lead is not None else 0
        end = max(len(content), text.column + 1)
    begin += len(here[begin:end]) - len(here[begin:end].lstrip())
    end = begin + len(here[begin:end].rstrip())
    return text.replaced(text.line, here[:begin] + "x" * (end - begin) + here[end:]) if begin < end else None


def _holds(line: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith("#")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _short(key: str) -> str:
    return key if len(key) <= 40 else f"{key[:37]}..."
