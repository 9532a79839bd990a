"""What an upgrade that failed has removed already, though something that it could not remove still requires it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Finished, Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Host:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: VERSION.sh } } }
  my.Part:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: do.sh } } }
  my.User:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { delete: delete.sh } } }
topology_template:
  node_templates:
    host: { type: my.Host }
"""
PART = """\
    part: { type: my.Part, requirements: [ dependency: host ] }
    user: { type: my.User, requirements: [ dependency: part ] }
"""
LATER = "    later: { type: my.Part }\n"


@pytest.mark.parametrize("words", [("upgrade", "two"), ("upgrade", "two", "--no-prune"), ("deploy", "two")])
def test_what_is_lost_and_removed_is_not_made_again_for_what_is_left(
    tmp_path: Path, run: Run, words: tuple[str, ...]
) -> None:
    """What requires the host has to go before that is replaced. It has no operation that removes it, so that its
    record says nothing of when it went; and what was deployed last did not make it."""
    for folder, more in (("one", PART), ("both", PART + LATER), ("two", "")):
        (tmp_path / folder).mkdir()
        version = "new" if folder == "two" else "do"
        (tmp_path / folder / "service.yaml").write_text(SERVICE.replace("VERSION", version) + more)
        (tmp_path / folder / "do.sh").write_text("true\n")
        (tmp_path / folder / "new.sh").write_text("true # otherwise\n")
        (tmp_path / folder / "delete.sh").write_text(f"[ -e {tmp_path}/well ]\n")

    def told(*given: str) -> Finished:
        return run("-e", "e", *given)

    def existing() -> set[str]:
        found = told("status", "-o", "json").json["instances"]
        return {name for name, one in found.items() if one["state"] != "deleted"}

    assert told("deploy", "one", "--yes").code == 0
    assert told("upgrade", "both", "--yes").code == 0
    assert told("upgrade", "two", "--yes").code == 1
    assert existing() == {"host_1", "later_1", "user_1"}
    (tmp_path / "well").touch()
    assert told(*words, "--yes").code == 0
    assert "part_1" not in existing()
    assert told("upgrade", "two", "--yes").code == 0
    assert existing() == {"host_1"}
    assert told("diff", "two", "--detailed-exitcode").code == 0
