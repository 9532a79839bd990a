"""Jobs whose operations run in containers, cut anywhere: they end as if nothing had been, no operation runs twice, each
instance is in its own container and nowhere else, and once all is removed no container is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from tests.acceptance.program import LOGGING, Finished, completed_twice, environment, log_lines, overlaps, status_of
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD
from tests.acceptance.test_crash_on_hosts import SERVICE as ON_HOSTS
from tests.support import forked
from tests.support.real.podman import LARGE, Podman, large_volumes
from tests.support.thorough import at_length

SERVICE = ON_HOSTS.replace("instance_count: 2, ", "")
PLACE = "/tmp/inside"
SHARED = "/shared"
LOG = f"{SHARED}/operations.log"
SCRIPT = f"""\
set -eu
mkdir -p {PLACE}
name=${{INSTANCE:-$SOURCE-$TARGET}} step=${{ORDITO_STEP##*.}}
if [ -e "{SHARED}/hold-$name-$step" ]; then
    rm "{SHARED}/hold-$name-$step"
    echo >{SHARED}/holds
    read -r _ <{SHARED}/go
fi
case $step in
    create) : >{PLACE}/$name.created ;;
    start)
        setsid sleep 98765 </dev/null >/dev/null 2>&1 & echo $! >{PLACE}/$name.started ;;
    stop)
        if [ -e {PLACE}/$name.started ]; then kill "$(<{PLACE}/$name.started)" 2>/dev/null || :; fi
        rm -f {PLACE}/$name.started ;;
    delete) rm -f {PLACE}/$name.created ;;
    add_target) : >{PLACE}/$name.linked ;;
    remove_target) rm -f {PLACE}/$name.linked ;;
