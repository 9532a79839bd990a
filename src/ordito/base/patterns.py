"""Regular expressions that users write: compiled once, matched against whole values (TOSCA 1.3 §3.6.3, ``pattern``)."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache


@lru_cache(maxsize=1_000)
def compile_pattern(text: str) -> re.Pattern[str]:
    """The compiled form of a pattern; ``ValueError`` with the reason where the text is no regular expression.

    What Python finds doubtful in a pattern but accepts is no concern of the user's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {error}") from None


def matches(text: str, value: str) -> bool:
    """Whether a whole value matches the pattern ``text``."""
    return compile_pattern(text).fullmatch(value) is not None
