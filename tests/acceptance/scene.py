"""A database and an API that needs it, with lifecycle steps: what their operations and steps did, in which order.

Every operation and every block writes a line when it begins and one when it has ended well, into one file, and does
what a test orders. The events that a command tells must say the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.program import Project, ordito, start, status_of
from tests.support.forked import Running

DATA = Path(__file__).parent / "data" / "lifecycle"
NOTE = "scene.dev/lifecycle/notes@v1#Note"
LASTING = "scene.dev/lifecycle/notes@v1#Lasting"
"""What this block does cannot be undone."""
UP = ("create", "configure", "start")
AGAIN = ("stop", "configure", "start")
DOWN = ("stop", "delete")


@dataclass(frozen=True)
class Step:
    """A lifecycle step of a component, or of the module ("")."""

    name: str
    phase: str
    component: str = ""
    fqn: str = NOTE
    config: Mapping[str, object] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    """``condition``, ``timeout`` and ``onFailure`` where it has them."""

    def as_policy(self) -> dict[str, object]:
        """As a policy of a service template."""
        properties = {"phase": self.phase, **self.said, **({"config": self.config} if self.config else {})}
        target = {"targets": [self.component]} if self.component else {}
        return {self.name: {"type": self.fqn, **target, "properties": properties}}

    def as_entry(self) -> dict[str, object]:
        """As an entry of a file of lifecycle steps."""
        return {"fqn": self.fqn, **self.said, **({"config": self.config} if self.config else {})}


@dataclass(frozen=True)
class Told:
    """A command that has ended: its exit code, its events, and the order in which they say that things were done."""

    code: int
    events: Sequence[dict[str, Any]]
    err: str

    @property
    def story(self) -> list[str]:
        """What was begun and ended, as ``Scene.story`` says it."""
        return story(_lines(self.events))

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a kind."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def skipped(self) -> list[str]:
        """The lifecycle steps that were not carried out because of their conditions."""
        return [e["hook"]["id"] for e in self.of("step.skipped") if "hook" in e]

    @property
    def end(self) -> dict[str, Any]:
        """How the job ended."""
        (finished,) = self.of("job.finished")
        return finished


@dataclass(frozen=True)
class Scene(Project):
    """A service of a database and an API, which can be written again at any time."""

    def write(
        self,
        steps: Iterable[Step] = (),
        *,
        versions: Mapping[str, str] | None = None,
        nodes: Mapping[str, object] | None = None,
        sidecar: bool = False,
        keep_file: bool = False,
        outputs: Mapping[str, object] | None = None,
    ) -> None:
        """Write the service with these steps; ``versions`` are those of its components, ``nodes`` are further node
        templates, or others in place of these. The file of steps beside it is removed, unless it is to be kept."""
        versions, steps = versions or {}, list(steps)
        templates: dict[str, object] = {
            "database": {"type": "scene.Node", "properties": {"version": versions.get("database", "1")}},
            "api": {
                "type": "scene.Node",
                "properties": {"version": versions.get("api", "1")},
                "requirements": [{"peer": "database"}],
            },
            **(nodes or {}),
        }
        topology: dict[str, object] = {"node_templates": templates, "policies": [s.as_policy() for s in steps]}
        lifecycle = self.service.with_name("lifecycle.json")
        if not keep_file:
            lifecycle.unlink(missing_ok=True)
        if sidecar:
            lifecycle.write_text(json.dumps(as_file(steps)), encoding="utf-8")
            topology["policies"] = []
        document = {
            "tosca_definitions_version": "tosca_simple_yaml_1_3",
            "imports": ["types.yaml", "catalog/scene/blocks.yaml", "profile:blocks"],
            "topology_template": {**topology, **({"outputs": outputs} if outputs else {})},
        }
        self.service.write_text(json.dumps(document, indent=2), encoding="utf-8")

    def order(self, name: str, script: str) -> None:
        """Say what an operation (``database.start``), a step (its name) or an undo (``name.undo``) does from now on:
        lines of Bash in the home directory."""
        (self.home / "orders" / name).write_text(script + "\n", encoding="utf-8")

    def forget(self, name: str) -> None:
        """Have it do nothing again."""
        (self.home / "orders" / name).unlink()

    def forget_all(self) -> None:
        """Forget what was logged."""
        (self.home / "log").write_text("", encoding="utf-8")

    def begin(self, *arguments: str) -> Running:
        """Start a command that tells its events; what was logged before is forgotten."""
        self.forget_all()
        return start(self.home, *arguments, "-e", self.ensemble, "--yes", "--json")

    def tell(self, *arguments: str) -> Told:
        """Run a command that tells its events. What they say, and what the processes wrote down, is the same, but for
        checks that are repeated until they say that all is well, which is one step."""
        told = told_by(self.begin(*arguments))
        assert _without_checks(told.story) == _without_checks(self.story()), told.err
        return told

    def deploy(self, *arguments: str) -> Told:
        """Deploy the service."""
        return self.tell("deploy", str(self.service), *arguments)

    def installed(self) -> Scene:
        """Itself, deployed."""
        told = self.deploy()
        assert told.code == 0, told.err
        return self

    def story(self) -> list[str]:
        """What the processes of the last command wrote down: ``a`` is one that began and ended well before another one
        began, ``a!`` one that did not; of those at the same time there are ``a(`` and ``a)``, and ``a)`` alone of one
        that an earlier command began."""
        return story((self.home / "log").read_text(encoding="utf-8").splitlines())

    def json(self, *arguments: str) -> Any:
        """What a command says as JSON."""
        done = ordito(self.home, *arguments, "-e", self.ensemble, "-o", "json")
        assert done.code == 0, done.both
        return json.loads(done.out)

    def states(self) -> dict[str, str]:
        """The instances that are there, with their states."""
        ready = {name: i["readyState"] for name, i in status_of(self.ensemble)["instances"].items()}
        return {name: state["state"] for name, state in ready.items() if state["state"] not in ("initial", "deleted")}

    def revision(self) -> int:
        """The number of the revision that is current, 0 for none."""
        shown = self.json("revisions")["revisions"]
        return next((int(r["revision"]) for r in shown if r["is_current"]), 0)

    def differs(self) -> bool:
        """Whether what runs is not what the service says."""
        return bool(self.json("diff")["different"])


def make_scene(home: Path) -> Scene:
    """A service without lifecycle steps."""
    folder = home / "service"
    shutil.copytree(DATA / "scene", folder)
    (home / "orders").mkdir()
    scene = Scene(home, folder / "service.yaml")
    scene.write()
    return scene


def story(lines: Iterable[str]) -> list[str]:
    """Lines of a log put together, as ``Scene.story`` says it."""
    told: list[str] = []
    begun: dict[str, int] = {}
    for line in lines:
        what, name = line.split(maxsplit=1)
        if what == "begin":
            begun[name] = len(told)
            told.append(f"{name}!")
        elif (place := begun.pop(name, -1)) == len(told) - 1 and told:
            told[place] = name
        else:
            told.append(f"{name})")
            told[place] = f"{name}(" if place >= 0 else told[place]
    return told


def chain(name: str, operations: Iterable[str]) -> list[str]:
    """Operations of a component, one after the other."""
    return [f"{name}.{operation}" for operation in operations]


def as_file(steps: Iterable[Step]) -> dict[str, object]:
    """Steps as a file of lifecycle steps has them."""
    found: dict[str, Any] = {}
    for step in steps:
        transition, _, moment = step.phase.partition(".")
        of = found.setdefault("components", {}).setdefault(step.component, {}) if step.component else None
        if of is None:
            of = found.setdefault("module", {})
        of.setdefault(transition, {}).setdefault(moment, []).append(step.as_entry())
    return found


def told_by(process: Running) -> Told:
    """What a command tells from now on until it ends."""
    out, err = process.communicate(timeout=90)
    return Told(process.wait(), [json.loads(line) for line in out.splitlines()], err)


def _without_checks(told: Iterable[str]) -> list[str]:
    return [name for name in told if ".check" not in name]


def _lines(events: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    words = {"step.started": "begin", "step.succeeded": "end"}
    for event in events:
        if (word := words.get(event["type"])) and not event.get("no_op"):
            yield f"{word} {_name(event)}"


def _name(event: Mapping[str, Any]) -> str:
    if hook := event.get("hook"):
        return f"{hook['id']}.undo" if event["step"].endswith(".undo") else str(hook["id"])
    operation = event["operation"].rpartition(".")[2]
    return f"{event['instance'].rpartition('_')[0]}.{operation}"
