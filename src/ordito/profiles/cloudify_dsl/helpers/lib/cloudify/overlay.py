"""The two files of an operation: the document that ctx reads, and the file of outputs, which takes what it changes.

Both are named by variables. Several processes may use them at once: whoever changes something holds the lock, and what
is read includes what others have changed by then.

Like all files in this folder it runs on the hosts of a service: standard library only, nothing newer than Python 3.7.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

CONTEXT, OUTPUTS, SERVICE = "ORDITO_CONTEXT", "ORDITO_OUTPUTS", "ORDITO_SERVICE"
ATTRIBUTES, AGAIN, NEVER, RESULT = "ordito.attributes", "ordito.again", "ordito.never", "result"


class NoContext(Exception):
    """There is no operation that this process belongs to."""


class SaidTwice(Exception):
    """An operation has said more than once how it ends."""


def document() -> dict[str, Any]:
    """What is known of the operation and its instance."""
    path = os.environ.get(CONTEXT)
    if not path:
        raise NoContext("ctx is there for operations that Ordito runs: this process belongs to none")
    with open(path, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
        return found


def changes() -> dict[str, Any]:
    """What the operation has changed or said until now."""
    try:
        with open(os.environ.get(OUTPUTS, ""), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return {}
    found: dict[str, Any] = json.loads(text) if text.strip() else {}
    return found


def version() -> tuple[int, int]:
    """Another value once something has changed."""
    try:
        found = os.stat(os.environ.get(OUTPUTS, ""))
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def change(edit: Callable[[dict[str, Any]], None]) -> None:
    """Change what is said, alone: ``edit`` is given all of it."""
    with _alone():
        said = changes()
        edit(said)
        content = json.dumps(said, allow_nan=False).encode()
        descriptor = os.open(os.environ[OUTPUTS], os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            # In one go, and cut afterwards: whoever is killed in between leaves no half of it.
            os.write(descriptor, content + b"\n" * max(0, os.fstat(descriptor).st_size - len(content)))
            os.ftruncate(descriptor, len(content))
        finally:
            os.close(descriptor)


def set_attributes(entity: str, values: dict[str, Any]) -> None:
    """Set runtime properties of an end; None removes one."""

    def edit(said: dict[str, Any]) -> None:
        said.setdefault(ATTRIBUTES, {}).setdefault(entity, {}).update(values)

    change(edit)


def say_end(name: str, value: Any) -> None:
    """Say how the operation ends, which can be done once."""

    def edit(said: dict[str, Any]) -> None:
        if any(known in said for known in (AGAIN, NEVER, RESULT)):
            raise SaidTwice("only one of retry, abort and returns can be used in one operation, and only once")
        said[name] = value

    change(edit)


def give_result(value: Any, *, polls: bool) -> None:
    """Set the result of the operation. One that is waited for is asked again until its result is true."""
    if polls and not value:
        say_end(AGAIN, {"message": "it is not ready yet: it has returned {}".format(json.dumps(value))})
    else:
        say_end(RESULT, value)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    with open(os.environ[CONTEXT], "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
