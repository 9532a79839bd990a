"""Routes about the server itself."""

from __future__ import annotations

import time

import msgspec
from sqlalchemy import text

from ordito import __version__
from ordito.ensemble.job_format import moment
from ordito.results.pages import as_markdown, read_page
from ordito.server.call import ApiCall
from ordito.server.permissions import Access, Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Reply, Route

PLAIN = "text/plain; charset=utf-8"


class ServerData(msgspec.Struct, frozen=True):
    """The server: its version, and how to sign in."""

    ordito: str
    api: tuple[str, ...]
    sign_in: tuple[str, ...]
    """The ways to sign in."""

    time: str
    body_limit: int
    """Bytes that a body may have."""

    isolation: str
    """``bubblewrap`` where projects see nothing of each other, else ``none``."""


async def _server(call: ApiCall) -> Reply:
    settings = call.services.settings
    ways, now = ("password", "link", "token"), moment(call.now)
    return Reply(ServerData(__version__, ("v1",), ways, now, settings.limits.body, settings.isolation))


async def _problem(call: ApiCall) -> Reply:
    page = read_page(call.path["code"])
    if page is None:
        raise ApiProblem(
            "unknown-page", f'there is no problem "{call.path["code"][:80]}"', "`ordito explain` has a list"
        )
    return Reply("\n".join(as_markdown(page)).encode(), media=PLAIN)


async def _health(_: ApiCall) -> Reply:
    return Reply(HealthData(True, ()))


class HealthData(msgspec.Struct, frozen=True):
    """Whether the server is well."""

    well: bool
    problems: tuple[str, ...]
    """What keeps it from being ready."""


async def _ready(call: ApiCall) -> Reply:
    services = call.services
    problems = []
    if services.draining.is_set():
        problems.append("it is about to stop")
    if not services.link.is_alive:
        problems.append("the fork server does not run")
    began = time.monotonic()
    await services.database.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
    if time.monotonic() - began > 5:
        problems.append("the database is slow")
    return Reply(HealthData(not problems, tuple(problems)), 503 if problems else 200)


async def _metrics(call: ApiCall) -> Reply:
    return Reply(call.services.metrics.text().encode(), media="text/plain; version=0.0.4; charset=utf-8")


async def _openapi(call: ApiCall) -> Reply:
    return Reply(call.services.openapi())


TABLE = (
    Route(
        method="GET",
        path=BASE,
        access=Access.ANYBODY,
        summary="The version of the server, and how to sign in.",
        handler=_server,
        answers=(ServerData,),
    ),
    Route(
        method="GET",
        path=BASE + "/openapi.json",
        access=Access.ANYBODY,
        summary="This API as OpenAPI 3.1.",
        handler=_openapi,
    ),
    Route(
        method="GET",
        path="/problems/{code}",
        access=Access.ANYBODY,
        summary="What the code of a problem means, and what to do about it, in Markdown.",
        handler=_problem,
        problems=("unknown-page",),
        verb="explain",
        media=PLAIN,
    ),
    Route(
        method="GET",
        path="/healthz",
        access=Access.ANYBODY,
        summary="Whether the server answers.",
        handler=_health,
        answers=(HealthData,),
    ),
    Route(
        method="GET",
        path="/readyz",
        access=Access.ANYBODY,
        summary="Whether the server can do what is asked of it: database and processes.",
        handler=_ready,
        answers=(HealthData,),
    ),
    Route(
        method="GET",
        path="/metrics",
        access=Permission.AUDIT,
        summary="Figures for Prometheus.",
        handler=_metrics,
        media=PLAIN,
    ),
)
