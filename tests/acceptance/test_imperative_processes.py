"""Workflows of templates while processes overlap, are killed, and with values that nobody may see."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

from tests.acceptance.program import files_of, ordito, start
from tests.cli.program import until
from tests.support.forked import IMPATIENT

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  Backup:
    derived_from: tosca.interfaces.Root
    operations: { backup: {}, restore: {} }
node_types:
  Store:
    derived_from: tosca.nodes.SoftwareComponent
    interfaces:
      Backup: { type: Backup }
topology_template:
  node_templates:
    server: { type: tosca.nodes.Compute }
    one:
      type: Store
      requirements: [ host: server ]
      interfaces: { Backup: { operations: { backup: meet.sh, restore: restore.sh } } }
    two:
      type: Store
      requirements: [ host: server ]
      interfaces: { Backup: { operations: { backup: meet.sh, restore: restore.sh } } }
  workflows:
    together:
      steps:
        first: { target: one, activities: [ { call_operation: Backup.backup } ], on_success: [ last ] }
        second: { target: two, activities: [ { call_operation: Backup.backup } ], on_success: [ last ] }
        last: { target: one, activities: [ { set_state: met } ] }
    same:
      steps:
        first:
          target: one
          activities: [ { call_operation: { operation: Backup.backup, inputs: { me: one, other: two } } } ]
        second:
          target: one
          activities: [ { call_operation: { operation: Backup.backup, inputs: { me: two, other: one } } } ]
    secret:
      inputs: { word: { type: string, metadata: { sensitive: 'true' } }, plain: { type: string, default: shown } }
      steps:
        first:
          target: one
          activities: [ { call_operation: { operation: Backup.restore, inputs: { word: { get_input: word } } } } ]
"""
MEET = """\
#!/bin/bash
cd "{folder}"
me=${{me:-$NODE}}
[ $me = one ] && other=two || other=one
echo here > $me.fifo &
read -r word < $other.fifo
wait
echo "$me met" >> calls
"""
RESTORE = """\
#!/bin/bash
echo "$INSTANCE restores" >> "{folder}/calls"
[ -z "$word" ] || echo "the word is $word"
"""
SECRET = "canary-of-workflow-4711"


def place(folder: Path, service: str = SERVICE, **scripts: str) -> None:
    (folder / "service.yaml").write_text(service)
    for name, text in ({"meet": MEET, "restore": RESTORE} | scripts).items():
        (folder / f"{name}.sh").write_text(text.format(folder=folder))
    for name in ("one", "two"):
        os.mkfifo(folder / f"{name}.fifo")
    done = ordito(folder, "deploy", "service.yaml", "--yes")
    assert done.code == 0, done.both


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def has_calls(folder: Path, wanted: set[str]) -> bool:
    return wanted <= set(calls(folder))


def test_steps_overlap_on_one_host(tmp_path: Path) -> None:
    """R-7.3.2-2, R-7.3.1-1: each of the two operations waits for the other, on the same host; the step after waits for
    both."""
    place(tmp_path)
    done = ordito(tmp_path, "workflow", "run", "together", "--yes")
    assert done.code == 0, done.both
    assert sorted(calls(tmp_path)) == ["one met", "two met"]


def test_steps_overlap_on_one_instance(tmp_path: Path) -> None:
    place(tmp_path)
    done = ordito(tmp_path, "workflow", "run", "same", "--yes")
    assert done.code == 0, done.both
    assert sorted(calls(tmp_path)) == ["one met", "two met"]