esac
mark=$name
"""

IMPATIENT = """
import ordito.executors.remote.executor as executor
from ordito.executors.remote.connection import HostTimeouts
executor.HostTimeouts = lambda: HostTimeouts(reconnect=1.0, settle=0.2)
"""
"""What cannot be reached is given up soon."""


@dataclass(frozen=True)
class Case:
    """A command, what is done before, and after how many records it is cut at most."""

    words: str
    before: Sequence[str] = ("deploy",)
    most: int = 0


CASES: Mapping[str, Case] = {
    "deploy": Case("deploy", before=(), most=60),
    "undeploy": Case("undeploy", most=36),
    "scale out": Case("scale machine=2", most=36),
    "scale in": Case("scale machine=0", most=24),
    "heal": Case("heal machine_1 --reinstall", most=48),
}


def cuts() -> list[tuple[str, int]]:
    return [(name, n) for name, case in CASES.items() for n in range(0, case.most, 3)]


class Contained:
    """The service, its ensemble, and an inventory by which its Computes are containers."""

    def __init__(self, home: Path, podman: Podman) -> None:
        self.home = home
        self.podman = podman
        self.ensemble = home / "ensemble"
        self.service = home / "service" / "service.yaml"
        self.shared = home / "shared"
        for folder in (self.shared, self.service.parent):
            folder.mkdir()
        for pipe in ("holds", "go"):
            os.mkfifo(self.shared / pipe)
        self.service.write_text(SERVICE, encoding="utf-8")
        (self.service.parent / "do.sh").write_text(f"#!/bin/bash\n{LOGGING.format(log=LOG)}{SCRIPT}", encoding="utf-8")
        volumes = "".join(f"    - {volume}\n" for volume in (*large_volumes(), f"{self.shared}:{SHARED}"))
        (home / "hosts.yaml").write_text(f"containers:\n  engine: podman\n  image: {LARGE}\n  volumes:\n{volumes}")

    def start(self, words: str, code: str = "") -> forked.Running:
        """Start a command that asks nothing."""
        given = {**environment(self.home), **self.podman.environment}
        about = [str(self.service), "--hosts", str(self.home / "hosts.yaml")] if words == "deploy" else []
        arguments = [*words.split(), *about, "--yes", "-e", str(self.ensemble)]
        return forked.start(self.home, given, arguments, code)

    def run(self, words: str, code: str = "") -> Finished:
        """Run a command to its end."""
        process = self.start(words, code)
        out, err = process.communicate(timeout=110)
        return Finished(process.wait(), out, err)

    def done(self, words: str) -> None:
        """Run a command that must succeed."""
        finished = self.run(words)
        assert finished.code == 0, finished.both

    def resumed(self, words: str) -> None:
        """What was begun is ended by the next command: it goes on, or begins where nothing had been written down."""
        finished = self.run("jobs resume")
        if "Nothing to resume" in finished.both or "is not an ensemble" in finished.both:
            self.done(words)
        else:
            assert finished.code == 0, finished.both

    def cut_in(self, words: str, operation: str) -> None:
        """Kill a command while an operation (`app_1-create`) is at work, which goes on until it is ``let_go``."""
        (self.shared / f"hold-{operation}").touch()
        process = self.start(words)
        subprocess.run(
            ["timeout", "60", "head", "-n", "1", str(self.shared / "holds")], check=True, capture_output=True
        )
        process.kill()
        process.communicate()

    def let_go(self) -> None:
        """Let the operation that is held go on; returns when it does."""
        subprocess.run(["timeout", "60", "sh", "-c", 'echo >"$0"', str(self.shared / "go")], check=True)

    def began(self, operation: str) -> int:
        """How often an operation has begun."""
        log = log_lines(self.shared / "operations.log")
        return sum(kind == "begin" and operation in step for kind, _, step, _ in log)

    def containers(self) -> dict[str, str]:
        """The ids of all containers, by the instances that they were made for."""
        form = '{{index .Labels "ordito.instance"}} {{.ID}}'
        return dict(line.split() for line in self.podman.run("ps", "--all", "--format", form).splitlines())

    def found(self) -> dict[str, set[str]]:
        """What operations have left in each container, by the instance that it is of."""
        look = f"ls {PLACE} 2>/dev/null; echo $(ps -eo args | grep -c '^sleep 98765') started"
        return {
            name: set(self.podman.run("exec", one, "sh", "-c", look).splitlines())
            for name, one in self.containers().items()
        }

    def wanted(self) -> dict[str, set[str]]:
        """What has to be in each container by what is recorded."""
        if not (self.ensemble / "ensemble.yaml").exists():
            return {}
        records = status_of(self.ensemble)["instances"]
        there = {name for name, record in records.items() if record["readyState"]["local"] != "absent"}
        found = {name: {"0 started"} for name in there if "machine" in name}
        for name in there - found.keys():
            links = {f"{name}-store_1.linked"} if name.startswith("app") else set[str]()
            found[records[name]["host"]] = {f"{name}.created", f"{name}.started", "1 started", *links}
        return found

    def assert_true(self) -> None:
        """What is recorded is what there is, in the containers and in the books."""
        assert self.found() == self.wanted()
        log = self.shared / "operations.log"
        assert overlaps(log) == []
        assert completed_twice(log) == []
        rebuilt = rebuild(Layout(self.ensemble))
        assert rebuilt.problems == ()
        with read_ensemble(self.ensemble) as ensemble:
            assert ensemble.unfinished is None
            assert rebuilt.snapshot.instances == ensemble.snapshot.instances
            assert rebuilt.snapshot.attributes == ensemble.snapshot.attributes
            assert rebuilt.status == ensemble.status


@pytest.fixture
def service(tmp_path: Path, podman: Podman) -> Iterator[Contained]:
    yield Contained(tmp_path, podman)
    for name in podman.containers():
        podman.run("rm", "--force", "--time", "0", "--volumes", name)


@at_length
@pytest.mark.parametrize(("name", "number"), cuts())
def test_cut_after_a_record(service: Contained, name: str, number: int) -> None:
    case = CASES[name]
    for words in case.before:
        service.done(words)
    killed = service.run(case.words, KILL_AT_RECORD.format(number=number))
    if killed.code == 0:
        pytest.skip("the job has fewer records than that")
    assert killed.code == -signal.SIGKILL, killed.both
    service.resumed(case.words)
    service.assert_true()
    service.done("undeploy")
    assert service.found() == {}


def test_an_operation_that_is_at_work_is_ended_before_it_runs_again(service: Contained) -> None:
    """Of a step there is never more than one process, in whatever container."""
    service.cut_in("deploy", "app_1-start")
    service.resumed("deploy")
    assert service.began("app_1.Standard.start") == 2
    service.assert_true()


@at_length
def test_an_operation_that_ended_while_nobody_listened_has_ended(service: Contained) -> None:
    """Its shell in the container has written down how, and what it gave."""
    service.cut_in("deploy", "app_1-create")
    service.let_go()
    ended = f"until grep -q 'end .*app_1.Standard.create' {service.shared}/operations.log; do sleep 0.05; done"
    subprocess.run(["timeout", "60", "sh", "-c", ended], check=True)
    service.resumed("deploy")
    assert service.began("app_1.Standard.create") == 1
    assert status_of(service.ensemble)["instances"]["app_1"]["attributes"]["mark"] == "app_1"
    service.assert_true()


@at_length
def test_what_a_container_that_was_killed_took_along_is_lost_and_made_again_by_heal(service: Contained) -> None:
    """Nobody knows how far the operation came: the job fails and says so, and what is begun again is the container."""
    service.cut_in("deploy", "app_1-configure")
    service.podman.run("kill", service.containers()["machine_1"])
    resumed = service.run("jobs resume", IMPATIENT)
    assert resumed.code == 4, resumed.both
    assert "lost: it is not known how this operation ended" in resumed.both
    assert re.search(r"does not run; start it \(podman start \S+\), or use `ordito .*heal machine_1`", resumed.both)
    assert service.began("app_1.Standard.configure") == 1
    service.done("heal machine_1")
    service.done("deploy")
    service.assert_true()


@at_length
def test_what_ran_in_a_container_that_was_started_again_is_gone_and_runs_again(service: Contained) -> None:
    """Another process may have its number by now: that one is none of the operation's."""
    service.cut_in("deploy", "app_1-configure")
    service.podman.run("restart", "--time", "0", service.containers()["machine_1"])
    service.resumed("deploy")
    assert service.began("app_1.Standard.configure") == 2
    service.assert_true()
