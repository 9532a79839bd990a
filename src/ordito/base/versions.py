"""TOSCA versions: ``major.minor[.fix[.qualifier[-build]]]`` (TOSCA 1.3 §3.3.2)."""

from __future__ import annotations

import re

import msgspec

NUMBER = "([0-9]{1,18})"
GRAMMAR = re.compile(rf"{NUMBER}\.{NUMBER}(?:\.{NUMBER}(?:\.([A-Za-z][A-Za-z0-9_]*)(?:-{NUMBER})?)?)?")
NO_VERSION = frozenset({"0", "0.0", "0.0.0"})


class Incomparable(ValueError):
    """Two versions have no defined order: their numbers are the same, their qualifiers differ."""


class Version(msgspec.Struct, frozen=True):
    """The parts of a version. ``build`` is -1 where there is none."""

    major: int
    minor: int
    fix: int = 0
    qualifier: str = ""
    build: int = -1

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read a version. Raises ``ValueError`` with the reason where the text is not a version."""
        if text in NO_VERSION:
            return cls(0, 0)
        match = GRAMMAR.fullmatch(text)
        if match is None:
            raise ValueError(f'"{text}" is not a version (major.minor[.fix[.qualifier[-build]]])')
        major, minor, fix, qualifier, build = match.groups()
        found = cls(int(major), int(minor), int(fix or 0), qualifier or "", int(build) if build else -1)
        if qualifier and (found.major, found.minor, found.fix) == (0, 0, 0):
            raise ValueError(f'"{text}": version zero cannot have a qualifier')
        return found

    def order(self, other: Version) -> int:
        """Negative, zero or positive where this version is older than, equal to or newer than the other.

        A version with a qualifier is older than the same without. Raises ``Incomparable`` for different qualifiers.
        """
        mine, theirs = (self.major, self.minor, self.fix), (other.major, other.minor, other.fix)
        if mine != theirs:
            return -1 if mine < theirs else 1
        if self.qualifier == other.qualifier:
            return (self.build > other.build) - (self.build < other.build)
        if not self.qualifier or not other.qualifier:
            return 1 if not self.qualifier else -1
        raise Incomparable(f'the qualifiers "{self.qualifier}" and "{other.qualifier}" have no order')
