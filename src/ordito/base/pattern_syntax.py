"""Regular expressions as programs: a list of small instructions that follows all possibilities at once.

Python's own matcher tries one possibility after the other, which takes far too long for some patterns. A program here
remembers what has been tried, so its cost is at most its length times the length of the value. ``re`` has accepted the
text before: what is read here is known to be well formed.
"""

from __future__ import annotations

import re
from enum import IntEnum

import msgspec

MOST_INSTRUCTIONS = 20_000
"""How long a program may be; a counted repetition holds the repeated instructions as often as it counts."""
MOST_NESTED = 50
SCOPED_FLAGS = re.compile(r"\(\?([aimsuLx]*)(?:-([imsx]+))?([:)])")
QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*)(,?)(\d*)\})([?+]?)")
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "a": re.ASCII, "u": re.NOFLAG}
OCTAL = re.compile(r"[0-3][0-7][0-7]")
ZERO = re.compile(r"\\0[0-7]{0,2}")
ESCAPES = {"x": 2, "u": 4, "U": 8}
ZERO_WIDTH = frozenset("AZbB")


class Opcode(IntEnum):
    """What an instruction does."""

    TAKE = 0
    """Take one character that ``accept`` matches and go on after it."""
    FORK = 1
    """Go on at each of ``targets``."""
    HERE = 2
    """Go on if ``accept``, which takes no character, matches at this place."""
    LOOK = 3
    """Go on if ``program`` matches (or not, if ``negative``) from this place, or from ``back`` characters before."""
    END = 4
    """Everything has been matched."""


class Instruction(msgspec.Struct):
    """One step of a program."""

    kind: Opcode
    accept: re.Pattern[str] | None = None
    targets: tuple[int, ...] = ()
    program: Program | None = None
    negative: bool = False
    back: int = 0


Program = list[Instruction]


class Tries(msgspec.Struct):
    """How many possibilities a pattern has."""

    endless: int = 0
    """How many repetitions without an upper bound it has."""
    ways: int = 1
    """In how many ways everything else may match."""
    nested: bool = False
    """Whether any of that is repeated itself, so that the possibilities multiply without bound."""

    @property
    def many(self) -> bool:
        """Whether there is more than one way."""
        return self.endless > 0 or self.ways > 1

    def take(self, inner: Tries, least: int, most: int | None) -> None:
        """Add the possibilities of a part that is repeated."""
        self.nested = self.nested or inner.nested or (inner.many and most != 1)
        self.endless += inner.endless + (most is None)
        self.ways *= inner.ways * (most - least + 1 if most is not None else 1)


class PatternNotSupported(ValueError):
    """The pattern is too long, or uses syntax that cannot be matched in bounded time."""


