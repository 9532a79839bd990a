"""A service in which everything happens that a job can meet: several instances, operations that fail twice and are
tried again, one that fails for good, links, a host; its operations write down that they begin and end."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.program import CHANGE_ID, LOGGING, Finished, Project, ordito
from tests.support.yaml_files import read_yaml

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  busy.Node:
    derived_from: tosca.nodes.Root
    attributes: {{ mark: {{ type: string }} }}
    requirements:
      - peer:
          capability: tosca.capabilities.Node
          node: busy.Node
          relationship: busy.Link
          occurrences: [ 0, UNBOUNDED ]
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: {{ implementation: do.sh, outputs: {{ mark: [ SELF, mark ] }} }}
          configure: do.sh
          start: do.sh
          stop: do.sh
          delete: do.sh
relationship_types:
  busy.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations: {{ pre_configure_source: do.sh, add_target: do.sh, remove_target: do.sh }}
topology_template:
  node_templates:
    store: {{ type: busy.Node }}
    flaky:
      type: busy.Node
      instance_count: 2
      occurrences: [ 0, 9 ]
      metadata: {{ ordito.attempts: "3", ordito.interval: "0" }}
      requirements: [ {{ peer: store }} ]
    broken: {{ type: busy.Node, requirements: [ {{ peer: {before} }} ] }}
    last: {{ type: busy.Node, requirements: [ {{ peer: flaky }}, {{ peer: broken }} ] }}
  outputs:
    mark: {{ value: {{ get_attribute: [ store, mark ] }} }}
"""
SCRIPT = """\
set -eu
name=${{INSTANCE:-$SOURCE-$TARGET}}
thing=$HOME/things/$name
case $ORDITO_STEP in
    flaky_*.Standard.create)
        tries=$HOME/tries.$name
        echo x >>"$tries"
        [ "$(wc -l <"$tries")" -ge 3 ] || exit 4 ;;
    broken_1.Standard.start) exit 9 ;;
esac
case ${{ORDITO_STEP##*.}} in
    create) : >"$thing.created" ;;
    start) : >"$thing.started" ;;
    add_target) : >"$thing.linked" ;;
    stop) rm -f "$thing.started" ;;
    delete) rm -f "$thing.created" ;;
    remove_target) rm -f "$thing.linked" ;;
esac
mark=$name
"""
"""The operations that make ``flaky`` fail twice in all, however often the job is interrupted: what was tried counts."""

MOMENT = re.compile(r"\b\d{4}-\d\d-\d\dT[0-9:.]+Z\b")
DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
TIMES = ("seconds", "start", "began", "ended", "ticks")


class Tidy(Project):
    """A project that knows what its operations have left in the world."""

    def things(self) -> list[str]:
        """What they have made and not removed."""
        return sorted(path.name for path in (self.home / "things").iterdir())


@dataclass(frozen=True)
class Busy(Tidy):
    """A busy service and its ensemble; ``on_failure`` is how it is deployed."""

    on_failure: str

    def deploy(self, code: str = "") -> Finished:
        """Deploy it."""
        return ordito(self.home, *self.deploying("--on-failure", self.on_failure), code=code)


def make_busy(home: Path, on_failure: str) -> Busy:
    """A busy service in a folder of its own. What is taken back must not depend on what else runs when an operation
    fails, so that then everything else waits for it or is done."""
    folder = home / "busy"
    folder.mkdir(parents=True)
    (home / "things").mkdir()
    busy = Busy(home, folder / "service.yaml", on_failure)
    before = "store" if on_failure == "continue" else "flaky"
    busy.service.write_text(SERVICE.format(before=before), encoding="utf-8")
    script = f"#!/bin/bash\n{LOGGING}\n{SCRIPT}".format(log=busy.log)
    (folder / "do.sh").write_text(script, encoding="utf-8")
    return busy


def comparable(busy: Tidy) -> dict[str, Any]:
    """All files that a job writes, without ids, times and the directory; tasks in an order of their own."""
    found: dict[str, Any] = {"ensemble": _read(busy.ensemble / "ensemble.yaml", busy)}
    jobs = [_read(path, busy) for path in sorted((busy.ensemble / "jobs").glob("*.yaml"))]
    found["jobs"] = [_without_times({**job, "changes": _sorted(job["changes"])}) for job in jobs]
    lines = CHANGE_ID.sub("ID", (busy.ensemble / "jobs.tsv").read_text(encoding="utf-8")).splitlines()
    found["lines"] = sorted((row[1], row[3], row[4], row[5]) for row in (line.split("\t") for line in lines))
    found["things"] = busy.things()
    return found


def _read(path: Path, busy: Tidy) -> Any:
    text = path.read_text(encoding="utf-8").replace(str(busy.home), "HOME")
    return read_yaml(MOMENT.sub("MOMENT", DIGEST.sub("DIGEST", CHANGE_ID.sub("ID", text))))


def _without_times(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_times(value) for key, value in data.items() if key not in TIMES}
    return [_without_times(item) for item in data] if isinstance(data, list) else data


def _sorted(changes: list[Any]) -> list[Any]:
    """Tasks that run at the same time end in the order of chance, and what several of them touch is said by the last.
    How often one was tried depends on the moment: what was begun when the job was cut counts for the operation."""
    kept = ("target", "instance", "operation", "outcome", "changed", "exitCode", "digest", "reason")
    return sorted(
        ({key: change[key] for key in kept if key in change} for change in changes),
        key=lambda change: json.dumps(change, sort_keys=True),
    )
