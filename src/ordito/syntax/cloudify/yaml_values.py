"""Single values as YAML 1.1 takes them, in which blueprints are written, in the form that YAML 1.2 has for them."""

from __future__ import annotations

import re

from ordito.source.nodes import Node, Scalar

TRUTH = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
}
NUMBER = re.compile(r"[-+.0-9]")
WHOLE = re.compile(
    r"(?P<sign>[-+]?)"
    r"(?:0b(?P<two>[01_]+)|0(?P<eight>[0-7_]+)|0x(?P<hex>[0-9a-fA-F_]+)|(?P<ten>[1-9][0-9_]*))"
)
SIXTIES = re.compile(r"(?P<sign>[-+]?)(?P<parts>[1-9][0-9_]*(?::[0-5]?[0-9])+)")
POINT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")
SCIENTIFIC = re.compile(r"[-+]?(?:\.?[0-9]|[0-9])[0-9.]*[eE][-+]?[0-9]+")
DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)?")
MOST_DIGITS = 300


def truth(node: Node) -> bool | None:
    """The truth value that a node is, None for what is none."""
    return TRUTH.get(node.text) if isinstance(node, Scalar) and node.plain else None


def meant(text: str) -> str | None:
    """What YAML 1.2 writes for a text without quotes that means something else in YAML 1.1; None where both read it
    alike. A text that only YAML 1.2 takes for a number comes back as it is: it is to be put in quotes."""
    if text in TRUTH:
        plain = "true" if TRUTH[text] else "false"
        return plain if plain != text else None
    if not NUMBER.match(text) or len(text) > MOST_DIGITS:
        return None
    if text.isdecimal() and (text[0] != "0" or text == "0"):
        return None
    whole = WHOLE.fullmatch(text)
    if whole is not None:
        return _whole(whole)
    sixties = SIXTIES.fullmatch(text)
    if sixties is not None:
        number = 0
        for part in sixties["parts"].replace("_", "").split(":"):
            number = number * 60 + int(part)
        return f"{sixties['sign'].replace('+', '')}{number}"
    if "_" in text and POINT.fullmatch(text):
        return text.replace("_", "")
    return None


def is_text(text: str) -> bool:
    """Whether YAML 1.1 takes for a text what YAML 1.2 would take for a number."""
    if not NUMBER.match(text):
        return False
    if text.startswith("0o"):
        return True
    if text.lstrip("+-").startswith("0") and text.lstrip("+-").isdecimal() and set(text) & {"8", "9"}:
        return True
    return SCIENTIFIC.fullmatch(text) is not None and POINT.fullmatch(text) is None


def is_date(text: str) -> bool:
    """Whether YAML 1.1 takes a text for a date or a time."""
    return text[:1].isdecimal() and DATE.fullmatch(text) is not None


def _whole(found: re.Match[str]) -> str:
    for base, digits in ((2, found["two"]), (8, found["eight"]), (16, found["hex"]), (10, found["ten"])):
        if digits is not None and digits.replace("_", ""):
            number = int(digits.replace("_", ""), base)
            return f"{'-' if found['sign'] == '-' and number else ''}{number}"
    return found[0]
