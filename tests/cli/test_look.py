"""What `ordito check` proposes where something is not well."""

from pathlib import Path

from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
topology_template:
  node_templates:
    web:
      type: tosca.nodes.Root
      occurrences: [ 1, 6 ]
      instance_count: 6
      interfaces:
        Maintain:
          type: ordito.interfaces.Maintain
          operations: { check: { implementation: check.sh, inputs: { place: PLACE } } }
"""


def test_what_is_in_error_is_proposed_to_be_healed(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "marks"
    place.mkdir()
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(place)))
    (tmp_path / "check.sh").write_text('[ ! -e "$place/$INSTANCE" ]\n')
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert "ordito heal" not in run("check").err
    (place / "web_2").touch()
    assert "ordito heal web_2 " in run("check").err
    for number in range(1, 7):
        (place / f"web_{number}").touch()
    found = run("check")
    assert "ordito heal web " in found.err, "of many their node"
