"""`ordito run` with real processes: inputs in the environment, outputs, saved plans, secrets, resuming."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.program import files_of, ordito, start, status_of
from tests.cli.program import until

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  Backup:
    derived_from: tosca.interfaces.Root
    operations:
      save:
        inputs:
          level: { type: integer, required: false }
          key: { type: string, required: false, metadata: { sensitive: 'true' } }
          target: { type: string, default: disk }
      note:
        inputs:
          level: { type: integer, required: false }
          key: { type: string, required: false, metadata: { sensitive: 'true' } }
          target: { type: string, default: disk }
node_types:
  Store:
    derived_from: tosca.nodes.Root
    attributes: { saved: { type: string } }
    interfaces:
      Backup:
        type: Backup
        operations: { save: { implementation: save.sh, outputs: { saved: [ SELF, saved ] } } }
topology_template:
  node_templates:
    store: { type: Store, occurrences: [ 0, 4 ], instance_count: 2 }
  outputs:
    saved: { value: { get_attribute: [ store, saved ] } }
"""
SAVE = """\
#!/bin/bash
echo "$INSTANCE level=$level target=$target more=$more" >> "$log"
saved="$INSTANCE at $level"
"""
CANARY = "canary-of-run-4711"


def place(tmp_path: Path, script: str = SAVE) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "save.sh").write_text(script)
    assert ordito(tmp_path, "deploy", "service.yaml", "--yes").code == 0


def test_inputs_and_outputs(tmp_path: Path) -> None:
    place(tmp_path)
    log = tmp_path / "log"
    done = ordito(tmp_path, "run", "save", "-i", "level=3", "-i", "more=x y", "-i", f"log={log}", "--yes")
    assert done.code == 0, done.both
    assert sorted(log.read_text().splitlines()) == [f"store_{n} level=3 target=disk more=x y" for n in (1, 2)]
    status = status_of(tmp_path)
    assert [status["instances"][f"store_{n}"]["attributes"] for n in (1, 2)] == [
        {"saved": "store_1 at 3"},
        {"saved": "store_2 at 3"},
    ]
    # Nothing counts as deployed by it.
    assert all("Backup.save" not in i.get("applied", {}) for i in status["instances"].values())
    assert status["revision"] == 1
    inputs = tmp_path / "inputs.yaml"
    inputs.write_text(f"{{level: 4, target: tape, log: {log}}}")
    done = ordito(tmp_path, "run", "save", "--override", "--instance", "store_2", "-I", "inputs.yaml", "--yes")
    assert done.code == 0, done.both
    assert log.read_text().splitlines()[2:] == ["store_2 level=4 target=tape more="]
    # The records rebuild it.
    assert ordito(tmp_path, "jobs", "replay").code == 0


def test_events_and_records_tell_of_the_inputs(tmp_path: Path) -> None:
    """Of those too that belong to what does nothing; a secret is none of theirs."""
    place(tmp_path)
    for name in ("save", "note"):
        words = ["-i", "level=3", "-i", f"key={CANARY}", "-i", f"more=about {CANARY}", "-i", "log=/dev/null"]
        done = ordito(tmp_path, "run", name, *words, "--instance", "store_2", "--yes", "--json")
        assert done.code == 0, done.both
        events = [json.loads(line) for line in done.out.splitlines()]
        (started,) = (e for e in events if e["type"] == "step.started")
        inputs = {"level": 3, "key": "(sensitive)", "target": "disk", "more": "(sensitive)", "log": "/dev/null"}
        assert (started["operation"], started["instance"], started["inputs"]) == (f"Backup.{name}", "store_2", inputs)
        assert started.get("no_op", False) is (name == "note")
        (ended,) = (e for e in events if e["type"] == "step.succeeded")
        assert (ended["operation"], ended["instance"]) == (f"Backup.{name}", "store_2")
        shown = ordito(tmp_path, "jobs", "show", "-o", "json")
        (task,) = (c for c in json.loads(shown.out)["changes"] if c.get("operation") == f"Backup.{name}")
        assert task["inputs"] == inputs
        lines = ordito(tmp_path, "run", name, *words, "--instance", "store_2", "--yes")
        assert "start (level=3 key=(sensitive) target=disk more=(sensitive) log=/dev/null)" in lines.err
    assert CANARY.encode() not in b"".join(files_of(tmp_path).values())


