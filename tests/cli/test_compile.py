"""`ordito compile`: the resolved model for other programs, complete, the same each time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.app.services.compiled import compiled, plain_data
from ordito.app.services.read import read_service
from ordito.base.diagnostics import Diagnostics
from ordito.base.span import SourceText, Span
from ordito.model.service import Relationship, Service
from ordito.syntax.expressions import Call
from tests.cli.program import DATA, Run
from tools.compiled import DOCUMENT, document

ROOT = DATA.parent.parent
SHOP = ROOT / "examples" / "shop"


def shop() -> Service:
    return read_service(str(SHOP), Diagnostics()).service


def check_complete(value: object, data: Any, places: bool) -> None:
    """Every field of every structure is in the data, under its own name and in order."""
    match value:
        case Relationship() if isinstance(data, str):
            assert data == value.key
        case Span() | Call():
            assert isinstance(data, str | dict)
        case msgspec.Struct():
            wanted = [n for n in value.__struct_fields__ if places or n not in {"span", "output_spans"}]
            assert list(data) == wanted, type(value)
            for name in wanted:
                check_complete(getattr(value, name), data[name], places)
        case Mapping():
            assert list(data) == list(value)
            for name, part in value.items():
                check_complete(part, data[name], places)
        case list() | tuple():
            assert len(data) == len(value)
            for part, written in zip(value, data, strict=True):
                check_complete(part, written, places)
        case frozenset():
            assert data == sorted(value)
        case _:
            assert data == value


@pytest.mark.parametrize("positions", [False, True])
def test_everything_is_there(positions: bool) -> None:
    service = shop()
    data = compiled(service, positions=positions)
    assert data.pop("format") == 1
    check_complete(service, data, positions)


def test_it_survives_json(run: Run) -> None:
    """What is written is what was resolved: JSON loses nothing of it."""
    data = compiled(shop(), positions=True)
    assert msgspec.json.decode(msgspec.json.encode(data)) == data
    assert run("compile", SHOP).json == json.loads(msgspec.json.encode(compiled(shop())))


def test_the_same_service_gives_the_same_bytes(run: Run) -> None:
    first, second = run("compile", SHOP), run("compile", SHOP)
    assert first.code == 0
    assert first.out == second.out
    done = run("compile", SHOP, "--out", "service.json")
    assert done.out == ""
    assert Path("service.json").read_text(encoding="utf-8") == first.out


def test_yaml_says_the_same(run: Run) -> None:
    found = Diagnostics()
    Path("service.yaml").write_text(run("compile", ROOT / "examples" / "hello", "-o", "yaml").out, encoding="utf-8")
    from ordito.app.inputs.gathered import plain
    from ordito.source.package import load_file

    document = load_file("service.yaml", found)
    assert document is not None
    assert plain(document.root) == run("compile", ROOT / "examples" / "hello").json


def test_calls_and_places(run: Run) -> None:
    data = run("compile", SHOP, "--positions").json
    assert [r for found in data["incoming"].values() for r in found] == [
        key for found in data["incoming"].values() for key in found if isinstance(key, str)
    ]
    spans = {node["span"] for node in data["nodes"].values()}
    assert all(span.startswith(f"{SHOP}/service.yaml:") for span in spans)
    assert '"get_input":' in run("compile", SHOP).out


def test_without_definitions(run: Run) -> None:
    whole, values = run("compile", SHOP), run("compile", SHOP, "--values-only")
    assert len(values.out) < len(whole.out)
    assert '"definitions"' not in values.out
    assert '"definitions"' in whole.out


def test_an_invalid_service_is_not_compiled(run: Run) -> None:
    Path("service.yaml").write_text("tosca_definitions_version: tosca_simple_yaml_1_3\nnode_typse: {}\n")
    refused = run("compile")
    assert refused.code == 3
    assert refused.out == ""
    assert run("compile", "--out", "x.json").code == 3
    assert not Path("x.json").exists()


def test_what_json_does_not_know() -> None:
    assert plain_data([float("inf"), float("-inf"), float("nan"), 1.5]) == [".inf", "-.inf", ".nan", 1.5]
    assert plain_data({"a": frozenset({"c", "b"}), 1: (None, True)}) == {"a": ["b", "c"], "1": [None, True]}
    assert plain_data(os.fsdecode(b"a\xff")) == "a?"
    assert plain_data(Call("concat", ("a",), Span(SourceText("x", ""), 1, 1, 1, 1))) == {"concat": "a"}


def test_depth_costs_no_recursion() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    data = plain_data(value)
    depth = 0
    while data:
        (data,) = data
        depth += 1
    assert depth == 100_000


def test_the_fields_are_documented() -> None:
    written = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"| `{field}` |" in written for field in Service.__struct_fields__), "python -m tools.compiled"
    assert document().startswith("# What")