class PatternReader:
    """Reads the text of a pattern, which ``re`` accepts, into a program."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags = re.NOFLAG
        self._depth = 0
        self._atoms: dict[tuple[str, int], re.Pattern[str]] = {}
        self.choices = Tries()

    def read(self) -> Program:
        """The program of the whole pattern; ``PatternNotSupported`` where there is none."""
        self._leading_flags()
        program = self._alternatives()
        program.append(Instruction(Opcode.END))
        return program

    def _leading_flags(self) -> None:
        """Flags for the whole pattern, which stand at its beginning only."""
        while (match := SCOPED_FLAGS.match(self._text, self._at)) and match[3] == ")":
            self._flags |= self._named(match[1])
            self._at = match.end()

    def _named(self, letters: str | None) -> re.RegexFlag:
        flags = re.NOFLAG
        for letter in letters or "":
            if letter not in FLAGS:
                raise PatternNotSupported(f'the flag "{letter}" is not supported')
            flags |= FLAGS[letter]
        return flags

    def _alternatives(self) -> Program:
        """What stands up to the end or a closing bracket."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise PatternNotSupported(f"groups nested deeper than {MOST_NESTED} levels are not supported")
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        self._depth -= 1
        if len(parts) == 1:
            return parts[0]
        self.choices.ways *= len(parts)
        return _fork(parts)

    def _sequence(self) -> Program:
        found: Program = []
        while self._at < len(self._text) and self._peek() not in {"|", ")"}:
            outer, self.choices = self.choices, Tries()
            item = self._item()
            least, most = self._repetition()
            outer.take(self.choices, least, most)
            self.choices = outer
            found = _joined(found, _repeated(item, least, most) if (least, most) != (1, 1) else item)
        return found

    def _repetition(self) -> tuple[int, int | None]:
        """How often what was just read is to be repeated."""
        match = QUANTIFIER.match(self._text, self._at)
        if match is None or not (match[1] or match[2] or match[3] or match[4]):
            return 1, 1  # nothing, or empty braces, which stand for themselves
        self._at = match.end()
        if match[5] == "+":
            raise PatternNotSupported("possessive repetition is not supported")
        return _bounds(match)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _item(self) -> Program:
        """One item, without what repeats it."""
        begin = self._at
        character = self._text[begin]
        if character == "(":
            return self._group()
        if character == "[":
            self._at = _end_of_class(self._text, begin)
        elif character == "\\":
            return self._escape()
        else:
            self._at += 1
            if character in "^$":
                return [Instruction(Opcode.HERE, self._atom(character))]
        return [Instruction(Opcode.TAKE, self._atom(self._text[begin : self._at]))]

    def _escape(self) -> Program:
        begin = self._at
        follower = self._text[begin + 1]
        if follower in ZERO_WIDTH:
            self._at += 2
            return [Instruction(Opcode.HERE, self._atom(self._text[begin : self._at]))]
        if follower in "123456789":
            if not OCTAL.match(self._text, begin + 1):
                raise PatternNotSupported("references to groups are not supported")
            self._at = begin + 4
        elif follower == "0":
            zero = ZERO.match(self._text, begin)
            self._at = zero.end() if zero else begin + 2
        elif follower == "N":
            self._at = self._text.index("}", begin) + 1
        else:
            self._at = begin + 2 + ESCAPES.get(follower, 0)
        return [Instruction(Opcode.TAKE, self._atom(self._text[begin : self._at]))]

    def _group(self) -> Program:
        begin = self._at
        head = self._text[begin : begin + 4]
        for mark, negative, behind in (("(?=", False, False), ("(?!", True, False), ("(?<=", False, True)):
            if head.startswith(mark):
                return self._look(len(mark), negative, behind)
        if head.startswith("(?<!"):
            return self._look(4, negative=True, behind=True)
        before = self._flags
        if head.startswith(("(?P<", "(?:")):
            self._at = begin + 3 if head.startswith("(?:") else self._text.index(">", begin) + 1
        elif head.startswith("(?"):
            scoped = SCOPED_FLAGS.match(self._text, begin)
            if scoped is None or scoped[3] != ":":
                raise PatternNotSupported(f'"{head[:3]}" is not supported')
            self._flags = (before | self._named(scoped[1])) & ~self._named(scoped[2])
            self._at = scoped.end()
        else:
            self._at = begin + 1
        inner = self._alternatives()
        self._at += 1
        self._flags = before
        return inner

    def _look(self, head: int, negative: bool, behind: bool) -> Program:
        self._at += head
        inner = self._alternatives()
        self._at += 1
        back = _width(inner) if behind else 0
        inner.append(Instruction(Opcode.END))
        return [Instruction(Opcode.LOOK, program=inner, negative=negative, back=back)]

    def _atom(self, text: str) -> re.Pattern[str]:
        key = (text, int(self._flags))
        if key not in self._atoms:
            self._atoms[key] = re.compile(text, self._flags)
        return self._atoms[key]


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    if match[1]:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[1]]
    least = int(match[2] or 0)
    if not match[3]:
        return least, least
    return least, int(match[4]) if match[4] else None


def _end_of_class(text: str, begin: int) -> int:
    """The place behind a set of characters in square brackets."""
    at = begin + 1
    if text[at] == "^":
        at += 1
    if text[at] == "]":
        at += 1
    while text[at] != "]":
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _shifted(program: Program, by: int) -> Program:
    if not by:
        return program
    return [
        Instruction(i.kind, i.accept, tuple(t + by for t in i.targets), i.program, i.negative, i.back) for i in program
    ]


def _joined(first: Program, second: Program) -> Program:
    if len(first) + len(second) > MOST_INSTRUCTIONS:
        raise PatternNotSupported("repetitions of so many parts are not supported")
    first.extend(_shifted(second, len(first)))
    return first


def _fork(parts: list[Program]) -> Program:
    """A program that goes on with any of its parts."""
    found: Program = [Instruction(Opcode.FORK)]
    starts: list[int] = []
    ends: list[int] = []
    for part in parts:
        starts.append(len(found))
        _joined(found, part)
        ends.append(len(found))
        found.append(Instruction(Opcode.FORK))
    found[0].targets = tuple(starts)
    for end in ends:
        found[end].targets = (len(found),)
    return found


def _repeated(item: Program, least: int, most: int | None) -> Program:
    found: Program = []
    if (least + (most or least)) * (len(item) + 1) > 2 * MOST_INSTRUCTIONS:
        raise PatternNotSupported("repetitions of so many parts are not supported")
    for _ in range(least):
        _joined(found, item)
    if most is None:
        begin = len(found)
        found.append(Instruction(Opcode.FORK))
        _joined(found, item)
        found.append(Instruction(Opcode.FORK, targets=(begin,)))
        found[begin].targets = (begin + 1, len(found))
        return found
    for _ in range(most - least):
        begin = len(found)
        found.append(Instruction(Opcode.FORK))
        _joined(found, item)
        found[begin].targets = (begin + 1, begin + 1 + len(item))
    return found


def _width(program: Program) -> int:
    """How many characters a program of fixed width takes, which is what may stand in a look behind."""
    at = width = 0
    while at < len(program):
        instruction = program[at]
        width += instruction.kind == Opcode.TAKE
        at = instruction.targets[0] if instruction.kind == Opcode.FORK else at + 1
    return width
