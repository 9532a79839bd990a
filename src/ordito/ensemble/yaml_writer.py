"""Writes plain data as YAML that git shows well: one key a line, nothing folded, every text certain to stay a text.

It knows mappings, lists, texts, numbers, booleans and null, and no more; so it is many times faster than a general
writer. What it writes means the same to readers of YAML 1.1 and 1.2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping

PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./+@%=-]|:(?=[A-Za-z0-9/]))*")
"""Texts that need no quotes, as long as they are no ``RESERVED`` word."""

RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})

UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that JSON leaves as they are and YAML does not."""

INDENT = "  "


def block(data: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    """The lines of a mapping, each with its newline; ``depth`` is how many levels it is indented."""
    margin = INDENT * depth
    for key, value in data.items():
        yield from _entry(f"{margin}{scalar(key)}:", value, depth)


def flow(data: object) -> str:
    """The same on one line; JSON wherever JSON can say it."""
    try:
        return _printable(json.dumps(data, ensure_ascii=False, allow_nan=False))
    except ValueError:
        return _flow(data)


def scalar(value: object) -> str:
    """A single value."""
    match value:
        case str():
            if PLAIN.fullmatch(value) and value.lower() not in RESERVED:
                return value
            return _printable(json.dumps(value, ensure_ascii=False))
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _number(value)
    return str(value)


def _entry(head: str, value: object, depth: int) -> Iterator[str]:
    """A value after its key or dash, on the same line or below it."""
    if isinstance(value, Mapping) and value:
        yield f"{head}\n"
        yield from block(value, depth + 1)
    elif isinstance(value, list | tuple) and value:
        yield f"{head}\n"
        margin = INDENT * (depth + 1)
        for item in value:
            yield from _item(margin, item, depth + 1)
    else:
        yield f"{head} {_small(value)}\n"


def _item(margin: str, item: object, depth: int) -> Iterator[str]:
    """An item of a list; the first entry of a mapping stands behind the dash."""
    if isinstance(item, Mapping) and item:
        lines = block(item, depth + 1)
        yield f"{margin}- {next(lines)[len(margin) + len(INDENT) :]}"
        yield from lines
    else:
        yield from _entry(f"{margin}-", item, depth)


def _small(value: object) -> str:
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


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    # Half a surrogate pair is no character: no file can hold it, and no reader of YAML takes it.
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"
