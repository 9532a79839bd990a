"""Metadata changes nothing, save the settings of Ordito."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package
from ordito.work.plan import Plan
from tests.support.runs import World

SERVICE = """tosca_definitions_version: tosca_simple_yaml_1_3
metadata: {service}
node_types:
  App:
    derived_from: tosca.nodes.Root
    metadata: {type}
    interfaces: {{ Standard: {{ create: do.sh }} }}
topology_template:
  node_templates:
    host: {{ type: Compute, metadata: {compute} }}
    app: {{ type: App, metadata: {node}, requirements: [ dependency: host ] }}
"""
PLACES = ("service", "type", "compute", "node")
letters = st.characters(min_codepoint=32, max_codepoint=126)
names = st.text(letters, min_size=1, max_size=20).filter(lambda n: not n.startswith("ordito.")) | st.sampled_from(
    ["priority", "protected", "Ordito.priority", "ordito", "ordito_priority", "attempts", "tosca.priority", "sensitive"]
)
metadata = st.dictionaries(
    names, st.text(letters, max_size=20) | st.sampled_from(["optional", "true", "0"]), max_size=4
)


def read(folder: Path, **written: dict[str, str]) -> Service:
    filled = {place: json.dumps(written.get(place, {})) for place in PLACES}
    (folder / "service.yaml").write_text(SERVICE.format(**filled), encoding="utf-8")
    (folder / "do.sh").write_text("")
    diagnostics = Diagnostics()
    package = open_package(str(folder), diagnostics)
    service = resolve_service(package, diagnostics) if package else None
    assert service is not None, [str(d) for d in diagnostics]
    return service


def planned(service: Service) -> tuple[Plan, Plan]:
    """Without the places, which metadata may move."""
    world = World(service)
    deploy = world.run()
    return bare(deploy), bare(world.plan("undeploy"))


def bare(made: Plan) -> Plan:
    replace = msgspec.structs.replace
    return replace(
        made,
        calls=tuple(replace(c, declared="") for c in made.calls),
        changes=tuple(replace(c, declared="") for c in made.changes),
    )


@settings(max_examples=25)
@given(st.fixed_dictionaries(dict.fromkeys(PLACES, metadata)))
def test_metadata_change_no_plan(written: dict[str, dict[str, str]]) -> None:
    """R-3.6.2-1: whatever the metadata of a service, a type and its templates say, the plans are the same.

    What is sensitive is an exception: its digests are keyed, so that they are others than those of plain values.
    """
    for metadata_of in written.values():
        metadata_of.pop("sensitive", None)
    with TemporaryDirectory() as name:
        folder = Path(name)
        assert planned(read(folder)) == planned(read(folder, **written))


def test_a_template_wins_over_its_type_and_the_type_over_nothing(tmp_path: Path) -> None:
    """What one of them does not say, the other does."""
    service = read(
        tmp_path,
        type={"ordito.attempts": "3", "ordito.interval": "2 s", "ordito.Standard.create.priority": "optional"},
        node={"ordito.attempts": "5", "ordito.Standard.create.interval": "500 ms", "ordito.protected": "true"},
    )
    found = service.nodes["app"].settings
    assert (found.attempts, found.interval, found.protected, found.priority) == (5, 2.0, True, None)
    create, start = found.of("Standard.create"), found.of("Standard.start")
    assert (create.priority, create.attempts, create.interval) == ("optional", 5, 0.5)
    assert (start.priority, start.attempts, start.interval) == (None, 5, 2.0)
    host = service.nodes["host"].settings
    assert (host.attempts, host.interval, host.protected, host.concurrency) == (None, None, False, None)


def test_the_calls_of_a_plan_know_what_is_said_of_their_operations(tmp_path: Path) -> None:
    service = read(
        tmp_path,
        node={"ordito.attempts": "5", "ordito.Standard.create.interval": "500 ms"},
    )
    made = World(service).plan()
    calls = {c.name: (c.attempts, c.interval) for c in made.calls if c.owner == "app"}
    assert calls["Standard.create"] == (5, 0.5)
    assert {(c.attempts, c.interval) for c in made.calls if c.owner != "app" and not c.side} == {(0, None)}


def test_how_many_are_changed_at_one_time_is_a_number_or_a_percentage(tmp_path: Path) -> None:
    found = read(tmp_path, node={"ordito.max_unavailable": "25%"}).nodes["app"].settings
    assert str(found.max_unavailable) == "25%"
    with pytest.raises(
        AssertionError, match='must be a whole number from 1, or a percentage from 1% to 100%, not "half"'
    ):
        read(tmp_path, node={"ordito.max_unavailable": "half"})


@pytest.mark.parametrize(
    ("said", "code"),
    [("ordito.update: replaced", "bad-value"), ("ordito.updates: replace", "unknown-setting")],
)
def test_what_is_said_of_changes_of_a_property_is_known(tmp_path: Path, said: str, code: str) -> None:
    (tmp_path / "service.yaml").write_text(f"""\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  a.Node:
    derived_from: tosca.nodes.Root
    properties: {{ size: {{ type: integer, default: 1, metadata: {{ {said} }} }} }}
topology_template: {{ node_templates: {{ a: {{ type: a.Node }} }} }}
""")
    diagnostics = Diagnostics()
    package = open_package(str(tmp_path), diagnostics)
    assert package is not None
    resolve_service(package, diagnostics)
    assert [d.code for d in diagnostics.sorted()] == [code]
    assert "did you mean" in diagnostics.sorted()[0].hint
