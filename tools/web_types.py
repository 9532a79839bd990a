"""The types of the API for the web UI: ``python -m tools.web_types`` writes ``web/src/api/types.ts``, and beside it in
``requests.ts`` the fields of what can be asked for by a plan, of which its forms are made.

They are made of the same routes and schemas as the OpenAPI document. What a browser sends may leave out what has a
default; what it gets has every field, save those that are left out on purpose.
"""

from __future__ import annotations

import json
import re
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordito.planning.risks import Risk
from ordito.server.openapi import REF, any_value
from ordito.server.outgoing.webhooks import TYPES
from ordito.server.permissions import ROLES, Permission
from ordito.server.plans.asked import ASKED, MAIN_KEY, NAMES_KEY, WORKFLOWS, AskedOptions
from ordito.server.problems import ProblemData
from ordito.server.route import BASE, Route
from ordito.server.routes.table import ROUTES

PLACE = Path(__file__).parent.parent / "web" / "src" / "api" / "types.ts"
REQUESTS_PLACE = PLACE.with_name("requests.ts")

HEAD = """\
// What the API takes and gives. Written by `python -m tools.web_types`; a test sees that it is up to date.

/** A value of a template or of an operation, which may be anything. */
export type Value = unknown;
"""

ROUTE_HEAD = """
/** All that can be asked: by method and path below `/api/v1`. */
export interface Routes {
"""

REQUESTS_HEAD = """\
// What a plan can be asked for, as forms need it. Written by `python -m tools.web_types`; a test sees that it is up to
// date.

export interface RequestField {
  name: string;
  /** How it is given: `flag`, `number`, `text`, `choice`, or several of them, as a list or by names. */
  kind: "flag" | "number" | "text" | "choice" | "texts" | "texts-by-name" | "numbers-by-name";
  about: string;
  required: boolean;
  /** Its value where none is given. */
  initial: unknown;
  choices: readonly string[];
  /** What it names: nodes, instances, inputs. */
  names: readonly string[];
  /** Whether it is what the request is about. */
  main: boolean;
  least: number | null;
  most: number | null;
}

export interface RequestForm {
  about: string;
  fields: readonly RequestField[];
  /** Whether it takes values of inputs. */
  inputs: boolean;
}
"""

Schema = Mapping[str, Any]


