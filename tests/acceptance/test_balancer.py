"""A balancer in front of members that need a database, as real processes: it is never linked with a member that has no
database yet, and in an upgrade by turns it always has a member."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.program import ordito

TEMPLATE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
relationship_types:
  farm.UsesDatabase:
    derived_from: tosca.relationships.DependsOn
    interfaces: { Configure: { operations: { add_target: link.sh, remove_target: unlink.sh } } }
  farm.SendsTo:
    derived_from: tosca.relationships.DependsOn
    interfaces: { Configure: { operations: { add_target: take_in.sh, remove_target: take_out.sh } } }
node_types:
  farm.Member:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer, default: 1 } }
    interfaces:
      Standard:
        operations:
          configure: { implementation: nothing.sh, inputs: { size: { get_property: [ SELF, size ] } } }
          start: start.sh
          stop: stop.sh
      Maintain: { type: ordito.interfaces.Maintain, operations: { monitor_start: watch.sh, monitor_stop: unwatch.sh } }
topology_template:
  inputs: { size: { type: integer, default: 1 } }
  node_templates:
    database: { type: tosca.nodes.Root }
    web:
      type: farm.Member
      occurrences: [ 1, 9 ]
      instance_count: 2
      properties: { size: { get_input: size } }
      requirements: [ dependency: { node: database, relationship: farm.UsesDatabase } ]
    balancer:
      type: tosca.nodes.Root
      requirements: [ dependency: { node: web, relationship: farm.SendsTo } ]
"""
SCRIPTS = {
    "nothing.sh": "",
    "start.sh": ': >"@/$INSTANCE.up"\n',
    "stop.sh": '[ ! -e "@/$INSTANCE.member" ] || exit 3\nrm -f "@/$INSTANCE.up"\n',
    "link.sh": ': >"@/$SOURCE_INSTANCE.database"\n',
    "unlink.sh": 'rm "@/$SOURCE_INSTANCE.database"\n',
    "watch.sh": ': >"@/$INSTANCE.watched"\n',
    "unwatch.sh": 'rm "@/$INSTANCE.watched"\n',
    "take_in.sh": """\
for what in up database watched; do
  [ -e "@/$TARGET_INSTANCE.$what" ] || { echo "$TARGET_INSTANCE has no $what"; exit 3; }
done
: >"@/$TARGET_INSTANCE.member"
""",
    "take_out.sh": """\
rm "@/$TARGET_INSTANCE.member"
set -- @/*.member
[ -e "$1" ] || { echo "no member is left" >>@/outages; }
""",
}


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """A service whose scripts keep files in a folder, deployed."""
    service, world = tmp_path / "farm", tmp_path / "world"
    service.mkdir()
    world.mkdir()
    (service / "service.yaml").write_text(TEMPLATE, encoding="utf-8")
    for name, text in SCRIPTS.items():
        (service / name).write_text(text.replace("@", str(world)), encoding="utf-8")
    assert ordito(tmp_path, "-e", "live", "deploy", "farm", "--yes").code == 0
    assert members(tmp_path) == ["web_1", "web_2"]
    return tmp_path


def members(home: Path) -> list[str]:
    return sorted(file.stem for file in (home / "world").glob("*.member"))


def test_a_balancer_never_sees_a_member_without_its_database(farm: Path) -> None:
    for command in (
        ("scale", "web=3"),
        ("heal", "web_2"),
        ("restart", "web_1"),
        ("stop", "web_3"),
        ("start", "web_3"),
        ("upgrade", "farm", "--replace", "web", "--max-unavailable", "1"),
        ("upgrade", "farm", "-i", "size=2", "--max-unavailable", "1"),
    ):
        done = ordito(farm, "-e", "live", *command, "--yes")
        assert done.code == 0, (command, done.both)
    assert members(farm) == ["web_1", "web_2", "web_3"]
    assert not (farm / "world" / "outages").exists()
