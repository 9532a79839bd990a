"""The border of the API: what every request passes before its route sees it, and every answer behind it."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import logging
import re
import secrets
import time
import typing
from collections.abc import Mapping
from functools import cache, partial
from http import HTTPStatus

import msgspec
from sqlalchemy import Connection, select
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ordito.base.suggest import nearest
from ordito.ensemble.errors import EnsembleError
from ordito.server.call import ApiCall, encoded
from ordito.server.compression import compress, plain_tag
from ordito.server.connections import check_head, pieces
from ordito.server.database.tables import ENSEMBLES, PACKAGES, PROJECTS
from ordito.server.identity.principal import Principal
from ordito.server.identity.signing_in import Credentials, by_credentials, note_use
from ordito.server.limits import group_of
from ordito.server.names import hint_at
from ordito.server.packages import DIGEST
from ordito.server.permissions import OF_SERVER, Access, Permission
from ordito.server.places import directory_of, unknown_ensemble, unknown_project
from ordito.server.problems import FAULT_HINT, ApiProblem
from ordito.server.route import FIELDS, JSON, NOT_IN_STORE, Reply, Route
from ordito.server.services import Services
from ordito.server.settings import base_url, own_names, proxies_of

_LOG = logging.getLogger(__name__)
ACCESS = logging.getLogger("ordito.server.access")

PROBLEM = "application/problem+json"
YAML = "application/yaml"
MOST_YAML = 1 << 20
"""The longest answer in bytes that is written as YAML: the server's own process has to do it."""

SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "",
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
}


def cookie_name(services: Services) -> str:
    """The name of the cookie of sessions. Cookies ignore ports, so on one machine the name tells servers apart."""
    secure = base_url(services.settings, services.port).startswith("https:")
    return "__Host-ordito" if secure else f"ordito-{services.port}"


async def answered(services: Services, routes: Mapping[str, Route], request: Request) -> Response:
    """The response to a request for one of the routes of a path, which are given by method."""
    began, request_id = time.perf_counter(), _request_id(request)
    route = routes.get("GET" if request.method == "HEAD" else request.method)
    who = ""
    try:
        check_head(request)
        check_host(services, request)
        if route is None:
            message = f"{request.url.path} cannot be asked by {request.method}"
            raise ApiProblem("no-such-method", message, f"use {', '.join(sorted(routes))}")
        if services.draining.is_set() and route.changes:
            hint = "ask again when it runs again"
            raise ApiProblem("draining", "the server is about to stop", hint, again_in=5)
        call = ApiCall(services, route, request.path_params, request_id, _address(services, request), request.headers)
        call.who = await _principal(services, request, call)
        who = call.principal.id if call.who is not None else ""
        _limit(services, call)
        _check_origin(services, request, call)
        await _admit(call)
        call.query = _query(request, route)
        if route.stream:
            _check_media(request, route.stream)
            call.stream = pieces(request)
        else:
            call.raw = await _body(services, request)
            call.body = _fields(call, request)
        wanted = _wanted_fields(call)
        reply = _narrowed(await route.handler(call), wanted)
        response = _response(route, reply, request)
        if not route.is_secret:
            await compress(response, request, reply.gzip if response.media_type == reply.media else None)
    except ApiProblem as problem:
        response = _refusal(_with_requests(services, problem, request), request_id, routes)
    except (EnsembleError, OSError) as error:
        # Where that was on this machine is for who reads the log.
        _LOG.warning("request %s: %s", request_id, error)
        folders = await _folders(services, request)
        response = _refusal(ApiProblem.of_error(error, *folders), request_id, routes)
    except ClientDisconnect:
        response = Response(status_code=400)
    except Exception:  # noqa: BLE001  the border: whoever asks gets a problem, and the log the fault
        _LOG.exception("a fault while answering %s %s (request %s)", request.method, request.url.path, request_id)
        response = _refusal(ApiProblem("internal", "a fault of Ordito itself", FAULT_HINT), request_id, routes)
    name = route.name if route is not None else "none"
    services.metrics.requests.labels(name, response.status_code).inc()
    services.metrics.seconds.labels(name).observe(time.perf_counter() - began)
    seconds = round(time.perf_counter() - began, 4)
    line = {"request": request_id, "who": who, "method": request.method, "path": request.url.path}
    ACCESS.info(json.dumps({**line, "status": response.status_code, "seconds": seconds}))
    response.headers["X-Request-Id"] = request_id
    return response


