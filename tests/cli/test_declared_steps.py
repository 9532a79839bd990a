"""Lifecycle steps that are declared in either way, as commands see them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.support.leaving import FQN, catalogue

SERVICE = """tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    database: { type: tosca.nodes.Root }
    api: { type: tosca.nodes.Root, requirements: [ dependency: database ] }
"""
POLICIES = f"""  policies:
    - first:
        type: "{FQN}"
        targets: [ database ]
        properties: {{ phase: install.before, config: {{ text: one }} }}
    - second:
        type: "{FQN}"
        targets: [ database ]
        properties: {{ phase: install.before, config: {{ text: two }} }}
    - last:
        type: "{FQN}"
        description: The end
        properties:
          phase: install.after
          timeout: 1m
          onFailure: rollback
          condition: "true"
          config: {{ text: end }}
"""
STEPS = f"""components:
  database:
    install:
      before: [ {{ fqn: "{FQN}", config: {{ text: one }} }}, {{ fqn: "{FQN}", config: {{ text: two }} }} ]
module:
  install:
    after:
      - fqn: "{FQN}"
        description: The end
        timeout: 1m
        onFailure: rollback
        condition: "true"
        config: {{ text: end }}
"""
IDS = {"database/install.before[0]": "first", "database/install.before[1]": "second", "module/install.after[0]": "last"}
PLACE = re.compile(r'"[^" ]*\.yaml:\d+:\d+"')


@pytest.fixture(autouse=True)
def nothing_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def planned(run: Run, folder: Path) -> object:
    """The plan of a service as programs see it, without places, and with the names of policies for steps."""
    done = run("-e", str(folder / "ensemble"), "plan", str(folder), "-o", "json")
    assert done.code == 0, done.err
    text = PLACE.sub('""', done.out).replace(str(folder), "")
    for name, policy in IDS.items():
        text = text.replace(name, policy)
    return json.loads(text)


def test_both_ways_to_declare_steps_give_the_same_plan(run: Run, tmp_path: Path) -> None:
    """The service imports the types of the blocks; a newer version of them is in its catalogue."""
    catalogue(tmp_path / "policies" / "types", "1.1.0")
    catalogue(tmp_path / "policies" / "catalog" / "ours")
    imports = "imports: [ types/blocks.yaml ]\ntopology_template:"
    text = SERVICE.replace("topology_template:", imports) + POLICIES
    (tmp_path / "policies" / "service.yaml").write_text(text)
    catalogue(tmp_path / "file" / "catalog" / "ours")
    (tmp_path / "file" / "service.yaml").write_text(SERVICE)
    (tmp_path / "file" / "lifecycle.yaml").write_text(STEPS)
    assert planned(run, tmp_path / "policies") == planned(run, tmp_path / "file")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f'fqn: "{FQN}", config: {{ text: one }}', "config: { text: one }", 'lacks "fqn"'),
        (FQN, FQN.replace("#Leave", "#Leaf"), f'did you mean "{FQN}"'),
        (FQN, FQN.replace("@v1", "@v9"), "major version 1"),
        (FQN, FQN.replace("@v1", "@1"), "lifecycle.yaml:4:"),
        ("text: one", "text: one, exec: ls", "FR-11-003"),
        ("timeout: 1m", "timeout: 5 min", "write 5m"),
        (f'fqn: "{FQN}",', f'fqn: "{FQN}",\n      condition: values.a =~ #"^a$"#\n      ,', '" #" begins a comment'),
        ("install:\n    after", "install:\n    later", '"after"'),
    ],
)
def test_what_cannot_be_carried_out_is_refused_by_every_command(
    run: Run, tmp_path: Path, old: str, new: str, said: str
) -> None:
    catalogue(tmp_path / "catalog" / "ours")
    (tmp_path / "service.yaml").write_text(SERVICE)
    assert old in STEPS
    (tmp_path / "lifecycle.yaml").write_text(STEPS.replace(old, new, 1))
    for words in (["validate", str(tmp_path)], ["-e", str(tmp_path / "live"), "deploy", str(tmp_path), "--yes"]):
        refused = run(*words)
        assert refused.code == 3
        assert said in refused.err
    assert not (tmp_path / "live").exists()