def test_nobody_sees_an_input_that_is_secret(tmp_path: Path) -> None:
    """R-7.3.6-1: it gets where it is needed, and into nothing that is shown or kept, also with a plan that is saved."""
    place(tmp_path)
    (tmp_path / "inputs.yaml").write_text(f"word: {SECRET}\n")
    done = ordito(tmp_path, "workflow", "run", "secret", "-I", "inputs.yaml", "--yes")
    assert done.code == 0, done.both
    assert SECRET not in done.both
    saved = ordito(tmp_path, "plan", "workflow", "secret", "-I", "inputs.yaml", "--out", "saved.plan", "-o", "json")
    assert saved.code == 0, saved.both
    assert SECRET not in saved.both
    (tmp_path / "inputs.yaml").unlink()
    again = ordito(tmp_path, "deploy", "saved.plan", "--yes")
    assert again.code == 0, again.both
    assert calls(tmp_path) == ["one_1 restores", "one_1 restores"]
    shown = json.loads(ordito(tmp_path, "jobs", "show", "-o", "json").out)["job"]
    assert shown["arguments"]["plain"] == "shown"
    assert SECRET not in json.dumps(shown)
    assert not [name for name, data in files_of(tmp_path).items() if SECRET.encode() in data]


KILLED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  My:
    derived_from: tosca.interfaces.Root
    operations: { before: {}, fail: {}, rescue: {}, after: {} }
node_types:
  Node:
    derived_from: tosca.nodes.Root
    interfaces:
      My: { type: My, operations: { before: before.sh, fail: fail.sh, rescue: rescue.sh, after: after.sh } }
topology_template:
  node_templates: { node: { type: Node, occurrences: [ 1, 2 ], instance_count: 2 } }
  workflows:
    inner:
      inputs: { instance: { type: string } }
      preconditions: [ { target: node, condition: [ { tosca_id: [ { equal: node_1 } ] } ] } ]
      steps: { one: { target: node, activities: [ { call_operation: My.before } ] } }
    all:
      inputs: { which: { type: string } }
      steps:
        first:
          target: node
          activities:
            - inline: { workflow: inner, inputs: { instance: { get_input: which } } }
            - call_operation: My.fail
          on_success: [ never ]
          on_failure: [ rescue ]
        rescue:
          target: node
          activities: [ { set_state: rescued }, { call_operation: My.rescue } ]
          on_success: [ then ]
        never: { target: node, activities: [ { call_operation: My.after } ] }
        then:
          target: node
          filter: [ { state: [ { equal: rescued } ] } ]
          activities: [ { call_operation: My.after } ]
"""
STOP = """\
#!/bin/bash
# Looked at first: whoever has said that it is there must not go on because of what is made afterwards.
if [ -e "{{folder}}/go.{name}" ]; then goes_on=yes; fi
echo "$INSTANCE {name}" >> "{{folder}}/calls"
if [ -z "$goes_on" ]; then read -r word < "{{folder}}/one.fifo"; fi
{end}
"""
SAYS = '#!/bin/bash\necho "$INSTANCE {name}" >> "{{folder}}/calls"\n'


def test_a_job_that_is_killed_goes_on(tmp_path: Path) -> None:
    """R-7.3.7-3: killed while the failing step runs, and once more while what is there for its failure does, it ends as
    it would have."""
    scripts = {name: SAYS.format(name=name) for name in ("before", "after")}
    scripts |= {"fail": STOP.format(name="fail", end="exit 3"), "rescue": STOP.format(name="rescue", end="true")}
    place(tmp_path, KILLED, **scripts)
    (tmp_path / "calls").touch()
    for words, name in (
        (["workflow", "run", "all", "-i", "which=x", "--yes"], "fail"),
        (["jobs", "resume"], "rescue"),
    ):
        running = start(tmp_path, *words, code=IMPATIENT)
        wanted = {f"node_1 {name}", f"node_2 {name}"}
        until(partial(has_calls, tmp_path, wanted))
        running.kill()
        running.communicate()
        (tmp_path / f"go.{name}").touch()
    done = ordito(tmp_path, "jobs", "resume", code=IMPATIENT)
    assert done.code == 1, done.both
    assert "handled" in done.both
    found = calls(tmp_path)
    # What was at work when the job was killed runs again, and nothing else does.
    assert found[0] == "node_1 before"
    for node in ("node_1", "node_2"):
        after = [word for name, word in map(str.split, found[1:]) if name == node]
        assert after == ["fail", "fail", "rescue", "rescue", "after"]
