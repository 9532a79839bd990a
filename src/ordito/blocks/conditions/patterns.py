"""Regular expressions of conditions: translates those of CUE (the language of RE2) for the matcher of Ordito.

Some signs have different meanings in RE2 and Python; they are rewritten here. Syntax that only one of the two has is
refused. Matching takes bounded time (``base/patterns.py``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from ordito.base.patterns import Pattern, compile_pattern

MOST_REPEATED = 1_000
"""How often a counted repetition may repeat, as in RE2."""

_SPACE = r"\t\n\f\r "
_NO_SPACE = r"\x00-\x08\x0b\x0e-\x1f!-\U0010ffff"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_GROUP = re.compile(r"\(\?(?:P<[A-Za-z_][A-Za-z0-9_]*>|([ims]*)(-[ims]+)?([:)]))")
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}", re.ASCII)
_SAME = frozenset("afnrtvdDwW")
"""Letters behind a backslash that mean the same, in brackets too."""
_OUTSIDE = frozenset("bBA")
_PLACE = re.compile(r" at position \d+.*", re.DOTALL)
"""What Python says of the place of a fault, which is one in the rewritten text."""
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~ ]")


class NotAPattern(ValueError):
    """A text is not a regular expression, or one that is not supported."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@lru_cache(maxsize=1_000)
def pattern(text: str) -> Pattern:
    """The compiled form of a regular expression of CUE. Raises ``NotAPattern`` where it is not supported."""
    rewritten = _PatternRewriting(text).text()
    try:
        return compile_pattern(rewritten)
    except ValueError as error:
        raise NotAPattern(_PLACE.sub("", str(error))) from None


class _PatternRewriting:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._multiline = False
        self._outer: list[bool] = []

    def text(self) -> str:
        """The same pattern for Python's matcher."""
        found = ["(?a)"]
        while self._at < len(self._text):
            found.append(self._piece())
        return "".join(found)

    def _piece(self) -> str:
        character = self._text[self._at]
        if character == "\\":
            return self._escape(in_brackets=False)
        if character == "[":
            return self._brackets()
        if character == "(":
            return self._group()
        if character == "{":
            return self._count()
        self._at += 1
        if character == ")" and self._outer:
            self._multiline = self._outer.pop()
        return r"\Z" if character == "$" and not self._multiline else character

    def _escape(self, *, in_brackets: bool) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if letter in _SAME or (letter in _OUTSIDE and not in_brackets) or _PUNCTUATION.fullmatch(letter):
            return f"\\{letter}"
        if letter == "s":
            return _SPACE if in_brackets else f"[{_SPACE}]"
        if letter == "S":
            return _NO_SPACE if in_brackets else f"[^{_SPACE}]"
        if letter == "z" and not in_brackets:
            return r"\Z"
        if letter == "x":
            return self._hexadecimal()
        if letter == "0":
            raise NotAPattern("octal characters are not supported in a pattern", r"write \x00")
        if letter in "123456789" and letter:
            raise NotAPattern("references to groups (backreferences) are not part of CUE's patterns")
        if letter in {"p", "P"}:
            raise NotAPattern(
                "classes of Unicode are not supported in a pattern", "write the characters, as in [A-Za-zÀ-ÿ]"
            )
        raise NotAPattern(
            f'"\\{letter}" is not supported in a pattern' if letter else "a pattern ends with a backslash"
        )

    def _hexadecimal(self) -> str:
        match = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}").match(self._text, self._at)
        code = int(match[1] or match[2], 16) if match else 0x110000
        if match is None or code > 0x10FFFF:
            raise NotAPattern(r"\x is followed by two hexadecimal digits, or a number in braces, in a pattern")
        self._at = match.end()
        return f"\\U{code:08x}"

    def _brackets(self) -> str:
        """A set of characters."""
        found = ["["]
        self._at += 1
        if self._text.startswith("^", self._at):
            found.append("^")
            self._at += 1
        first = True
        while first or not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                raise NotAPattern("a set of characters is not closed with ] in a pattern")
            found.append(self._in_brackets())
            first = False
        self._at += 1
        return "".join([*found, "]"])

    def _in_brackets(self) -> str:
        named = _CLASS.match(self._text, self._at)
        if named is not None:
            self._at = named.end()
            if named[1] or named[2] not in _CLASSES:
                raise NotAPattern(f"{named.group()} is not supported in a pattern")
            return _CLASSES[named[2]]
        character = self._text[self._at]
        if character == "\\":
            return self._escape(in_brackets=True)
        self._at += 1
        # Python warns of signs that could come to mean something.
        return f"\\{character}" if character in "[]&|~" else character

    def _group(self) -> str:
        begin = self._at
        if not self._text.startswith("(?", begin):
            self._at += 1
            self._outer.append(self._multiline)
            return "("
        if self._text.startswith(_LOOKS, begin):
            raise NotAPattern("lookahead and lookbehind are not part of CUE's patterns")
        match = _GROUP.match(self._text, begin)
        if match is None:
            raise NotAPattern(f'"{self._text[begin : begin + 3]}" is not supported in a pattern')
        self._at = match.end()
        if match[3] is None:
            self._outer.append(self._multiline)
            return match.group()
        return self._flags(match)

    def _flags(self, match: re.Match[str]) -> str:
        if match[3] == ")":
            if match.start() or match[2] or not match[1]:
                raise NotAPattern("flags are allowed at the beginning of a pattern, or as (?i:...) around a part of it")
            self._multiline = "m" in match[1]
            return match.group()
        if match[2] and set(match[1]) & set(match[2]):
            raise NotAPattern(f'"{match.group()}" is not supported in a pattern')
        self._outer.append(self._multiline)
        self._multiline = ("m" in match[1] or self._multiline) and "m" not in (match[2] or "")
        return match.group()

    def _count(self) -> str:
        """A counted repetition, or a brace that stands for itself."""
        match = _COUNT.match(self._text, self._at)
        if match is None or not match[1]:
            self._at += 1
            return r"\{"
        self._at = match.end()
        if any(len(number) > 4 or int(number) > MOST_REPEATED for number in (match[1], match[3]) if number):
            raise NotAPattern(f"a repetition of more than {MOST_REPEATED:,} is not supported in a pattern")
        return match.group()
