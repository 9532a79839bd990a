"""Versions of a service whose operations obey orders: database <- api <- web, and what changes between two versions."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.orders import Orders, rest
from tests.acceptance.program import LOGGING, Finished, log_lines, ordito, start, status_of
from tests.support.forked import Running
from tests.support.yaml_files import write_yaml

OPERATIONS = ("create", "configure", "start", "stop", "delete")
BLOCK = "tiers.example/lifecycle/say@v1#Say"
TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
data_types:
  tiers.Say:
    derived_from: tosca.datatypes.Root
    properties: { word: { type: string, default: "" } }
policy_types:
  "tiers.example/lifecycle/say@v1#Say":
    derived_from: ordito.policies.LifecycleStep
    version: 1.0.0
    properties: { config: { type: tiers.Say, required: false } }
node_types:
  "tiers.example/lifecycle/say@v1#Say":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: blocks/say.sh, undo: blocks/say.sh } } }
  tiers.Node:
    derived_from: tosca.nodes.Root
    properties:
      size: { type: integer, default: 1 }
      zone: { type: string, default: a, metadata: { ordito.update: replace } }
      label: { type: string, default: none, metadata: { ordito.update: ignore } }
    attributes:
      address: { type: string }
    capabilities:
      access: tosca.capabilities.Endpoint
    requirements:
      - peer:
          capability: tosca.capabilities.Endpoint
          relationship: tosca.relationships.ConnectsTo
          occurrences: [ 0, UNBOUNDED ]
  tiers.Special: { derived_from: tiers.Other }
  tiers.Other:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer, default: 1 } }
    attributes: { address: { type: string } }
    requirements:
      - peer:
          capability: tosca.capabilities.Endpoint
          relationship: tosca.relationships.ConnectsTo
          occurrences: [ 0, UNBOUNDED ]
  tiers.Hosted:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { size: { type: integer, default: 1 } }
    attributes: { address: { type: string } }
  tiers.Host:
    derived_from: tosca.nodes.Compute
    properties:
      size: { type: integer, default: 1 }
    attributes:
      address: { type: string }
relationship_types:
  tiers.Link:
    derived_from: tosca.relationships.ConnectsTo
    interfaces: { Configure: { operations: { add_target: scripts/link.sh, remove_target: scripts/link.sh } } }
  tiers.Told:
    derived_from: tosca.relationships.ConnectsTo
    interfaces: { Configure: { operations: { target_changed: scripts/link.sh } } }
"""
Tree = dict[str, Any]


def tiers(**more: Mapping[str, Any]) -> Tree:
    """The node templates of database <- api <- web, with what is said of them or of others in addition."""
    nodes: Tree = {
        "database": {},
        "api": {"requirements": [peer("database")]},
        "web": {"requirements": [peer("api")]},
    }
    for name, said in more.items():
        nodes[name] = {**nodes.get(name, {}), **copy.deepcopy(dict(said))}
    return nodes


def peer(node: str, kind: str = "tosca.relationships.ConnectsTo") -> Tree:
    """A requirement of another node, by a relationship of a type."""
    return {"peer": {"node": node, "relationship": kind}}


