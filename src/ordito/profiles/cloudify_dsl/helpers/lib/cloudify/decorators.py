"""Decorators of functions that scripts call themselves."""

from __future__ import annotations

import functools
from typing import Any

from cloudify.exceptions import NonRecoverableError
from cloudify.state import ctx, ctx_parameters


def operation(function: Any = None, **_: Any) -> Any:
    """A function that is given ``ctx``, and the inputs of the operation where it is called without any."""
    if function is None:
        return operation

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        given = named if named or args else dict(ctx_parameters)
        given.setdefault("ctx", ctx)
        return function(*args, **_accepted(function, given))

    return called


def workflow(function: Any = None, **_: Any) -> Any:
    """Refuses: scripts of workflows are not run."""

    def called(*_: Any, **__: Any) -> Any:
        raise NonRecoverableError("workflow scripts are not run")

    return workflow if function is None else functools.wraps(function)(called)


def _accepted(function: Any, given: dict[str, Any]) -> dict[str, Any]:
    code = function.__code__
    if code.co_flags & 0x08:
        return given
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in given.items() if name in names}
