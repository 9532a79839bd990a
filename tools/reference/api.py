"""The page on the API of the server: each route, from the table of routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_origin

from msgspec import inspect

from ordito.server.openapi import EVERYWHERE
from ordito.server.permissions import ROLES, Access, Permission
from ordito.server.problems import status_of
from ordito.server.route import Fields, ListPart, Route
from ordito.server.routes.table import ROUTES
from tools.reference.markdown import MADE, cell, code, joined, table

HEAD = f"""\
# API of the server

This page is good for programs that talk to [`ordito serve`](../guides/serve.md). Every route is here, with who may ask
it; `/api/v1/openapi.json` of each server describes the same with all types, as OpenAPI 3.1.

Bodies and answers are JSON. A request carries a token (`Authorization: Bearer TOKEN`), or the cookie of a session.
Answers about ensembles are the [results](results.md) of the command with `-o json`; what is sensitive is never in any.
Unknown fields are refused, and answers may get further names.

- **Problems**: what is not done is told as `application/problem+json`, with the code, text, hint and next commands that
  the command shows. `GET /problems/CODE` explains a code, as `ordito explain CODE` does.
- **Repeating**: where it says *key*, the header `Idempotency-Key` makes a request safe to repeat for 24 hours: the same
  again gets the same answer.
- **Unchanged**: answers about ensembles have an `ETag`; with `If-None-Match` the answer is 304 while nothing of the
  ensemble has changed. What replaces a whole list needs `If-Match`.
- **Lists** come in parts: `next` is the cursor to give as `after` for the part behind, null at the end.

{MADE}
"""

PARTS = {
    "The server": ("server", "about"),
    "Who is signed in": ("identity",),
    "The store": ("store",),
    "Signing in by a provider": ("oidc",),
    "Signing commands in": ("logins",),
    "Users, groups, audit": ("users",),
    "Projects": ("projects",),
    "Packages": ("packages",),
    "Ensembles": ("known_ensembles", "new_ensembles", "removal"),
    "What is in an ensemble": ("ensembles",),
    "What an ensemble is given": ("given", "service_inputs", "sources"),
    "Plans": ("plans",),
    "Rules and freezes": ("rules",),
    "Jobs": ("jobs", "job_pages", "job_files"),
    "Records": ("records",),
    "Schedules": ("schedules",),
    "Webhooks": ("webhooks",),
    "Searching": ("search",),
    "Events": ("live",),
}
"""The modules whose routes stand below each heading."""


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Roles"
    yield ""
    yield "Roles are given in a project, or in one ensemble of it, to users, groups and service accounts."
    yield ""
    rows = [
        (code(one), *("x" if one in permissions else "" for permissions in ROLES.values()))
        for one in Permission
        if any(one in permissions for permissions in ROLES.values())
    ]
    yield from table(("permission", *ROLES), rows)
    yield (
        "Administrators of the server may do all of it everywhere, and `administer`; auditors may `read` everywhere, "
        "and `audit`."
    )
    yield ""
    rest = list(ROUTES)
    for title, modules in PARTS.items():
        yield f"## {title}"
        yield ""
        found = [route for route in rest if _module(route) in modules]
        rest = [route for route in rest if _module(route) not in modules]
        yield from table(("asks", "may", "takes", "gives", "besides"), map(_row, found))
    assert not rest, f"no heading has {rest[0].path}"
    yield f"Every route may answer {', '.join(code(one) for one in EVERYWHERE)} as well."
    yield ""
    yield from _events()
    yield "Next: [serving a team](../guides/serve.md), [results](results.md), [events](events.md)."


def _module(route: Route) -> str:
    return str(route.handler.__module__).rpartition(".")[2]


def _row(route: Route) -> tuple[str, ...]:
    path = route.path.removeprefix("/api/v1") or "/"
    shown = path if route.path.startswith("/api/v1") else route.path
    who = {Access.ANYBODY: "anybody", Access.ME: "who is signed in"}
    access = who[route.access] if isinstance(route.access, Access) else code(route.access)
    named = f"`{route.method} {shown}`: {cell(route.summary)}"
    command = f" (`ordito {route.verb}`)" if route.verb else ""
    problems = ", ".join(f"{status_of(one)} {code(one)}" for one in route.problems)
    key = ["key"] if route.keyed else []
    return named + command, access, _takes(route), _gives(route), "; ".join([*key, *([problems] if problems else [])])


def _takes(route: Route) -> str:
    found = [f"`?{name}`" for name in _names(route.query) if "{" + name + "}" not in route.path]
    return ", ".join([*found, *(code(name) for name in _names(route.body))])


def _names(kind: Any) -> list[str]:
    if kind is None or kind is Fields:
        return []
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return [field.encode_name for field in info.fields]


def _gives(route: Route) -> str:
    return " or ".join(_shown(one) for one in route.answers) or ("" if route.status == 204 else cell(route.media))


def _shown(kind: Any) -> str:
    if get_origin(kind) is ListPart:
        return f"list of {', '.join(_fields(kind.__args__[0]))}"
    tag = kind.__struct_config__.tag
    return f"[`{tag}`](results.md)" if isinstance(tag, str) else ", ".join(_fields(kind)) or "result"


def _fields(kind: Any) -> list[str]:
    return [code(name) for name in _names(kind)][:8]


def _events() -> Iterator[str]:
    yield "## Following"
    yield ""
    yield (
        "`GET /events?topic=...` follows up to 16 topics. With `Accept: text/event-stream` it answers server-sent "
        "events, with `application/x-ndjson` one JSON object a line, else one part as JSON, for which `wait` says how "
        "many seconds it waits for something new. The cursor of each event, its `id`, goes on exactly behind it, also "
        "after the server was restarted: as `Last-Event-ID` or `after`."
    )
    yield ""
    of_ensemble = (
        "`ensemble.changed`: something of it is not as before; `instances.changed`: what a job changes of instances, "
        "in columns with the letters of the topology, and the operation that runs on each; `statuses.changed`: how "
        "instances are with what they depend on, of those of which that differs, and how the whole service is; "
        "`lock.changed`: another command works on it, or none any more; `queue.changed`: so many plans wait for their "
        "turn"
    )
    rows = [
        ("`ensemble:P/E`", of_ensemble, "`read`"),
        ("`audit`", "`audit.written`: a row of the audit log, without its detail", "`audit` on the server"),
        ("`job:P/E/JOB`", "the [events](events.md) of a job, those of commands in a terminal too", "`read`"),
        ("`log:P/E/JOB`", "`step.log`: what the operations of a job print", "`logs`"),
    ]
    yield from table(("topic", "tells", "may"), rows)
    yield (
        "`stream.live` says that all that was before is told, `stream.closing` that the server stops, and after how "
        "many seconds to come back (`again_in`), `stream.gap` that events are no longer kept, `stream.denied` that the "
        "permission has gone. Where nothing is new, there is an empty line or a comment every 15 seconds: of a stream "
        "that is silent for longer, the server does not answer. Who has not the permission "
        "`logs` gets events without what was printed, and without inputs and outputs."
    )
    yield ""
