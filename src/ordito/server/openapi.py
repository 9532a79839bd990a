"""The API as an OpenAPI 3.1 document, made from its routes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ordito import __version__
from ordito.server.permissions import Access
from ordito.server.problems import ProblemData, status_of
from ordito.server.route import Route

REF = "#/components/schemas/{name}"
EVERYWHERE = ("malformed", "cross-site", "too-many", "too-large", "internal", "busy", "ensemble", "system")
CHANGING = ("media-type", "draining", "no-space")


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The document of these routes, as plain data."""
    types = _types(routes)
    schemas, components = msgspec.json.schema_components(types, ref_template=REF, schema_hook=any_value)
    schema_of = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.template, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ordito", "version": __version__, "description": inspect.cleandoc(ABOUT)},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "__Host-ordito"},
            },
        },
    }


ABOUT = """
    Results are those of the command with `-o json`. Whatever is not done is told as a problem (RFC 9457), with the same
    code, text and hint as in the command.
"""


def any_value(kind: type) -> dict[str, Any]:
    """The schema of values of the template, which may be anything."""
    if kind is object:
        return {"description": "Any value."}
    raise NotImplementedError(kind)


def _types(routes: Sequence[Route]) -> list[Any]:
    found: dict[str, Any] = {}
    for route in routes:
        for one in (*route.answers, route.query, *([route.body] if route.body is not None else [])):
            found[repr(one)] = one
    found[repr(ProblemData)] = ProblemData
    return list(found.values())


def _operation(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": _description(route),
        "parameters": [*_of_path(route), *_of_query(route), *_of_headers(route)],
        "responses": _responses(route, schema_of),
    }
    if route.access is not Access.ANYBODY:
        made["security"] = [{"token": []}, {"session": []}]
    if route.body is not None:
        content = {"application/json": {"schema": schema_of[repr(route.body)]}}
        made["requestBody"] = {"required": True, "content": content}
    if route.stream:
        made["requestBody"] = {
            "required": True,
            "content": {route.stream: {"schema": {"type": "string", "format": "binary"}}},
        }
    return made


def _description(route: Route) -> str:
    text = f"Permission: `{route.access}`."
    if isinstance(route.access, Access):
        text = "Without signing in." if route.access is Access.ANYBODY else "Whoever is signed in."
    return f"{text} In the command: `ordito {route.verb}`." if route.verb else text


def _of_path(route: Route) -> list[dict[str, Any]]:
    names = re.findall(r"\{(\w+)\}", route.template)
    return [{"name": n, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for n in names]


def _of_query(route: Route) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([route.query], ref_template=REF, schema_hook=any_value)
    schema = next(iter(components.values()))
    required = set(schema.get("required", ()))
    in_path = set(re.findall(r"\{(\w+)\}", route.template))
    return [
        {"name": name, "in": "query", "required": name in required, "schema": one}
        for name, one in schema.get("properties", {}).items()
        if name not in in_path
    ]


def _of_headers(route: Route) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if route.keyed:
        found.append({"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}})
    if "match-required" in route.problems:
        found.append({"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}})
    return found


def _responses(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    answers = [schema_of[repr(one)] for one in route.answers]
    content: dict[str, Any] = {route.media: {"schema": answers[0] if len(answers) == 1 else {"anyOf": answers}}}
    if not answers:
        content = {} if route.status in (204, 302) else {route.media: {}}
    made: dict[str, Any] = {str(route.status): {"description": "done", **({"content": content} if content else {})}}
    codes = {*EVERYWHERE, *route.problems, *(CHANGING if route.changes else ())}
    if route.access is not Access.ANYBODY:
        codes |= {"signed-out", "expired", "forbidden"}
    if route.keyed:
        codes |= {"key-reused"}
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(status_of(code), []).append(code)
    problem = {"application/problem+json": {"schema": schema_of[repr(ProblemData)]}}
    for status, found in sorted(by_status.items()):
        made[str(status)] = {"description": ", ".join(found), "content": problem}
    if route.path == "/readyz":
        made["503"] = {"description": "not ready", "content": {**content, **problem}}
    if route.method == "GET" and "ensemble" in route.problems:
        made["304"] = {"description": "not changed since"}
    return made
