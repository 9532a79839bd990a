"""Splits the text of a condition into tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from decimal import Decimal
from enum import Enum

import msgspec

from ordito.blocks.conditions import literals
from ordito.blocks.conditions.trees import NotACondition, TextRange

MOST_CHARACTERS = 4_000
"""How long the text of a condition may be."""


class TokenKind(Enum):
    """The kind of a token."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    SIGN = "sign"
    """An operator, a bracket, a point or a comma."""
    END = "end"


class Token(msgspec.Struct, frozen=True):
    """A token."""

    kind: TokenKind
    text: str
    """As it is written."""
    place: TextRange
    value: int | Decimal | str = ""
    """The value of a number or a string."""
    starts_line: bool = False
    """Whether a line ends before it."""


SIGNS = ("_|_", "...", "&&", "||", "==", "!=", "<=", ">=", "=~", "!~", *"<>!&|+-*/()[]{}.,:")
NAME = re.compile(r"[^\W\d]\w*|[$#][\w$]*|_[#$][\w$]*")
_NAME_END = re.compile(r"[\w$]*")
_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\n]*)*")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_AFTER_NUMBER = re.compile(r"[\w$]")

_REFUSED = {
    "'": ("text is written in double quotes", 'write "text"'),
    "=": ("a single = compares nothing", "write =="),
    "?": ("there is no ? in conditions", "use &&, || and !"),
    "@": ("attributes are not part of conditions", ""),
    ";": ("a condition is one expression", "use && and ||"),
    "`": ("text is written in double quotes", 'write "text"'),
    "%": ("there is no % in conditions", ""),
    "~": ("there is no ~ alone in conditions", "match a regular expression with =~"),
}


class Reader:
    """Splits a text into tokens. Raises ``NotACondition`` where a character belongs to none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        if len(text) > MOST_CHARACTERS:
            raise NotACondition(
                f"a condition has at most {MOST_CHARACTERS:,} characters", self.place(MOST_CHARACTERS, len(text))
            )
        half = _HALF_CHARACTER.search(text)
        if half is not None:
            raise NotACondition(
                "half a character (a single surrogate) is not part of conditions", self.place(half.start(), half.end())
            )

    def place(self, offset: int, end: int) -> TextRange:
        """The place of a range of characters."""
        line = bisect_right(self._lines, offset)
        return TextRange(offset, end, line, offset - self._lines[line - 1] + 1)

    def tokens(self) -> list[Token]:
        """All tokens, the end of the text as the last."""
        found: list[Token] = []
        at = 0
        while True:
            space = _SPACE.match(self._text, at)
            end = space.end() if space else at
            starts_line = "\n" in self._text[at:end]
            if end == len(self._text):
                found.append(Token(TokenKind.END, "", self.place(end, end), starts_line=starts_line))
                return found
            token = self._token(end, starts_line)
            found.append(token)
            at = token.place.end

    def _token(self, at: int, starts_line: bool) -> Token:
        text = self._text
        try:
            hashes = literals.opening(text, at)
            if hashes >= 0:
                self._refuse_lines(at, hashes)
                value, end = literals.string(text, at, hashes)
                return Token(TokenKind.STRING, text[at:end], self.place(at, end), value, starts_line)
            if re.match(r"\.?[0-9]", text[at : at + 2], re.ASCII):
                return self._number(at, starts_line)
        except literals.NotALiteral as fault:
            begin = max(fault.begin, at)
            raise NotACondition(fault.message, self.place(begin, max(fault.end, begin)), fault.hint) from None
        return self._word_or_sign(at, starts_line)

    def _number(self, at: int, starts_line: bool) -> Token:
        match = literals.NUMBER.match(self._text, at)
        assert match is not None
        end = match.end()
        if _AFTER_NUMBER.match(self._text, end):
            rest = _NAME_END.match(self._text, end)
            end = rest.end() if rest else end
            raise NotACondition(f'"{self._text[at:end]}" is not a number', self.place(at, end))
        place = self.place(at, end)
        try:
            value = literals.number(match.group())
        except literals.NotALiteral as fault:
            raise NotACondition(fault.message, place, fault.hint) from None
        return Token(TokenKind.NUMBER, match.group(), place, value, starts_line)

    def _word_or_sign(self, at: int, starts_line: bool) -> Token:
        text = self._text
        if text.startswith("<-", at):
            raise NotACondition('"<-" is one sign in CUE', self.place(at, at + 2), 'write "< -"')
        for sign in SIGNS:
            if text.startswith(sign, at):
                return Token(TokenKind.SIGN, sign, self.place(at, at + len(sign)), "", starts_line)
        match = NAME.match(text, at)
        if match is not None:
            rest = _NAME_END.match(text, match.end())
            end = rest.end() if rest else match.end()
            return Token(TokenKind.NAME, text[at:end], self.place(at, end), "", starts_line)
        message, hint = _REFUSED.get(text[at], (f"{text[at]!r} is not part of conditions", ""))
        raise NotACondition(message, self.place(at, at + 1), hint)

    def _refuse_lines(self, at: int, hashes: int) -> None:
        if self._text.startswith('"""', at + hashes):
            raise NotACondition(
                "strings over several lines are not part of conditions", self.place(at, at + 3 + hashes)
            )