async def _folders(services: Services, request: Request) -> tuple[str, ...]:
    """What files of this request are named relative to: the ensemble, and the home of the server."""
    project, ensemble = (str(request.path_params.get(name, "")) for name in ("project", "ensemble"))
    home = str(services.home)
    try:
        return await services.database.read(lambda c: directory_of(c, project, ensemble)), home
    except ApiProblem:
        return (home,)


def refused(problem: ApiProblem, request: Request) -> Response:
    """The response to a request for which there is no route."""
    return _refusal(problem, _request_id(request), {})


def _request_id(request: Request) -> str:
    found = re.fullmatch(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}", request.headers.get("traceparent", ""))
    return found[1] if found is not None else secrets.token_hex(16)


def _with_requests(services: Services, problem: ApiProblem, request: Request) -> ApiProblem:
    """The same, where each step that helps has the request that does it, as far as the path of this one names what it
    is about."""
    problem.next = services.api.ways.with_requests(problem.next, request.path_params)
    return problem


def _refusal(problem: ApiProblem, request_id: str, routes: Mapping[str, Route]) -> Response:
    headers = {"Retry-After": str(problem.again_in)} if problem.again_in else {}
    if problem.code == "no-such-method":
        headers["Allow"] = ", ".join(sorted({*routes, *(["HEAD"] if "GET" in routes else [])}))
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="ordito"'
    return Response(msgspec.json.encode(problem.data(request_id)), problem.status, headers, PROBLEM)


def _wanted_fields(call: ApiCall) -> tuple[str, ...]:
    """The fields of the items of a list that are wanted, none for all. Raises ``ApiProblem``."""
    text = getattr(call.query, FIELDS, "")
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    item = _item(call.route.answers[0]) if names and call.route.answers else None
    if names and (not isinstance(item, type) or not issubclass(item, msgspec.Struct)):
        raise ApiProblem("malformed", "the items of this list have no fields to choose from", "leave `fields` out")
    known = item.__struct_encode_fields__ if names and item is not None else ()
    if strange := [name for name in names if name not in known]:
        near = nearest(strange[0], known)
        hint = f'did you mean "{near[0]}"?' if near else f"it may name: {', '.join(known)}"
        raise ApiProblem("malformed", f'the items of this list have no field "{strange[0][:80]}"', hint)
    return names


def _item(kind: typing.Any) -> typing.Any:
    """The type of the items of a list."""
    if of := typing.get_args(kind):
        return of[0]
    # A list that says more than its items, or nothing that has any.
    of = typing.get_args(typing.get_type_hints(kind).get("items")) if isinstance(kind, type) else ()
    return of[0] if of else None


def _narrowed(reply: Reply, names: tuple[str, ...]) -> Reply:
    """A list with nothing but the wanted fields of its items."""
    if not names:
        return reply
    found: dict[str, typing.Any] = msgspec.to_builtins(reply.data)
    items = [{name: item[name] for name in names if name in item} for item in found["items"]]
    return msgspec.structs.replace(reply, data={**found, "items": items}, gzip=None)


def _response(route: Route, reply: Reply, request: Request) -> Response:
    if isinstance(reply.data, Response):
        return reply.data
    status = reply.status or route.status
    tag = reply.headers.get("ETag", "")
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if tag and (same := next((one for one in known if plain_tag(one) == tag), "")):
        # The tag of the form that the client has, which may be the compressed one.
        return Response(status_code=304, headers={**reply.headers, "ETag": same, "Vary": "Accept-Encoding"})
    body = reply.data if isinstance(reply.data, bytes) else encoded(reply.data)
    media = reply.media
    if body and media == JSON and YAML in request.headers.get("accept", "") and len(body) <= MOST_YAML:
        body, media = _as_yaml(body), YAML
    return Response(body, status, dict(reply.headers), media if body else None)


def _as_yaml(body: bytes) -> bytes:
    """The same as YAML, for people who look at a single result."""
    import yaml

    text: str = yaml.safe_dump(msgspec.json.decode(body), allow_unicode=True, sort_keys=False, width=120)
    return text.encode()


