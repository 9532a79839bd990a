"""Regular expressions that users write: compiled once, matched against whole values (TOSCA 1.3 §3.6.3, ``pattern``).

The language is that of Python's ``re`` without what cannot be matched in bounded time: references to groups, conditions
on groups, atomic groups and possessive repetition; the flag for verbose patterns is not supported either. Matching
takes at most ``MOST_STEPS`` steps for any pattern, since templates come from anywhere.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

import msgspec

from ordito.base.pattern_syntax import Instruction, Opcode, PatternNotSupported, PatternReader, Program, Tries

MOST_STEPS = 500_000
"""How many steps are tried for one value before matching is given up."""
MOST_CHARACTERS = 10_000
MOST_DIRECT = 1_000_000
"""How many possibilities Python's own matcher, which is faster, may have to try."""


class TooMuchWork(ValueError):
    """A value is too long to be matched against a pattern."""


class Pattern(msgspec.Struct, frozen=True, eq=False):
    """A compiled pattern."""

    direct: re.Pattern[str]
    """For Python's own matcher, where the possibilities are few enough."""
    program: Program
    """For all other values."""
    choices: Tries
    """How many possibilities there are, which decides between the two."""

    def matches(self, value: str) -> bool:
        """Whether a whole value matches; ``TooMuchWork`` where that takes too long to find out."""
        if self._is_cheap(value, 0):
            return self.direct.fullmatch(value) is not None
        return _Run(value, len(value)).leads_on(self.program, 0)

    def found_in(self, value: str) -> bool:
        """Whether a part of a value matches; ``TooMuchWork`` where that takes too long to find out."""
        if self._is_cheap(value, 1):
            return self.direct.search(value) is not None
        run = _Run(value, None)
        return any(run.leads_on(self.program, begin) for begin in range(len(value) + 1))

    def effort(self, value: str) -> int:
        """About how much work it is to look for the pattern in a value, in microseconds."""
        if self._is_cheap(value, 1):
            return 1 + self._possibilities(value, 1) // 50
        return 1 + len(self.program) * len(value)

    def _is_cheap(self, value: str, begins: int) -> bool:
        choices = self.choices
        if choices.nested or choices.endless > 4 or choices.ways > MOST_DIRECT:
            return False
        return self._possibilities(value, begins) <= MOST_DIRECT

    def _possibilities(self, value: str, begins: int) -> int:
        return int((len(value) + 2) ** (self.choices.endless + begins)) * self.choices.ways


@lru_cache(maxsize=1_000)
def compile_pattern(text: str) -> Pattern:
    """The compiled form of a pattern; ``ValueError`` with the reason where the text is no regular expression.

    Warnings of Python about a pattern that it accepts are not passed on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"a pattern of more than {MOST_CHARACTERS:,} characters is not supported")
        try:
            direct = re.compile(text)
            reader = PatternReader(text)
            program = reader.read()
        except PatternNotSupported as error:
            raise ValueError(f"{error} in a pattern") from None
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {error}") from None
    return Pattern(direct, program, reader.choices)


@lru_cache(maxsize=10_000)
def matches(text: str, value: str) -> bool:
    """Whether a whole value matches the pattern ``text``; ``TooMuchWork`` where that takes too long to find out."""
    return compile_pattern(text).matches(value)


class _Run:
    """One value on its way through a program. What has been tried from a place in vain is not tried again: the cost is
    at most the length of the value times that of the program, and that again for each place of a look ahead."""

    def __init__(self, value: str, end: int | None) -> None:
        self._value = value
        self._end = end
        self._steps = 0
        self._failed: dict[int, set[int]] = {}
        self._looks: dict[tuple[int, int], bool] = {}

    def leads_on(self, program: Program, begin: int) -> bool:
        """Whether a program leads from a place of the value to the end that is wanted."""
        return self._follow(program, begin, self._end)

    def _follow(self, program: Program, begin: int, end: int | None) -> bool:
        failed = self._failed.setdefault(id(program), set())
        tried: set[int] = set()
        length = len(program)
        waiting = [(0, begin)]
        while waiting:
            at, position = waiting.pop()
            place = position * length + at
            if place in tried or place in failed:
                continue
            tried.add(place)
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise TooMuchWork("is too long for the pattern")
            instruction = program[at]
            if instruction.kind == Opcode.END:
                if end is None or position == end:
                    return True
            else:
                waiting.extend(self._onward(instruction, at, position))
        failed |= tried
        return False

    def _onward(self, instruction: Instruction, at: int, position: int) -> list[tuple[int, int]]:
        """Where an instruction leads from a position."""
        if instruction.kind == Opcode.FORK:
            return [(target, position) for target in instruction.targets]
        if instruction.kind == Opcode.LOOK:
            return [(at + 1, position)] if self._look(instruction, position) else []
        assert instruction.accept is not None
        if instruction.kind == Opcode.HERE:
            return [(at + 1, position)] if instruction.accept.match(self._value, position) else []
        taken = position < len(self._value) and instruction.accept.match(self._value, position)
        return [(at + 1, position + 1)] if taken else []

    def _look(self, instruction: Instruction, position: int) -> bool:
        program = instruction.program
        assert program is not None
        begin = position - instruction.back
        if begin < 0:
            return instruction.negative
        key = (id(program), begin)
        if key not in self._looks:
            self._looks[key] = self._follow(program, begin, None)
        return self._looks[key] != instruction.negative
