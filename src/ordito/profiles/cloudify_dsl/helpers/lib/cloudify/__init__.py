"""What scripts of blueprints import as ``cloudify``, as far as Ordito serves it.

``ctx`` is made when it is first used, so that a script can be imported where there is no operation.
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from types import TracebackType
from typing import Any

from cloudify import exceptions, overlay


class _Later:
    """``ctx`` and the inputs, which are looked up when they are asked for."""

    def __init__(self, find: Any) -> None:
        object.__setattr__(self, "_find", find)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._find(), name, value)

    def __repr__(self) -> str:
        return repr(self._find())


_made: list[Any] = []
_own = os.getpid()


def context() -> Any:
    """What ``ctx`` stands for."""
    if not _made:
        from cloudify.context import Context

        _made.append(Context())
    return _made[0]


class Inputs(dict):  # type: ignore[type-arg]
    """The inputs of the operation, by key and by attribute."""

    def __init__(self) -> None:
        super().__init__(overlay.document()["inputs"] if os.environ.get(overlay.CONTEXT) else {})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError("the operation has no input {}".format(name)) from None


ctx: Any = _Later(context)


def _keep() -> None:
    """Keep what has changed in runtime properties when the script ends. A child that it has forked keeps nothing."""
    if not _made or os.getpid() != _own:
        return
    try:
        _made[0].keep()
    except exceptions.CloudifyException as error:
        print(error, file=sys.stderr)

        def fail(said: dict[str, Any], why: str = str(error)) -> None:
            said[overlay.NEVER] = why

        overlay.change(fail)


_shown = sys.excepthook


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say how the operation ends, where an exception that nobody has caught means that."""
    message = str(error) or kind.__name__
    if os.environ.get(overlay.CONTEXT) and isinstance(
        error, (exceptions.NonRecoverableError, exceptions.RecoverableError)
    ):

        def say(said: dict[str, Any]) -> None:
            for name in (overlay.AGAIN, overlay.NEVER, overlay.RESULT):
                said.pop(name, None)
            if isinstance(error, exceptions.NonRecoverableError):
                said[overlay.NEVER] = message
            else:
                after = getattr(error, "retry_after", None)
                said[overlay.AGAIN] = {"message": message, "after": None if after is None else float(after)}

        overlay.change(say)
    if isinstance(error, exceptions.OperationRetry):
        print("{}: {}".format(kind.__name__, message), file=sys.stderr)
    elif _shown is sys.__excepthook__:
        traceback.print_exception(kind, error, trace)
    else:
        _shown(kind, error, trace)


sys.excepthook = _ended
atexit.register(_keep)


def __getattr__(name: str) -> Any:
    if name in ("manager", "utils", "state", "decorators", "workflows", "mocks"):
        import importlib

        try:
            return importlib.import_module("cloudify." + name)
        except ImportError:
            pass
    raise AttributeError("cloudify.{} is not served by Ordito".format(name))


__all__ = ["ctx", "exceptions"]