def _address(services: Services, request: Request) -> str:
    """The address from which a request comes: what the last proxy that is not trusted has said."""
    address = request.client.host if request.client is not None else ""
    networks = proxies_of(services.settings)
    for one in reversed(request.headers.get("x-forwarded-for", "").split(",") if networks else []):
        try:
            if not any(ipaddress.ip_address(address) in network for network in networks):
                break
            address = str(ipaddress.ip_address(one.strip()))
        except ValueError:
            break
    return address


def check_host(services: Services, request: Request) -> None:
    """Refuse requests to a name that is not the server's: a page of another site may have rebound it. Raises
    ``ApiProblem``."""
    if request.headers.get("host", "") not in own_names(services.settings, services.port):
        hint = "use the URL that it printed when it started; `url` in server.yaml names another one"
        raise ApiProblem("cross-site", "this server is not called so", hint)


async def _principal(services: Services, request: Request, call: ApiCall) -> Principal | None:
    """Who asks. Raises ``ApiProblem`` for a token or a session that is not valid."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    call.credentials = Credentials(token.strip(), request.cookies.get(cookie_name(services), ""))
    found = await services.database.read(lambda c: by_credentials(c, call.credentials, call.now))
    if kind and (found is None or kind.lower() != "bearer"):
        # Who tries one token after another is an address that nobody knows.
        _limit(services, call)
        hint = "make a new one; after `Bearer ` stands the whole token"
        raise ApiProblem("expired", "the token is not known, or not valid any more", hint)
    if found is None:
        return None
    if found[1]:
        # Who looks at something is not refused because there is no room to keep when that was.
        with contextlib.suppress(ApiProblem):
            await services.database.write(lambda c: note_use(c, found[0].by, call.now))
    return found[0]


def _limit(services: Services, call: ApiCall) -> None:
    is_known = call.who is not None
    name = f"{call.principal.kind} {call.principal.id}" if is_known else f"address {group_of(call.address)}"
    pause = services.rates.take(name, known=is_known)
    if pause:
        raise ApiProblem("too-many", "too many requests in this second", "ask less often", again_in=int(pause + 1))


def _check_origin(services: Services, request: Request, call: ApiCall) -> None:
    """A page of another site must not act for somebody whose browser is signed in here."""
    is_cookie = call.who is not None and call.who.by.startswith("session")
    if not call.route.changes or not is_cookie:
        return
    own = base_url(services.settings, services.port)
    site, origin = request.headers.get("sec-fetch-site", ""), request.headers.get("origin", "")
    if site != "same-origin" and origin != own:
        raise ApiProblem("cross-site", "this request came from a page of another site", "use the pages of this server")


async def _admit(call: ApiCall) -> None:
    """Refuse who may not ask, and bring here what it is about. Raises ``ApiProblem`` and ``EnsembleError``."""
    await _permit(call)
    if NOT_IN_STORE in call.route.problems and call.services.stores is not None:
        message = "this changes files of an ensemble in a directory, and the ensembles of this server are in a store"
        hint = "write it into a directory (`ordito store export`), change it there, and put it back (`store import`)"
        raise ApiProblem("not-in-store", message, hint)
    await _bring(call)


async def _permit(call: ApiCall) -> None:
    access = call.route.access
    if access is Access.ANYBODY:
        return
    if call.who is None:
        hint = "sign in, or give a token: `Authorization: Bearer TOKEN`"
        raise ApiProblem("signed-out", "nobody is signed in, or the session is over", hint)
    if access is Access.ME:
        return
    assert isinstance(access, Permission)
    if access in OF_SERVER:
        if access not in call.who.on_server:
            await _forbid(call, access, "the administrators of the server")
        return
    await _permit_in_project(call, access)


async def _permit_in_project(call: ApiCall, access: Permission) -> None:
    if not call.project:
        return
    known = await call.services.database.read(lambda connection: _names(connection, call))
    if not known[0] or not call.principal.may_see(call.project):
        names = await call.services.database.read(lambda c: c.execute(select(PROJECTS.c.name)).scalars().all())
        raise unknown_project(call.project, filter(call.principal.may_see, names))
    permissions = call.principal.permissions(call.project, call.ensemble)
    if call.ensemble and (not known[1] or Permission.READ not in permissions):
        mine = select(ENSEMBLES.c.name).where(ENSEMBLES.c.project == call.project)
        names = await call.services.database.read(lambda c: c.execute(mine).scalars().all())
        seen = (name for name in names if call.may(Permission.READ, call.project, name))
        raise unknown_ensemble(call.project, call.ensemble, seen)
    if access is Permission.READ and call.route.of_part:
        return
    if access not in permissions:
        await _forbid(call, access, f'the owners of the project "{call.project}"')


async def _bring(call: ApiCall) -> None:
    """Bring here what the path names and another machine has. Raises ``ApiProblem`` and ``EnsembleError``."""
    services = call.services
    if services.places.folder is None:
        return
    if call.ensemble:
        find = partial(directory_of, project=call.project, ensemble=call.ensemble)
        await services.places.fresh(await services.database.read(find))
    if DIGEST.fullmatch(digest := call.path.get("digest", "")):
        known = select(PACKAGES.c.digest).where((PACKAGES.c.project == call.project) & (PACKAGES.c.digest == digest))
        if await services.database.read(lambda connection: connection.execute(known).first()) is not None:
            await services.places.bring(digest)


def _names(connection: Connection, call: ApiCall) -> tuple[bool, bool]:
    """Whether there are the project and the ensemble that the path names."""
    project = connection.execute(select(PROJECTS.c.name).where(PROJECTS.c.name == call.project)).first()
    mine = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == call.ensemble)
    return project is not None, connection.execute(select(ENSEMBLES.c.name).where(mine)).first() is not None


async def _forbid(call: ApiCall, access: Permission, who_gives: str) -> None:
    await call.denied(f"needs {access}")
    raise ApiProblem("forbidden", f'this needs the permission "{access}"', f"ask {who_gives} for a role that has it")


def _query(request: Request, route: Route) -> msgspec.Struct:
    lists = _lists(route.query)
    plain: dict[str, object] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        if len(values) > 1 and name not in lists:
            raise ApiProblem("malformed", f'the query has "{name}" more than once', "give it once")
        plain[name] = values if name in lists else values[0]
    try:
        found: msgspec.Struct = msgspec.convert(plain, route.query, strict=False)
    except msgspec.ValidationError as error:
        raise _malformed("query", error, route.query, plain) from None
    return found


@cache
def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The fields that may be given more than once."""
    hints = typing.get_type_hints(kind)
    return frozenset(name for name in kind.__struct_fields__ if typing.get_origin(hints[name]) is tuple)


