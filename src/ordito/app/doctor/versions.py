"""Versions in what programs and packages say of themselves."""

from __future__ import annotations

import re

Version = tuple[int, ...]

_NUMBERS = re.compile(r"\d+(?:\.\d+)+(?:p\d+)?")


def shown(text: str) -> str:
    """The first thing in a text that looks like a version; "" where there is none."""
    found = _NUMBERS.search(text)
    return found[0] if found else ""


def numbers(version: str) -> Version:
    """The numbers of a version, for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def is_older(version: str, least: str) -> bool:
    """Whether a version is below the least one; where either is not known it is not."""
    return bool(version and least) and numbers(version) < numbers(least)
