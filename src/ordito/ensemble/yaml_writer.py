"""Writes plain data as YAML that git shows well: one key a line, nothing folded, every text certain to stay a text.

It supports only mappings, lists, texts, numbers, booleans and null, so it is many times faster than a general writer.
Its output has the same meaning in YAML 1.1 and 1.2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.vault import sealed, unsealed

PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./+@%=-]|:(?=[A-Za-z0-9/]))*")
"""Texts that need no quotes, unless they are a ``RESERVED`` word."""

RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})

UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that need no escape in JSON, but in YAML."""

EXPONENT = re.compile(r"\de[+-]\d")

POINTLESS = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\d.])(\d+)(?=e[+-])')
"""Texts in JSON, which are passed over, and numbers like 1e+16, which YAML 1.1 would take for a text."""

INDENT = "  "


def block(data: Mapping[str, object], depth: int = 0) -> list[str]:
    """The lines of a mapping, in pieces to be joined; ``depth`` is how many levels it is indented."""
    pieces: list[str] = []
    _mapping(data, INDENT * depth, pieces)
    return pieces


def flow(data: object) -> str:
    """Data on one line; as JSON wherever that is possible."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return _flow(data)
    return _printable(POINTLESS.sub(_with_point, text) if EXPONENT.search(text) else text)


def flow_line(data: object, *, has_values: bool = True) -> bytes:
    """The same for rows and plain data, in as little time and space as possible; ``has_values`` is False where all in
    it is texts, flags, and numbers without an exponent."""
    try:
        text = _ENCODER.encode(data)
    except UnicodeEncodeError:
        return flow(msgspec.to_builtins(data, enc_hook=sealed)).encode()
    if text.isascii():
        is_odd = b"\x7f" in text
    else:
        is_odd = UNPRINTABLE.search(text.decode()) is not None
    if is_odd or (has_values and (b"null" in text or _EXPONENT.search(text))):
        return flow(msgspec.to_builtins(data, enc_hook=sealed)).encode()
    return text


def are_simple(values: Mapping[str, object]) -> bool:
    """Whether all of these are texts, flags and whole numbers."""
    return all(type(value) in _SIMPLE for value in values.values())


_SIMPLE = frozenset({str, bool, int})

_ENCODER = msgspec.json.Encoder(enc_hook=sealed)

_EXPONENT = re.compile(rb"[:\[,]-?\d[\d.]*[eE]")
"""What may be a number with an exponent, which YAML 1.1 would take for a text; those without one in JSON are null."""


def scalar(value: object) -> str:
    """A single value."""
    match value:
        case str():
            return _text(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _number(value)
    return str(value)


@lru_cache(maxsize=4096)
def _text(value: str) -> str:
    if PLAIN.fullmatch(value) and value.lower() not in RESERVED:
        return value
    return _printable(json.dumps(value, ensure_ascii=False))


def _mapping(data: Mapping[str, object], margin: str, pieces: list[str]) -> None:
    for key, value in data.items():
        pieces.append(f"{margin}{scalar(key)}:")
        _value(value, margin, pieces)


def _value(value: object, margin: str, pieces: list[str]) -> None:
    """A value after its key or dash, on the same line or below it."""
    if isinstance(value, str) or not value:
        pieces.append(f" {_small(value)}\n")
    elif isinstance(value, dict):
        pieces.append("\n")
        _mapping(value, margin + INDENT, pieces)
    elif isinstance(value, list | tuple):
        pieces.append("\n")
        margin += INDENT
        for item in value:
            pieces.append(f"{margin}-")
            if isinstance(item, Mapping) and item:
                _mapping_behind_dash(item, margin + INDENT, pieces)
            else:
                _value(item, margin, pieces)
    elif isinstance(value, Mapping):
        _value(dict(value), margin, pieces)
    else:
        pieces.append(f" {scalar(value)}\n")


def _mapping_behind_dash(data: Mapping[str, object], margin: str, pieces: list[str]) -> None:
    """A mapping in a list; its first entry stands on the line of the dash."""
    first = len(pieces)
    _mapping(data, margin, pieces)
    pieces[first] = f" {pieces[first][len(margin) :]}"


def _small(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return scalar(value)


def _number(value: float) -> str:
    """A float as YAML 1.1 and 1.2 both read it: with a point, and the exponent with a sign."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, e, exponent = repr(value).partition("e")
    point = "" if "." in mantissa else ".0"
    sign = "" if exponent[:1] in ("", "-", "+") else "+"
    return f"{mantissa}{point}{e}{sign}{exponent}"


def _flow(value: object) -> str:
    match value:
        case Mapping():
            return "{" + ", ".join(f"{_quoted(key)}: {_flow(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(_flow(item) for item in value) + "]"
        case str():
            return _quoted(value)
    return scalar(value)


def _quoted(text: object) -> str:
    return _printable(json.dumps(str(text), ensure_ascii=False))


def _printable(text: str) -> str:
    return UNPRINTABLE.sub(_escape, text)


def _with_point(found: re.Match[str]) -> str:
    return f"{found[1]}.0" if found[1] else found[0]


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    # Half a surrogate pair is no character: no file can hold it, and no reader of YAML takes it.
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


# Reading YAML that was written here, and may have been changed by others since.


def load(content: bytes, name: str, hint: str, *, first_line: int = 1) -> object:
    """The plain data of a document; ``first_line`` is the line of the file ``name`` at which it begins.

    Raises ``EnsembleError`` with the place and the ``hint`` for a text that is not YAML.
    """
    # Most commands find all they need in the journal.
    import yaml

    try:
        return unsealed(yaml.load(content, Loader=yaml.CSafeLoader), content)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + first_line}:{mark.column + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error)
        raise EnsembleError(f"{where}: this is no longer valid YAML: {problem}", hint) from error
