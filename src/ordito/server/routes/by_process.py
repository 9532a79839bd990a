"""What routes have in common that let a process look at an ensemble, or change something in it."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection

from ordito.ensemble.errors import EnsembleError
from ordito.results.answer import Asked, UseCase
from ordito.server.call import ApiCall
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Reply, Route


async def reads_of_call(call: ApiCall) -> tuple[str, ...]:
    """What a process about the ensemble of a call may read: its directory comes first."""
    return await call.services.database.read(lambda c: reads_of(c, call.services.home, call.project, call.ensemble))


async def ask_process(
    call: ApiCall, use_case: UseCase[Any, Any], asked: Asked, reads: tuple[str, ...] | None = None
) -> bytes:
    """The JSON of what a process answers or does. Raises ``ApiProblem``."""
    found = reads or await reads_of_call(call)
    return await call.services.queries.ask(use_case.name, found[0], msgspec.json.encode(asked), found)


async def let_process(
    call: ApiCall, use_case: UseCase[Any, Any], asked: Asked, action: str, *, about: str = ""
) -> Reply:
    """Let a process change something, and write down that it did: once, where the same request comes again with the
    same key."""
    kept = await call.begin()
    if kept is not None:
        return kept
    try:
        body = await ask_process(call, use_case, asked)
    except (ApiProblem, EnsembleError, OSError):
        await call.let_go()
        raise

    def done(_: Connection) -> Reply:
        return Reply(None if call.route.status == 204 else body)

    return await call.change(action, done, about=about or call.ensemble)


_PROBLEMS = ("unknown-project", "unknown-ensemble", "no-ensemble", "ensemble", "too-costly")


def ensemble_route(method: str, path: str, access: Permission, summary: str, handler: Any, **more: Any) -> Route:
    """A route about an ensemble, with the problems that all of them can have."""
    problems = (*_PROBLEMS, *more.pop("problems", ()))
    return Route(method=method, path=ENSEMBLE + path, access=access, summary=summary, handler=handler,
                 problems=problems, **more)  # fmt: skip