class Types:
    """The types of some routes, by the names of their schemas."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = [route for route in routes if route.path.startswith(BASE) and not route.media.startswith("text/")]
        given = [kind for route in self.routes for kind in (route.query, route.body) if kind is not None]
        got = [*(kind for route in self.routes for kind in route.answers), ProblemData]
        kinds = list({repr(kind): kind for kind in (*got, *given)}.values())
        schemas, self._components = msgspec.json.schema_components(kinds, ref_template=REF, schema_hook=any_value)
        self._of = dict(zip(map(repr, kinds), schemas, strict=True))
        self._given = set(self._reached(self._of[repr(kind)] for kind in given))
        self._sparse = _sparse(kinds)

    def _reached(self, schemas: Iterable[Schema]) -> Iterator[str]:
        waiting, seen = [name for schema in schemas for name in _named(schema)], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                yield name
                waiting.extend(_named(self._components[name]))

    def lines(self) -> Iterator[str]:
        """The whole file."""
        yield HEAD
        for name, schema in sorted(self._components.items(), key=lambda one: _type_name(one[0])):
            yield from self._declared(name, schema)
        yield ROUTE_HEAD.rstrip("\n")
        for route in sorted(self.routes, key=lambda one: (one.template, one.method)):
            yield from self._route(route)
        yield "}"

    def _declared(self, name: str, schema: Schema) -> Iterator[str]:
        if about := schema.get("description"):
            yield f"/** {' '.join(about.split())} */"
        if "properties" not in schema:
            yield f"export type {_type_name(name)} = {self._type(schema)};\n"
            return
        yield f"export interface {_type_name(name)} {{"
        for field, kind in schema["properties"].items():
            may_lack = name in self._given or schema.get("title") in self._sparse or "default" not in kind
            is_optional = field not in schema.get("required", ()) and may_lack
            yield f"  {_key(field)}{'?' if is_optional else ''}: {self._type(kind)};"
        yield "}\n"

    def _route(self, route: Route) -> Iterator[str]:
        in_path = re.findall(r"\{(\w+)\}", route.template)
        path = "; ".join(f"{name}: string" for name in in_path)
        yield f"  /** {route.summary} */"
        yield f'  "{route.method} {route.template.removeprefix(BASE) or "/"}": {{'
        yield f"    path: {{ {path} }};" if path else "    path: Record<string, never>;"
        yield f"    query: {self._query(route, in_path)};"
        yield f"    body: {self._body(route)};"
        yield f"    answer: {self._answer(route)};"
        yield "  };"

    def _query(self, route: Route, in_path: list[str]) -> str:
        schema = self._of[repr(route.query)]
        (name,) = _named(schema)
        fields = self._components[name].get("properties", {})
        left_out = " | ".join(f'"{one}"' for one in in_path if one in fields)
        if not set(fields) - set(in_path):
            return "Record<string, never>"
        return f"Omit<{_type_name(name)}, {left_out}>" if left_out else _type_name(name)

    def _body(self, route: Route) -> str:
        if route.stream:
            return "Blob"
        return self._type(self._of[repr(route.body)]) if route.body is not None else "undefined"

    def _answer(self, route: Route) -> str:
        if not route.answers:
            return "undefined" if route.status == 204 else "Value"
        return " | ".join(self._type(self._of[repr(one)]) for one in route.answers)

    def _type(self, schema: Schema) -> str:
        if "$ref" in schema:
            return _type_name(_last(schema["$ref"]))
        if "enum" in schema:
            return " | ".join(json.dumps(value) for value in schema["enum"])
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self._type(one) for one in schema["anyOf"]))
        kind = schema.get("type")
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            return self._object(schema)
        return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
            str(kind), "Value"
        )

    def _array(self, schema: Schema) -> str:
        if "prefixItems" in schema:
            return f"[{', '.join(self._type(one) for one in schema['prefixItems'])}]"
        item = self._type(schema["items"]) if isinstance(schema.get("items"), dict) else "Value"
        return f"({item})[]" if " " in item else f"{item}[]"

    def _object(self, schema: Schema) -> str:
        more = schema.get("additionalProperties")
        return f"Record<string, {self._type(more) if isinstance(more, dict) else 'Value'}>"


def _sparse(kinds: list[Any]) -> set[str]:
    """The titles of structs that leave out what has its default."""
    found, seen = set[str](), set[int]()

    def look(info: object) -> None:
        if id(info) in seen or not isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
            return
        seen.add(id(info))
        if isinstance(info, msgspec.inspect.StructType):
            config = getattr(typing.get_origin(info.cls) or info.cls, "__struct_config__")  # noqa: B009
            if config.omit_defaults:
                found.add(info.cls.__name__)
        for name in info.__struct_fields__:
            value = getattr(info, name)
            for one in value if isinstance(value, tuple) else (value,):
                look(one)

    for one in msgspec.inspect.multi_type_info(kinds):
        look(one)
    return found


def _named(schema: object) -> Iterator[str]:
    """The names of all components to which a schema refers."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield _last(schema["$ref"])
        for value in schema.values():
            yield from _named(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _named(value)


def _last(ref: str) -> str:
    return ref.rpartition("/")[2]


def _type_name(name: str) -> str:
    """A component's name as a type: ``ordito.results.given.NoticeData`` is ``GivenNoticeData``."""
    words = name.split(".")[-2:]
    return "".join(word[:1].upper() + word[1:] for part in words for word in re.split(r"\W|_", part) if word)


def _key(field: str) -> str:
    return field if re.fullmatch(r"[A-Za-z_$][\w$]*", field) else json.dumps(field)


def _words() -> Iterator[str]:
    """What forms let people choose from."""
    yield "\n/** The roles, each with what it permits. */"
    yield "export const ROLES = {"
    for role, permissions in ROLES.items():
        yield f"  {role}: [{_listed(one for one in Permission if one in permissions)}],"
    yield "} as const;"
    for name, words, about in (
        ("WORKFLOWS", WORKFLOWS, "What can be asked for."),
        ("RISKS", Risk, "What a plan may put at risk."),
        ("EVENT_TYPES", TYPES, "What webhooks can be told of."),
    ):
        yield f"\n/** {about} */"
        yield f"export const {name} = [{_listed(words)}] as const;"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(json.dumps(str(word)) for word in words)


def text() -> str:
    """The file as it must be."""
    return "\n".join([*Types(ROUTES).lines(), *_words()]) + "\n"


# ------------------------------------------------------------------------------------------------------------- forms

BESIDE = frozenset({"workflow", "inputs", "input_texts", "package"})
"""Fields of requests for which forms have parts of their own."""


def _form(schema: Schema) -> dict[str, Any]:
    """What a form needs to know of a request."""
    fields, required = schema["properties"], schema.get("required", ())
    return {
        "about": " ".join(schema["description"].split()),
        "fields": [_field(name, one, name in required) for name, one in fields.items() if name not in BESIDE],
        "inputs": "inputs" in fields,
    }


def _field(name: str, schema: Schema, required: bool) -> dict[str, Any]:
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    bounds = {key: value for one in kinds for key, value in one.items()}
    return {
        "name": name,
        "kind": _field_kind(kinds),
        "about": schema.get("description", ""),
        "required": required,
        "initial": schema.get("default"),
        "choices": schema.get("enum", []),
        "names": schema.get(NAMES_KEY, []),
        "main": schema.get(MAIN_KEY, False),
        "least": bounds.get("minimum"),
        "most": bounds.get("maximum"),
    }


def _field_kind(kinds: list[Schema]) -> str:
    schema = kinds[0]
    if "enum" in schema:
        return "choice"
    if len(kinds) > 1:
        return "text"
    if schema["type"] == "array":
        return "texts"
    if schema["type"] == "object":
        more = schema.get("additionalProperties")
        return "numbers-by-name" if isinstance(more, dict) and more.get("type") == "integer" else "texts-by-name"
    return {"boolean": "flag", "integer": "number", "number": "number"}.get(schema["type"], "text")


def requests_text() -> str:
    """The file of forms as it must be."""
    kinds = dict(zip(WORKFLOWS, ASKED.__args__, strict=True))
    schemas, components = msgspec.json.schema_components(
        [*kinds.values(), AskedOptions], ref_template=REF, schema_hook=any_value
    )
    *found, options = (_form(components[_last(schema["$ref"])]) for schema in schemas)
    forms = json.dumps(dict(zip(kinds, found, strict=True)), indent=1, ensure_ascii=False)
    fields = json.dumps(options["fields"], indent=1, ensure_ascii=False)
    return (
        f"{REQUESTS_HEAD}\nexport const REQUESTS: Readonly<Record<string, RequestForm>> = {forms};\n"
        f"\n/** How the job runs. */\nexport const OPTIONS: readonly RequestField[] = {fields};\n"
    )


def main() -> int:
    """Write the files; gives the exit code."""
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    PLACE.write_text(text(), encoding="utf-8")
    REQUESTS_PLACE.write_text(requests_text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
