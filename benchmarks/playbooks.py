"""Deploying nodes whose operation is one and the same playbook: how many processes of Ansible that takes, and how long
for each node, when all are ready at once and when each becomes ready by itself."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from benchmarks.measure import ordito, run, verdict
from benchmarks.operations import job_seconds
from ordito.executors.ansible.program import SETTING, find_program

NODES = 200
MOST_PROCESSES = 10

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Part:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations: { OPERATIONS }
topology_template:
  node_templates:
"""
PLAYBOOK = """\
- hosts: SELF
  gather_facts: false
  tasks:
    - set_stats: { data: { place: "{{ INSTANCE }}" }, per_host: true }
"""
COUNTING = """\
#!/bin/sh
echo >>"$(dirname "$0")/count"
exec PROGRAM "$@"
"""
WAVES = "#!/bin/sh\nsleep 0.$(($$ % 10))\n"

CASES = {
    "all at once": "configure: play.yaml",
    "each after a script": "create: wait.sh, configure: play.yaml",
}


def main() -> None:
    """Print the processes that were started, and the time for each node."""
    program = find_program(os.environ)
    print(f"deploy of {NODES} nodes with one playbook")
    if not program:
        print("  ansible-playbook is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        for number, (title, operations) in enumerate(CASES.items()):
            folder = Path(name) / str(number)
            service = write_service(folder, operations, program)
            environment = {**os.environ, SETTING: str(folder / "counting")}
            command = ordito("deploy", str(service), "-e", str(folder / "e"), "--yes", "--json")
            result = run(command, environment)
            processes = len((folder / "count").read_text().splitlines())
            seconds = job_seconds(result)
            said = verdict(title.replace(" ", "-"), processes, MOST_PROCESSES, "processes")
            each = 1000 * seconds / NODES
            print(f"  {title:20} {processes:3} processes {said}  {seconds:6.2f} s, {each:4.0f} ms a node")


def write_service(folder: Path, operations: str, program: str) -> Path:
    """Write the service, and a program that counts how often it is started before it does what it should."""
    folder.mkdir()
    (folder / "service").mkdir()
    for file, text in (("play.yaml", PLAYBOOK), ("wait.sh", WAVES)):
        (folder / "service" / file).write_text(text, encoding="utf-8")
    counting = folder / "counting"
    counting.write_text(COUNTING.replace("PROGRAM", json.dumps(program)), encoding="utf-8")
    counting.chmod(0o755)
    main_file = folder / "service/service.yaml"
    nodes = "".join(f"    node_{n}: {{ type: bench.Part }}\n" for n in range(NODES))
    main_file.write_text(HEAD.replace("OPERATIONS", operations) + nodes, encoding="utf-8")
    return main_file