DEEPEST = 64
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")


def check_depth(body: bytes) -> None:
    """Refuse JSON that is nested so deep that others who read it later would fail at it. Raises ``ApiProblem``."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for found in _BRACKETS.finditer(_TEXTS.sub(b"", body)):
        depth += 1 if found[0] in b"[{" else -1
        if depth > DEEPEST:
            raise ApiProblem("malformed", f"the body is nested more than {DEEPEST} deep", "send it flatter")


async def _body(services: Services, request: Request) -> bytes:
    most, found = services.settings.limits.body, bytearray()
    async for piece in pieces(request):
        found += piece
        if len(found) > most:
            raise ApiProblem("too-large", f"the body has more than {most} bytes", "send less at once")
    return bytes(found)


def _fields(call: ApiCall, request: Request) -> msgspec.Struct | None:
    wanted = call.route.body
    if wanted is None:
        if call.raw:
            raise ApiProblem("malformed", "this takes no body", "leave it out")
        return None
    _check_media(request, JSON)
    check_depth(call.raw)
    try:
        try:
            return msgspec.json.decode(call.raw, type=wanted)
        except msgspec.ValidationError as error:
            # What stands behind the value that does not fit was not read: it may be no JSON.
            raise _malformed("body", error, wanted, msgspec.json.decode(call.raw)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiProblem("malformed", f"the body is not JSON: {error}", "correct it there, and send it again") from None


def _check_media(request: Request, wanted: str) -> None:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        raise ApiProblem("media-type", f"the body must be {wanted}", f"send it with Content-Type: {wanted}")


def _malformed(part: str, error: msgspec.ValidationError, kind: type[msgspec.Struct], given: object) -> ApiProblem:
    hint = hint_at(error, kind, given)
    if not hint and kind.__struct_fields__ and "`$" not in str(error):
        hint = f"it may have: {', '.join(kind.__struct_fields__)}"
    return ApiProblem("malformed", f"the {part} is not as it must be: {error}", hint)
