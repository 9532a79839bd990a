"""`ordito diff` says nothing that is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
node_types:
  Part:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer, default: 1 } }
    interfaces:
      Standard:
        operations:
          create: ok.sh
          configure:
            implementation: ok.sh
            inputs: { SIZE: { type: integer, value: { get_property: [ SELF, size ] } } }
          start: ok.sh
          stop: ok.sh
          delete: ok.sh
      Maintain:
        type: ordito.interfaces.Maintain
        inputs: { place: { type: string, default: PLACE } }
        operations: { check: check.sh, heal: heal.sh }
topology_template:
  inputs: { size: { type: integer, default: 1 } }
  node_templates:
    base: { type: Part, properties: { size: { get_input: size } } }
    middle: { type: Part, requirements: [ dependency: base ] }
    top: { type: Part, requirements: [ dependency: middle ] }
"""


@pytest.fixture
def parts(run: Run, tmp_path: Path) -> Run:
    """Three instances that need each other, the lowest of which is broken while there is a file `broken`."""
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(tmp_path)))
    (tmp_path / "ok.sh").write_text(":\n")
    (tmp_path / "check.sh").write_text('[ $NODE != base ] || [ ! -e "$place/broken" ]\n')
    (tmp_path / "heal.sh").write_text('rm -f "$place/broken"\n')
    assert run("deploy", "service.yaml", "--yes").code == 0
    return run


def different(run: Run, *words: str) -> dict[str, tuple[str, str, list[str]]]:
    """By instance the class, the reason, and what is named as a cause."""
    nodes = run("diff", *words, "-o", "json").json["nodes"]
    return {i: (n["class"], n["reason"], [c["what"] for c in n["causes"]]) for n in nodes for i in n["instances"]}


def test_that_something_was_healed_makes_no_difference(parts: Run, tmp_path: Path) -> None:
    """Neither by itself, nor beside another, nor where the service does not say any more how to heal it."""
    (tmp_path / "broken").touch()
    assert "was repaired in place" in parts("heal", "base", "--yes").out
    assert different(parts) == {}
    changed = "Standard.configure: input SIZE"
    assert different(parts, "-i", "size=2")["base_1"] == ("reconfigure", f"{changed} has changed", [changed])
    text = (tmp_path / "service.yaml").read_text()
    (tmp_path / "service.yaml").write_text(text.replace(", heal: heal.sh", ""))
    assert different(parts) == {}
    assert parts("upgrade", "--yes").code == 0
    assert different(parts) == {}
    assert parts("jobs", "replay").code == 0


def test_what_is_restarted_is_not_said_to_be_replaced(parts: Run) -> None:
    """Of what goes down with what is replaced, the next one is told what becomes of it."""
    found = different(parts, "--replace", "base")
    assert found["base_1"] == ("replace", "--replace names it", ["--replace base"])
    assert found["middle_1"][:2] == ("restart", "it requires base (dependency), which is replaced")
    assert found["top_1"][:2] == ("restart", "it requires middle (dependency), which is restarted")
    assert "(nothing)" not in parts("diff", "--replace", "base").out
    found = different(parts, "--replace", "base", "--replace", "middle")
    assert found["top_1"][1] == "it requires middle (dependency), which is replaced"


def test_what_is_configured_anew_is_not_said_to_be_replaced(parts: Run, tmp_path: Path) -> None:
    text = (tmp_path / "service.yaml").read_text()
    (tmp_path / "service.yaml").write_text(
        text.replace("middle: { type: Part,", "middle: { type: Part, properties: { size: 3 },")
    )
    found = different(parts, "--replace", "base")
    assert found["middle_1"][0] == "reconfigure"
    assert found["top_1"][:2] == ("restart", "it requires middle (dependency), which is configured again")


def test_what_was_stopped_and_started_by_hand_has_not_changed(parts: Run) -> None:
    assert parts("run", "Standard.stop", "--node", "top", "--yes").code == 0
    assert parts("run", "Standard.start", "--node", "top", "--yes").code == 0
    why = "Standard.start does not count as carried out"
    assert different(parts) == {"top_1": ("restart", why, [why])}
    assert "(nothing)" not in parts("diff").out
