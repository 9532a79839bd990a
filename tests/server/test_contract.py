"""The API does what its OpenAPI document says, whatever it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation.meta import TestPhase
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ordito.results.pages import has_page
from ordito.server.application import API
from ordito.server.openapi import CHANGING, EVERYWHERE
from ordito.server.routes.table import ROUTES
from tests.server.conftest import deployed
from tests.support.serving import Client, Served
from tests.support.thorough import THOROUGH, examples

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@schemathesis.serializer("application/zip")
def as_it_is(_: object, value: object) -> bytes:
    """The body of what is no JSON."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


DOCUMENT = msgspec.json.decode(API.openapi())
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    place = tmp_path_factory.mktemp("contract")
    with Served(place / "home", deployed(place)) as server:
        yield server.admin()


def is_tried(case: schemathesis.Case[Any]) -> bool:
    """Whether a request is sent: of the some fifty per route that are at the borders of what the document allows, a
    quick run sends a third, always the same."""
    phase = case.meta.phase if case.meta is not None else None
    if THOROUGH or phase is None or phase.name != TestPhase.COVERAGE:
        return True
    return crc32(f"{case.operation.label} {phase.data}".encode()) % 3 == 0


@SCHEMA.parametrize()
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
def test_every_answer_fits(case: schemathesis.Case[Any], asked: Client) -> None:
    if not is_tried(case):
        return
    if "project" in case.path_parameters and case.path_parameters["project"] != "default":
        case.path_parameters["project"] = "default"
    if "ensemble" in case.path_parameters and case.method != "DELETE":
        case.path_parameters["ensemble"] = "shop"
    case.call_and_validate(
        base_url=asked.url, headers={"Authorization": f"Bearer {asked.token}"}, checks=CHECKS, timeout=60
    )


def test_every_problem_has_a_page() -> None:
    codes = {*EVERYWHERE, *CHANGING, *(code for route in ROUTES for code in route.problems)}
    assert not [code for code in codes if not has_page(code)]


def test_every_operation_says_what_it_is_for() -> None:
    operations = [one for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len(operations) == len(ROUTES)
    assert all(one["summary"] and one["description"] for one in operations)
    assert len({one["operationId"] for one in operations}) == len(operations)
    for schema in DOCUMENT["components"]["schemas"].values():
        assert schema.get("description") or "enum" in schema or "anyOf" in schema, schema