def test_a_plan_that_was_saved_keeps_its_inputs_and_no_secret(tmp_path: Path) -> None:
    place(tmp_path, 'echo "$level ${#key} $more" > "$log"\nsaved=x\n')
    log = tmp_path / "log"
    words = ["-i", f"key={CANARY}", "-i", "level=3", "-i", "more=z", "-i", f"log={log}", "--instance", "store_1"]
    done = ordito(tmp_path, "plan", "run", "save", *words, "--out", "saved.plan")
    assert done.code == 0, done.both
    assert CANARY not in (tmp_path / "saved.plan").read_text()
    assert not log.exists()
    done = ordito(tmp_path, "deploy", "saved.plan", "--yes", "--json")
    assert done.code == 0, done.both
    assert log.read_text() == f"3 {len(CANARY)} z\n"
    assert not [name for name, content in files_of(tmp_path).items() if CANARY.encode() in content]
    assert CANARY not in done.both


def test_a_run_that_was_killed_is_resumed_with_its_inputs(tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    waits = f"until [ -e {go} ]; do sleep 0.05; done"
    place(tmp_path, f'echo "$INSTANCE $more ${{#key}}" >> {log}; {waits}; saved="$more"\n')
    process = start(tmp_path, "run", "save", "--instance", "store_1", "-i", "more=z", "-i", f"key={CANARY}", "--yes")
    until(log.exists)
    process.kill()
    process.communicate()
    refused = ordito(tmp_path, "run", "save", "--yes")
    assert refused.code == 5, refused.both
    go.touch()
    done = ordito(tmp_path, "jobs", "resume")
    assert done.code == 0, done.both
    assert set(log.read_text().splitlines()) == {f"store_1 z {len(CANARY)}"}
    assert status_of(tmp_path)["instances"]["store_1"]["attributes"] == {"saved": "z"}
    assert CANARY.encode() not in b"".join(files_of(tmp_path).values())


def test_a_run_that_failed_is_given_again_and_not_retried(tmp_path: Path) -> None:
    """The older job that could be carried on is not meant: it ended well."""
    place(tmp_path, "exit 4\n")
    assert ordito(tmp_path, "run", "save", "--yes").code == 1
    refused = ordito(tmp_path, "jobs", "retry", "--yes")
    assert refused.code == 3
    assert "is a run, which cannot continue where it stopped" in refused.err
    assert "give the same command again" in refused.err


def test_files_that_change_nothing_are_taken_over(tmp_path: Path) -> None:
    """A workflow that was written since is there after the next deployment, which has no step; so is another way to
    remove what exists."""
    place(tmp_path)
    file = tmp_path / "service.yaml"
    file.write_text(f"{SERVICE}  workflows: {{ w: {{ steps: {{ s: {{ target: store, activities: [] }} }} }} }}\n")
    assert "taken-over" in ordito(tmp_path, "plan").err
    again = ordito(tmp_path, "deploy", "service.yaml", "--yes")
    assert (again.code, "taken-over" in again.err) == (0, True), again.both
    assert ordito(tmp_path, "workflow", "run", "w", "--yes").code == 0
    last = ordito(tmp_path, "deploy", "service.yaml", "--yes")
    assert (last.code, "taken-over" in last.err, "Nothing to do" in last.err) == (0, False, True), last.both


def test_what_is_taken_over_counts_for_what_comes(tmp_path: Path) -> None:
    """Another script for what only `run` calls, and a mark that keeps `undeploy` away; replaying the jobs agrees."""
    place(tmp_path)
    (tmp_path / "save.sh").write_text("echo other >> $log\nsaved=other\n")
    marked = SERVICE.replace("store: { type: Store,", "store: { type: Store, metadata: { ordito.protected: 'true' },")
    (tmp_path / "service.yaml").write_text(marked)
    assert ordito(tmp_path, "deploy", "--yes").code == 0
    log = tmp_path / "log"
    assert ordito(tmp_path, "run", "save", "-i", f"log={log}", "--yes").code == 0
    assert log.read_text().split() == ["other", "other"]
    kept = ordito(tmp_path, "undeploy", "--yes", "--allow-changed")
    assert (kept.code, "--include-protected" in kept.err) == (0, True), kept.both
    status = status_of(tmp_path)
    assert (status["revision"], len(status["instances"])) == (2, 2)
    replayed = ordito(tmp_path, "jobs", "replay")
    assert replayed.code == 0, replayed.both


def test_workflows_that_are_made_are_commands_of_their_own(tmp_path: Path) -> None:
    place(tmp_path)
    for name, command in (("scale", "scale --help"), ("install", "deploy --help")):
        refused = ordito(tmp_path, "workflow", "run", name, "--yes")
        assert refused.code == 3
        assert f'"{name}" is generated for every service' in refused.err
        assert command in refused.err
    assert "one of the template: workflow NAME" in ordito(tmp_path, "graph", "--workflow", "backup").err
