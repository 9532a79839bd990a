"""Changing what a server keeps as a whole: read, changed here, and written back if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest

import msgspec

from ordito.client.connection import NO_HEADERS, ServerAnswer, ServerConnection
from ordito.client.errors import ServerError
from ordito.results.failure import Failure

CHANGED = "changed"
MATCH_REQUIRED = "match-required"
LONGEST = 60
"""Characters of a value in a message."""


def edited(
    connection: ServerConnection, method: str, path: str, change: Callable[[bytes], object], *, absent: str = ""
) -> ServerAnswer:
    """Replace what stands at a path by what ``change`` makes of its JSON: of nothing where the server answers with the
    code ``absent``. Raises ``ServerError``, which says what others have changed meanwhile."""
    try:
        found = connection.ask("GET", path)
    except ServerError as error:
        if not absent or error.failure.code != absent:
            raise
        before, headers = b"", NO_HEADERS
    else:
        before, headers = found.body, {"If-Match": found.headers["ETag"]}
    try:
        return connection.ask(method, path, body=change(before), headers=headers)
    except ServerError as error:
        if error.failure.code not in (CHANGED, MATCH_REQUIRED):
            raise
        raise _told(error, before, connection.ask("GET", path).body) from None


def _told(error: ServerError, before: bytes, after: bytes) -> ServerError:
    """The same refusal, with what is different now."""
    old = msgspec.json.decode(before, type=dict[str, object]) if before else {}
    new = msgspec.json.decode(after, type=dict[str, object])
    what = "; ".join(_differences(old, new))
    message = f"somebody else has changed it meanwhile{f': {what}' if what else ''}"
    failure = Failure("changed", message, "look at it, and give the command again: it begins with what is there now")
    return ServerError(failure, status=error.status)


def _differences(old: dict[str, object], new: dict[str, object]) -> Iterator[str]:
    for name, now in new.items():
        before = old.get(name)
        if before == now:
            continue
        if isinstance(before, str) and isinstance(now, str) and "\n" in before + now:
            lines = zip_longest(before.splitlines(), now.splitlines())
            first = next((number for number, (a, b) in enumerate(lines, 1) if a != b), 1)
            yield f"its {name} from line {first} on"
        else:
            text = msgspec.json.encode(now).decode()
            yield f"{name} is now {text if len(text) <= LONGEST else f'{text[:LONGEST]}...'}"
