"""The application: all routes, as Starlette serves them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordito.base.suggest import nearest
from ordito.server.border import SECURITY, answered, check_host, refused
from ordito.server.openapi import document
from ordito.server.places import keep_reads, service_place, without_reads
from ordito.server.problems import ApiProblem
from ordito.server.route import Route, Ways
from ordito.server.routes.table import ROUTES
from ordito.server.services import RouteIndex, Services
from ordito.server.settings import base_url
from ordito.server.web_pages import WebPages

_LOG = logging.getLogger(__name__)


def application(services: Services) -> ASGIApp:
    """The application of a server."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    routes = [StarletteRoute(path, _endpoint(services, methods), methods=None) for path, methods in by_path.items()]
    made = Starlette(routes=routes, lifespan=_lifespan(services))
    pages, nothing = _pages(services), made.router.default

    async def others(scope: Scope, receive: Receive, send: Send) -> None:
        # No route matches every path: one for all of them leaves out those with a line break.
        await (pages if scope["type"] == "http" else nothing)(scope, receive, send)

    made.router.default = others
    made.router.redirect_slashes = False
    return _Headers(made, services)


FIRST_SECONDS = 5.0
"""Seconds for which the start waits until it is known where the services of ensembles lie that were added."""


@cache
def _openapi() -> bytes:
    return msgspec.json.encode(document(ROUTES))


API = RouteIndex(_openapi, Ways(ROUTES))
"""What routes say about all of them."""


class _Endpoint:
    """One path: a class, since Starlette would add methods to a function."""

    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)


def _endpoint(services: Services, methods: Mapping[str, Route]) -> _Endpoint:
    return _Endpoint(lambda request: answered(services, methods, request))


def _pages(services: Services) -> _Endpoint:
    """Whatever is no route of the API: pages of the web UI, and what does not exist."""
    pages = WebPages()

    async def answer(request: Request) -> Response:
        try:
            check_host(services, request)
            if request.method in ("GET", "HEAD") and (found := pages.answer(request)) is not None:
                return found
            if request.method in ("GET", "HEAD") and (found := pages.missing(request)) is not None:
                return found
            near = nearest(request.url.path, {route.path for route in ROUTES})
            hint = f"did you mean {near[0]}?" if near else "see /api/v1/openapi.json"
            raise ApiProblem("unknown-page", f"there is no {request.url.path[:200]}", hint)
        except ApiProblem as problem:
            return refused(problem, request)

    return _Endpoint(answer)


def _lifespan(services: Services) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        services.link.start()
        finding = asyncio.create_task(_find_services(services))
        # Of many that were added at once the rest is found out while the first ones are looked at.
        await asyncio.wait([finding], timeout=FIRST_SECONDS)
        await services.start()
        await services.outbox.start()
        services.keeper.start()
        services.sources.start()
        services.supervisor.start()
        yield
        services.draining.set()
        finding.cancel()
        await services.supervisor.stop()
        services.webhooks.stop()
        services.sources.stop()
        await services.keeper.stop()
        await services.outbox.stop()
        await services.stop()
        await services.link.stop(10.0, leaves=bool(services.runners.count))

    return running


async def _find_services(services: Services) -> None:
    """Find out where the services lie of ensembles that were added when the server was started."""
    for project, ensemble, directory in await services.database.read(without_reads):
        try:
            place = await service_place(services.queries, directory)
        except ApiProblem as problem:
            # It is found out at the next start; until then only its own directory is read.
            _LOG.warning("%s/%s: %s", project, ensemble, problem.detail)
            continue
        await services.database.write(partial(keep_reads, project=project, ensemble=ensemble, place=place))


class _Headers:
    """Adds the headers that keep browsers from what pages of this server never do."""

    def __init__(self, inner: ASGIApp, services: Services) -> None:
        self._inner = inner
        self._headers = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]
        if base_url(services.settings, services.port).startswith("https:"):
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A page that has a policy of its own says so.
                own = {name for name, _ in message["headers"]}
                more = [(name, value) for name, value in self._headers if name not in own]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self._inner(scope, receive, sending)
