"""With some findings an author may choose to go on, for documents from elsewhere: in every verb that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: {{ {metadata} }}
node_types:
  my.Other: {{ derived_from: tosca.nodes.Root }}
  my.Dock:
    derived_from: tosca.nodes.Root
    capabilities:
      berth: {{ type: tosca.capabilities.Attachment, valid_source_types: [ {source} ] }}
  my.Ship:
    derived_from: tosca.nodes.Root
    properties: {{ port: {{ type: {type} }} }}
    requirements: [ berth: {{ capability: tosca.capabilities.Attachment, relationship: my.Link }} ]
    interfaces:
      Standard:
        operations:
          create:
            implementation: create.sh
            inputs: {{ PORT: {{ type: {type}, value: {{ get_property: [ SELF, port ] }} }} }}
          delete: delete.sh
relationship_types: {{ my.Link: {{ derived_from: tosca.relationships.Root }} }}
group_types:
  my.Group: {{ derived_from: tosca.groups.Root, members: [ {member} ] }}
topology_template:
  inputs: {{ port: {{ type: integer, default: 80 }} }}
  node_templates:
    dock: {{ type: my.Dock }}
    ship:
      type: my.Ship
      properties: {{ port: {{ get_input: port }} }}
      requirements: [ berth: dock ]
      artifacts: {{ manual: {{ file: {file}, type: tosca.artifacts.File }} }}
    boat: {{ type: my.Ship, properties: {{ port: 1 }}, requirements: [ berth: dock ] }}
  groups: {{ fleet: {{ type: my.Group, members: [ ship ] }} }}
"""
SOUND = {
    "metadata": "a: b",
    "source": "my.Ship",
    "type": "integer",
    "member": "my.Ship",
    "file": "create.sh",
}
WRONG = {
    "wrong-source": {"source": "my.Other"},
    "number-for-text": {"type": "string"},
    "wrong-member": {"member": "my.Other"},
    "unused-artifact": {"file": "manual.txt"},
}


def write(folder: Path, **parts: str) -> None:
    (folder / "create.sh").write_text("echo made $PORT >> $ORDITO_ENSEMBLE/log\n")
    (folder / "delete.sh").write_text("echo gone >> $ORDITO_ENSEMBLE/log\n")
    (folder / "service.yaml").write_text(SERVICE.format(**{**SOUND, **parts}))


@pytest.mark.parametrize("code", WRONG)
def test_what_is_allowed_is_a_warning_in_every_verb(run: Run, tmp_path: Path, code: str) -> None:
    """Later commands read what was deployed from its pin, where nothing needs to be allowed again."""
    write(tmp_path, **WRONG[code])
    refused = run("plan", "service.yaml", "-e", "e")
    assert (refused.code, f"error[{code}]" in refused.err, f"--allow {code}" in refused.err) == (3, True, True)
    allow = ["--allow", code]
    if code != "unused-artifact":
        assert run("validate", "service.yaml").code == 3
        found = run("validate", "service.yaml", *allow, "--strict")
        assert (found.code, f"warning[{code}]" in found.err) == (0, True)
        assert run("compile", "service.yaml", *allow).code == 0
        assert run("graph", "service.yaml", *allow).code == 0
        assert run("package", "service.yaml", *allow, "--out", "service.csar").code == 0
    assert run("plan", "service.yaml", "-e", "e", *allow, "--out", "saved.plan").code == 0
    assert run("apply", "saved.plan", "-e", "e", "--yes").code == 0
    done = run("-e", "e", "upgrade", *allow, "-i", "port=81", "--yes")
    assert done.code == 0, done.err
    for later in (["status"], ["restart", "ship", "--yes"], ["jobs", "replay"], ["undeploy", "--yes"]):
        done = run("-e", "e", *later)
        assert done.code == 0, done.err


def test_metadata_allow_for_good(run: Run, tmp_path: Path) -> None:
    every = {name: value for parts in WRONG.values() for name, value in parts.items()}
    write(tmp_path, **every, metadata=f'ordito.allow: "{", ".join(WRONG)}"')
    found = run("validate", "service.yaml", "--strict")
    assert found.code == 3, "what is not allowed is still an error where warnings are"
    found = run("validate", "service.yaml")
    assert (found.code, [code in found.err for code in WRONG if code != "unused-artifact"]) == (0, [True] * 3)
    for verb in (["deploy", "service.yaml"], ["deploy"], ["upgrade", "--force"], ["undeploy"]):
        done = run("-e", "e", *verb, "--yes")
        assert done.code == 0, done.err


def test_other_findings_are_refused_with_those_that_can_be_allowed(run: Run, tmp_path: Path) -> None:
    write(tmp_path, metadata="ordito.allow: unknown-keyname")
    found = run("validate", "service.yaml")
    assert (found.code, "error[not-allowable]" in found.err, "these can: wrong-source, wrong-member" in found.err) == (
        3,
        True,
        True,
    )
    found = run("validate", "service.yaml", "--allow", "wrong-sorce")
    assert (found.code, 'did you mean "wrong-source"?' in found.err) == (64, True)


def test_a_command_that_is_proposed_allows_the_same(run: Run, tmp_path: Path) -> None:
    write(tmp_path, **WRONG["wrong-source"], **WRONG["wrong-member"])
    refused = run("deploy", "service.yaml", "-e", "e", "--allow", "wrong-source")
    assert refused.code == 3
    assert "ordito deploy service.yaml -e e --allow wrong-source" in refused.err