@dataclass
class Version:
    """One version of the service, in a folder of its own; each operation of each node has a script of its own."""

    folder: Path
    head: str
    nodes: Tree = field(default_factory=tiers)
    steps: Tree = field(default_factory=dict)
    topology: Tree = field(default_factory=dict)
    types: str = TYPES

    def write(self) -> str:
        """Write its template, and the scripts that it lacks; gives its folder."""
        for folder in ("scripts", "blocks"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        templates = {name: self._template(name, dict(node)) for name, node in self.nodes.items()}
        topology = {"node_templates": templates, "policies": [{n: s} for n, s in self.steps.items()], **self.topology}
        text = self.types + write_yaml({"topology_template": topology})
        (self.folder / "service.yaml").write_text(text, encoding="utf-8")
        self._script("scripts/link.sh")
        self._script("blocks/say.sh")
        return str(self.folder)

    def edit(self, node: str, operation: str, lines: str = "# other words\n") -> None:
        """Change the script of an operation, here only."""
        path = self.folder / f"scripts/{node}-{operation}.sh"
        path.write_text(path.read_text(encoding="utf-8") + lines, encoding="utf-8")

    def _template(self, name: str, node: Tree) -> Tree:
        operations: Tree = {}
        here = {"operation_host": "ORCHESTRATOR"} if node.pop("here", False) else {}
        for operation in OPERATIONS:
            self._script(f"scripts/{name}-{operation}.sh")
            operations[operation] = {"implementation": {"primary": f"scripts/{name}-{operation}.sh", **here}}
        operations[node.pop("sets", "create")]["outputs"] = {"address": ["SELF", "address"]}
        operations["configure"]["inputs"] = {"size": {"get_property": ["SELF", "size"]}, **node.pop("reads", {})}
        interfaces: Tree = {"Standard": {"operations": operations}}
        if maintain := node.pop("maintain", ()):
            for operation in maintain:
                self._script(f"scripts/{name}-{operation}.sh")
            interfaces["Maintain"] = {
                "type": "ordito.interfaces.Maintain",
                "operations": {operation: f"scripts/{name}-{operation}.sh" for operation in maintain},
            }
        return {"type": "tiers.Node", **node, "interfaces": interfaces}

    def _script(self, name: str) -> None:
        path = self.folder / name
        if not path.exists():
            path.write_text(self.head, encoding="utf-8")


def step(phase: str, *targets: str, fails: str = "abort", **more: object) -> Tree:
    """A lifecycle step of a block that obeys orders as operations do, and has an undo."""
    said = {"phase": phase, "onFailure": fails, **more}
    return {"type": BLOCK, **({"targets": list(targets)} if targets else {}), "properties": said}


@dataclass(frozen=True)
class Tiers(Orders):
    """An ensemble, and versions of the service for it. Operations write down what they do in one log."""

    def version(
        self, name: str, nodes: Tree | None = None, *, steps: Tree | None = None, topology: Tree | None = None
    ) -> Version:
        """A version in a folder of its own, written."""
        version = Version(self.home / name, HEAD, tiers() if nodes is None else nodes, steps or {}, topology or {})
        version.write()
        return version

    def does(self, *words: str, code: int = 0) -> list[str]:
        """Run a command that begins a job; gives the operations that completed, in order. They stand in the stream of
        events in the order in which they began."""
        done, _ = self.events(*words, code=code)
        return done

    def events(self, *words: str, code: int = 0) -> tuple[list[str], list[Tree]]:
        """As ``does``, with the events that were told."""
        before = len(list(log_lines(self.log)))
        found, events = rest(self.begin(*words))
        assert found == code, [e for e in events if e["type"].endswith(("failed", "finished", "error"))]
        lines = list(log_lines(self.log))[before:]
        check_told(lines, events)
        return [shortened(line[2]) for line in lines if line[0] == "end"], events

    def look(self, *words: str, code: str = "") -> Finished:
        """Run a command that changes nothing."""
        return ordito(self.home, *words, "-e", self.ensemble, code=code)

    def diff(self, *words: str) -> Tree:
        """What is different, as data; nothing is changed by asking."""
        found = self.look("diff", *words, "-o", "json", "--detailed-exitcode")
        assert found.code in (0, 2), found.both
        told = json.loads(found.out)
        assert told["different"] == (found.code == 2), found.both
        return dict(told)

    def classes(self, *words: str) -> dict[str, str]:
        """The class of each instance that is different."""
        return {i: node["class"] for node in self.diff(*words)["nodes"] for i in node["instances"]}

    def is_same(self, *words: str) -> bool:
        """Whether what runs is what a version says."""
        told = self.diff(*words)
        return not told["different"] and not told["nodes"]

    def job(self) -> Tree:
        """What the record of the last job says."""
        return dict(json.loads(self.look("jobs", "show", "-o", "json").out)["job"])

    def applied(self) -> dict[str, Tree]:
        """What was carried out for each instance that exists, in which form, without ids of jobs."""
        instances = status_of(self.ensemble)["instances"]
        return {name: one for name, one in instances.items() if one["readyState"]["local"] != "absent"}

    def start(self, *words: str) -> Running:
        """Start a command on the ensemble and leave it running."""
        return start(self.home, *words, "-e", self.ensemble, "--yes", "--json")


def check_told(lines: Iterable[list[str]], events: Iterable[Tree]) -> None:
    """That the stream tells of each operation that was carried out, and of none that it has ended, or begun after the
    end of another, where the processes say otherwise."""
    places = {(kind, name): place for place, (kind, _, name, _) in enumerate(lines)}
    latest, told = -1, set()
    for event in events:
        name = event.get("step", "")
        if event["type"] == "step.started" and ("begin", name) in places:
            told.add(name)
            assert latest < places["begin", name], f"{name} began before what it was told after had ended"
        elif event["type"] == "step.finished" and ("end", name) in places:
            latest = max(latest, places["end", name])
    assert told == {name for kind, name in places if kind == "begin"}


def shortened(step: str) -> str:
    """``web_1.peer.api_1.Configure.add_target`` as ``web_1.peer.api_1.add_target``."""
    for interface in ("Standard", "Configure", "Maintain", "Block"):
        step = step.replace(f".{interface}.", ".")
    return step


HEAD = f'#!/bin/bash\ncd "$HOME"\n{LOGGING}\n'.replace("{log}", "$HOME/operations.log")
HEAD += 'order=orders/$ORDITO_STEP\naddress=$INSTANCE\nif [ -e "$order" ]; then . "$order"; fi\n'
"""What every script begins with; it is the same in every directory."""


def make_tiers(home: Path) -> Tiers:
    """An ensemble with nothing in it yet."""
    (home / "orders").mkdir(parents=True)
    return Tiers(home, home / "one" / "service.yaml")


def of(*words: str) -> list[str]:
    """``api: stop start`` as ``[api_1.stop, api_1.start]``; a name with a number stands as it is."""
    found: list[str] = []
    for word in words:
        name, _, operations = word.partition(": ")
        instance = name if "_" in name else f"{name}_1"
        found += [f"{instance}.{operation}" for operation in operations.split()]
    return found


def in_order(done: Iterable[str], *wanted: str) -> bool:
    """Whether these are among what was done, in this order."""
    iterator = iter(done)
    return all(one in iterator for one in wanted)
