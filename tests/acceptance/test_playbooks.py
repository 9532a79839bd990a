"""Playbooks as operations of a service, seen by who deploys it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.program import Project, ordito
from tests.support.real.needs import ansible_playbook

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  acme.Box:
    derived_from: tosca.nodes.Root
    properties:
      sizes: { type: list, entry_schema: { type: integer } }
      password: { type: string, metadata: { sensitive: true } }
    attributes:
      total: { type: integer }
      token: { type: string, metadata: { sensitive: true } }
    artifacts:
      setup:
        type: ordito.artifacts.Implementation.Ansible
        file: setup.yaml
        properties: { skip_tags: [ never_wanted ], vault_password: { get_input: password } }
    interfaces:
      Standard:
        inputs:
          sizes: { type: list, entry_schema: { type: integer }, default: { get_property: [ SELF, sizes ] } }
          password: { type: string, default: { get_property: [ SELF, password ] } }
        operations:
          create:
            implementation: setup
            outputs: { total: [ SELF, total ], token: [ SELF, token ] }
          start: start.yml
topology_template:
  inputs: { password: { type: string, metadata: { sensitive: true } } }
  node_templates:
    box:
      type: acme.Box
      occurrences: [ 1, 9 ]
      instance_count: 3
      properties: { sizes: [ 20, 22 ], password: { get_input: password } }
"""
SETUP = """\
- hosts: box
  gather_facts: false
  tasks:
    - debug: { msg: "the password is {{ password }}" }
    - fail: { msg: not wanted }
      tags: never_wanted
    - set_stats:
        data: { total: "{{ sizes | sum }}", token: "{{ password }}-{{ INSTANCE }}", ordito_changed: true }
        per_host: true
"""
START = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: refuse {{ password }}
      fail: { msg: "no {{ password }} here" }
      when: INSTANCE == "box_2"
"""
CANARY = "canary-in-a-coal-mine"


def test_outputs_secrets_and_failures_are_those_of_scripts(tmp_path: Path) -> None:
    """Values keep their types both ways, a secret is seen by the playbook only, and each instance has its own end."""
    ansible_playbook()
    service = tmp_path / "service/service.yaml"
    service.parent.mkdir()
    for name, text in (("service.yaml", SERVICE), ("setup.yaml", SETUP), ("start.yml", START)):
        (service.parent / name).write_text(text)
    project = Project(tmp_path, service)
    (tmp_path / "inputs.yaml").write_text(f"password: {CANARY}\n")
    deployed = ordito(tmp_path, *project.deploying("-I", str(tmp_path / "inputs.yaml")))
    (tmp_path / "inputs.yaml").unlink()
    assert deployed.code == 1
    assert 'FAILED box_2 start: task "refuse (sensitive)" (start.yml:4): no (sensitive) here' in deployed.both
    status = json.loads(project.run("status", "-o", "json").out)["instances"]
    assert {name: i["local"] for name, i in status.items()} == {"box_1": "ok", "box_2": "pending", "box_3": "ok"}
    assert [i["attributes"]["total"] for i in status.values()] == [42, 42, 42]
    logs = "".join(path.read_text() for path in (project.ensemble / ".ordito/logs").glob("*.log"))
    assert "the password is (sensitive)" in logs
    everything = [deployed.both.encode(), *(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())]
    assert not [text for text in everything if CANARY.encode() in text]


def test_without_ansible_the_plan_says_what_is_missing(tmp_path: Path) -> None:
    service = tmp_path / "service.yaml"
    service.write_text(SERVICE)
    (tmp_path / "setup.yaml").write_text(SETUP)
    (tmp_path / "start.yml").write_text(START)
    missing = "import os; os.environ['ORDITO_ANSIBLE_PLAYBOOK'] = '/nowhere'"
    refused = ordito(tmp_path, "plan", service, "-e", tmp_path / "e", "-i", "password=x", code=missing)
    assert refused.code == 3
    assert "pip install 'ordito[ansible]'" in refused.err
