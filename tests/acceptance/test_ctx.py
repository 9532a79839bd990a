"""Blueprints whose scripts use ``ctx``: deployed for real, on this machine and on a host that is reached by SSH.

Each is a file in ``data/ctx``: with what is done with it, what that prints, and the outputs afterwards.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.on_hosts import write_inventory
from tests.acceptance.program import ordito, start
from tests.support.real.hosts import SshHost, SshHosts
from tests.support.yaml_files import read_yaml, write_yaml

CASES = Path(__file__).parent / "data" / "ctx"
PLACES = ("here", "there")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    """Hosts that all of these tests share, each of which is a machine of its own."""
    with SshHosts(tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture(scope="module")
def host(hosts: SshHosts) -> SshHost:
    """A host that is there already."""
    return hosts.start("box")


class Blueprint:
    """A blueprint in a folder, and an ensemble beside it."""

    def __init__(self, home: Path, case: dict[str, Any], hosts: SshHosts | None, host: SshHost | None) -> None:
        self.home = home
        self.folder = home / "blueprint"
        self.folder.mkdir()
        self.words = ["-e", str(home / "ensemble")]
        given: dict[str, object] = {"ip": "", "port": 22, "user": "", "key": "", "method": "none"}
        if hosts is not None and host is not None:
            self.words += ["--hosts", str(write_inventory(home / "hosts.yaml", hosts, [host]))]
            given = {"ip": host.address, "port": host.port, "user": host.user, "key": str(host.key), "method": "remote"}
        document: dict[str, object] = {
            "tosca_definitions_version": "cloudify_dsl_1_3",
            "imports": ["cloudify/types/types.yaml", *case.get("imports", ())],
            "inputs": {name: {"default": value} for name, value in given.items()},
            **({"plugins": case["plugins"]} if "plugins" in case else {}),
            "node_types": case.get("types", {}),
            **{name: case[name] for name in ("data_types", "groups", "policies", "labels") if name in case},
            "node_templates": {"vm": VM, **case["nodes"]},
            "outputs": case.get("outputs", {}),
        }
        (self.folder / "blueprint.yaml").write_text(write_yaml(document), encoding="utf-8")
        for name, text in case.get("files", {}).items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, line: str, code: int = 0) -> str:
        """Run a command; returns what it printed."""
        verb, *more = (str(self.folder) if word == "SERVICE" else word for word in shlex.split(line))
        own = {"validate": [], "output": self.words[:2], "describe": self.words[:2]}.get(verb, [*self.words, "--yes"])
        done = ordito(self.home, verb, *more, *own)
        assert done.code == code, done.both
        return done.both

    def outputs(self) -> dict[str, object]:
        """The present outputs."""
        found = json.loads(self.run("output -o json"))
        values: dict[str, object] = found
        return values


VM = {
    "type": "cloudify.nodes.Compute",
    "properties": {
        "ip": {"get_input": "ip"},
        "agent_config": {
            "install_method": {"get_input": "method"},
            **{name: {"get_input": name} for name in ("user", "key", "port")},
        },
    },
}


def played(home: Path, case: dict[str, Any], hosts: SshHosts | None, host: SshHost | None) -> Blueprint:
    """Do what a case says, and look at what comes of it."""
    blueprint = Blueprint(home, case, hosts, host)
    for step in case["steps"]:
        printed = blueprint.run(step["run"], step.get("code", 0))
        for line in step.get("prints", ()):
            assert line in printed, printed
        for line in step.get("lacks", ()):
            assert line not in printed, printed
        if "outputs" in step:
            name = host.hostname if host is not None else ""
            wanted = json.loads(json.dumps(step["outputs"]).replace("HOST", name))
            found = blueprint.outputs()
            assert {key: found.get(key) for key in wanted} == wanted
    return blueprint


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("file", sorted(CASES.glob("*.yaml")), ids=lambda file: file.stem)
def test_ctx(file: Path, place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Each case does here and there what it says, and leaves nothing when it is undeployed; which requirements it shows
    is in its file."""
    case = read_yaml(file.read_text(encoding="utf-8"))
    if case.get("only", place) != place:
        pytest.skip(f"it is about {case['only']} only")
    there: list[Any] = [None, None]
    if place == "there":
        there = [request.getfixturevalue("hosts"), request.getfixturevalue("host")]
    blueprint = played(tmp_path, case, *there)
    if any(step["run"].startswith("deploy") and not step.get("code") for step in case["steps"]):
        blueprint.run("undeploy")
        status = read_yaml((tmp_path / "ensemble/ensemble.yaml").read_text(encoding="utf-8"))["status"]
        assert not any(record.get("attributes") for record in status["instances"].values())


KILLED = {
    "nodes": {
        "app": {
            "type": "cloudify.nodes.SoftwareComponent",
            "relationships": [{"type": "cloudify.relationships.contained_in", "target": "vm"}],
            "interfaces": {"cloudify.interfaces.lifecycle": {"create": {"implementation": "slow.sh"}}},
        }
    },
    "outputs": {"times": {"value": {"get_attribute": ["app", "times"]}}},
    "files": {
        "slow.sh": """\
set -e
ctx instance runtime-properties times "$(ctx instance runtime-properties get times)x"
echo half
read -r line <FIFO
ctx instance runtime-properties times "$(ctx instance runtime-properties times)y"
"""
    },
}


@pytest.mark.parametrize("place", PLACES)
def test_the_program_is_killed(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """R-CFY-14.2-1, R-CFY-14.2-10, R-CFY-17-5: a script goes on without the program, and what it has set is found when
    the job is resumed, which does not run it again."""
    there: list[Any] = [None, None]
    if place == "there":
        there = [request.getfixturevalue("hosts"), request.getfixturevalue("host")]
    blueprint = Blueprint(tmp_path, KILLED, *there)
    outside = there[1].root if there[1] is not None and there[1].isolated else Path("/")
    inside = Path("/tmp") / f"gate-{tmp_path.name}-{os.getpid()}"
    gate = outside / str(inside).lstrip("/")
    gate.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(gate)
    gate.chmod(0o666)
    script = blueprint.folder / "slow.sh"
    script.write_text(script.read_text(encoding="utf-8").replace("FIFO", str(inside)), encoding="utf-8")
    running = start(tmp_path, "deploy", str(blueprint.folder), *blueprint.words, "--yes", "-v")
    try:
        # Opening it for writing waits for the script, which has set the first value by then.
        with gate.open("w", encoding="utf-8") as opened:
            running.send_signal(signal.SIGKILL)
            running.communicate()
            opened.write("on\n")
        blueprint.run("jobs resume")
        assert blueprint.outputs() == {"times": "xy"}
        blueprint.run("undeploy")
    finally:
        gate.unlink()
