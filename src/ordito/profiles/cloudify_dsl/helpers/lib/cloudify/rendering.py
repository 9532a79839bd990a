"""Fills templates: with Jinja2 where the interpreter has it, else those that only name values."""

from __future__ import annotations

import re
from typing import Any

from cloudify.exceptions import NonRecoverableError

_VALUE = re.compile(r"\{\{\s*([A-Za-z_][\w.\[\]'\"-]*)\s*\}\}")
_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\[['\"]([^'\"]*)['\"]\]")


def rendered(text: str, values: dict[str, Any], name: str) -> str:
    """The text of a template."""
    try:
        from jinja2 import Template
    except ImportError:
        return _plain(text, values, name)
    made: str = Template(text, keep_trailing_newline=True).render(values)
    return made


def _plain(text: str, values: dict[str, Any], name: str) -> str:
    left = _VALUE.sub("", text)
    if "{%" in left or "{{" in left or "{#" in left:
        why = "{} is a template with more than names of values in it: install jinja2 for the python3 of this machine"
        raise NonRecoverableError(why.format(name))
    return _VALUE.sub(lambda match: _found(match.group(1), values), text)


def _found(path: str, values: dict[str, Any]) -> str:
    at: Any = values
    for step in _STEP.finditer(path):
        name = next(part for part in step.groups() if part is not None)
        try:
            at = at[int(name)] if step.group(2) else at[name]
        except (KeyError, IndexError, TypeError):
            at = getattr(at, name, "")
    return str(at)
