"""Inputs come from several places; which of them wins, and what an ensemble remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.inputs.bound import BoundInputs, bind_given
from ordito.app.inputs.environments import Environment, EnvironmentSection
from ordito.app.inputs.gathered import gather_inputs
from ordito.app.inputs.variables import evaluation_of
from ordito.app.place import place_of
from ordito.app.requests import GivenInputs
from ordito.app.services.read import read_service
from ordito.base.diagnostics import Diagnostics
from ordito.model.service import Service
from ordito.source.nodes import Mapping, Node
from ordito.source.package import load_text
from ordito.work.records import GivenValue

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    port: { type: integer, default: 80 }
    name: { type: string, required: false }
"""


@pytest.fixture
def service(tmp_path: Path) -> Service:
    (tmp_path / "service.yaml").write_text(SERVICE)
    return read_service(str(tmp_path / "service.yaml"), Diagnostics()).service


def written(text: str) -> dict[str, Node]:
    document = load_text("ensemble.yaml", text, Diagnostics())
    assert document is not None
    assert isinstance(document.root, Mapping)
    return dict(document.root.values)


def bound(
    service: Service, text: str, remembered: dict[str, GivenValue], within: str = "", /, **texts: str
) -> BoundInputs:
    found = Diagnostics()
    evaluation = evaluation_of(place_of("."), found)
    gathered = gather_inputs(
        Environment(within, EnvironmentSection(written(text))), remembered, GivenInputs((), texts), evaluation, found
    )
    result = bind_given(service, gathered, found)
    assert not found.has_errors, list(found)
    return result


def test_what_is_written_wins_over_the_default(service: Service) -> None:
    assert bound(service, "port: 81", {}).inputs == {"port": 81}
    assert bound(service, "{}", {}).inputs == {"port": 80}


def test_a_command_wins_over_what_is_written_and_is_remembered(service: Service) -> None:
    result = bound(service, "port: 81", {}, port="90")
    assert result.inputs == {"port": 90}
    assert result.asked == {"port": 90}
    assert result.given == {"port": GivenValue(90, 81)}


def test_what_is_remembered_wins_until_something_else_is_written(service: Service) -> None:
    remembered = {"port": GivenValue(90, 81)}
    kept = bound(service, "port: 81", remembered)
    assert kept.inputs == {"port": 90}
    assert kept.given == remembered
    changed = bound(service, "port: 82", remembered)
    assert changed.inputs == {"port": 82}
    assert changed.given == {}
    removed = bound(service, "{}", remembered)
    assert removed.inputs == {"port": 80}


def test_a_later_command_wins_over_an_earlier_one(service: Service) -> None:
    result = bound(service, "{}", {"port": GivenValue(90)}, port="91", name="x")
    assert result.inputs == {"port": 91, "name": "x"}
    assert result.given == {"port": GivenValue(91), "name": GivenValue("x")}


def test_an_input_that_the_service_has_no_more_is_forgotten(service: Service) -> None:
    assert bound(service, "{}", {"gone": GivenValue(1)}).given == {}


def test_what_is_remembered_belongs_to_the_environment_in_which_it_was_said(service: Service) -> None:
    result = bound(service, "{}", {}, "prod", port="90")
    assert result.given == {"port": GivenValue(90, None, "prod")}
    assert bound(service, "{}", result.given, "prod").inputs == {"port": 90}
    elsewhere = bound(service, "{}", result.given, "dev")
    assert elsewhere.inputs == {"port": 80}
    assert elsewhere.given == {}
    assert bound(service, "{}", result.given).inputs == {"port": 80}
