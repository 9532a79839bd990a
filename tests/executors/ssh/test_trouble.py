"""Connections that are lost, hosts that go away, processes that die: nothing is lost, and nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.work.invocation import Ending, Printed, Started
from tests.executors.place import Ran
from tests.executors.ssh.far import Far, good, said, target_of
from tests.support.real.hosts import SshHosts


@pytest.fixture
def own(tmp_path: Path, ssh_hosts: SshHosts) -> Iterator[Far]:
    """A host to which anything may happen."""
    with ssh_hosts.some("own") as hosts:
        yield Far(tmp_path, ssh_hosts, hosts[0], "area")


async def follow(far: Far, script: str, what: str, happens: list[object], **more: Any) -> Ran:
    """Run a script; when it has printed a word, something happens."""
    ran = Ran()
    invocation = far.invocation(script, **more)
    async for _, progress in far.executor.run([invocation]):
        ran.take(progress)
        if isinstance(progress, Printed) and what in ran.text and happens:
            await asyncio.to_thread(happens.pop())  # type: ignore[arg-type]
    return ran


async def test_an_operation_survives_its_connection(own: Far) -> None:
    """It goes on, and is told of to its end: output, outputs and status."""
    script = """#!/bin/bash
echo begun
while [ ! -e /tmp/go ]; do sleep 0.1; done
for n in 1 2 3; do head -c 50000 /dev/zero | tr '\\0' x; done
echo; OUT=kept; echo '{"ordito.changed": true}' >"$ORDITO_OUTPUTS"; exit 5
"""

    def cut() -> None:
        own.host.cut()
        own.host.run("touch", "/tmp/go")

    ran = await follow(own, script, "begun", [cut], outputs=("OUT",))
    assert (ran.outcome.ending, ran.outcome.exit_code) == (Ending.FAILED, 5)
    assert ran.outcome.outputs == {"OUT": "kept"}
    assert ran.outcome.changed is True
    # What was on its way when the connection broke may be lost, and no more.
    assert ran.text.startswith("begun\n")
    assert ran.text.count("x") > 150_000 - 3 * 65_536
    assert (await own.run("echo again\n")).text == "again\n"


async def test_time_runs_out_without_a_connection_too(own: Far) -> None:
    ran = await follow(own, "echo begun\nexec sleep 4731\n", "begun", [own.host.cut], timeout=1.0)
    assert said(ran.outcome) == ("timed out", "timed out after 1 s")
    assert "sleep 4731" not in own.host.run("ps", "-e", "-o", "args")


async def test_a_host_that_goes_away(own: Far) -> None:
    """LOST while at work, UNREACHABLE when nothing was begun; at once, where it is known to be down; then it is back,
    and what an earlier attempt has left does not run beside the next one."""
    own.executor = own.another(grace=1.0, reconnect=0.3, pause=0.1)

    def go() -> None:
        own.host.refuse()
        own.host.cut()

    script = "echo begun >>/tmp/log; echo begun; exec sleep 4741\n"
    ran = await follow(own, script, "begun", [go])
    assert ran.outcome.ending is Ending.LOST
    assert "the host cannot be reached again" in ran.outcome.message
    assert "refuses connections" in ran.outcome.message
    outcome = (await own.run("touch /tmp/never\n", "other.sh")).outcome
    assert (outcome.ending, "refuses connections" in outcome.message) == (Ending.UNREACHABLE, True)
    assert "sleep 4741" in own.host.run("ps", "-e", "-o", "args")

    own.host.listen()
    own.executor._connectors["ssh"].forget_failure(own.target)
    again = own.invocation('pgrep -f "sleep 4741"; echo again\n')
    ran = await own.arun(msgspec.structs.replace(again, attempt=2))
    assert ran.text == "again\n"


async def test_another_job_finds_nothing_at_work(own: Far) -> None:
    """What a job that was lost has left on a host is ended before the first operation of the next one."""
    own.executor = own.another(grace=1.0, reconnect=0.1, pause=0.1)

    def go() -> None:
        own.host.refuse()
        own.host.cut()

    ran = await follow(own, "setsid -f sleep 4751; echo begun; exec sleep 4752\n", "begun", [go])
    assert ran.outcome.ending is Ending.LOST
    own.host.listen()
    own.job, own.executor = "A0AP4P9C0001", own.another()
    ran = await own.run('pgrep -fl "sleep 475"; echo next\n')
    assert ran.text == "next\n"
    assert all(name.split("/")[1].startswith("A0AP4P9C0001.") for name in own.files("jobs/"))


async def test_a_host_that_was_started_anew(own: Far) -> None:
    def start_anew() -> None:
        own.host.stop()
        own.host.start_again()

    ran = await follow(own, "echo begun\nexec sleep 4761\n", "begun", [start_anew])
    assert ran.outcome.ending is Ending.FAILED
    assert "was ended meanwhile and left no result" in ran.outcome.message


CHILD = """
import asyncio, json, sys
import msgspec
from ordito.executors.remote.executor import RemoteExecutor
from ordito.executors.ssh.connector import SshConnector
from ordito.work.invocation import Invocation, Printed, Started

async def main():
    invocation = msgspec.json.decode(sys.stdin.buffer.read(), type=Invocation)
    async for _, progress in RemoteExecutor([SshConnector()], "area").run([invocation]):
        if isinstance(progress, Started | Printed):
            sys.stdout.buffer.write(msgspec.json.encode(progress) + b"\\n")
            sys.stdout.flush()

asyncio.run(main())
"""


def begun_by_one_that_dies(far: Far, script: str, **more: Any) -> Started:
    """What is known of an operation whose orchestrator was killed when it had begun."""
    invocation = far.invocation(script, **more)
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        child.stdin.write(msgspec.json.encode(invocation))
        child.stdin.close()
        started = msgspec.json.decode(child.stdout.readline(), type=Started)
        child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    return started


async def test_outcomes_are_known_after_a_crash(own: Far) -> None:
    """The result waits on the host, and is found by its slot or without it."""
    script = "echo begun\nwhile [ ! -e /tmp/go ]; do sleep 0.1; done\nOUT=found; exit 3\n"
    started = await asyncio.to_thread(begun_by_one_that_dies, own, script, outputs=("OUT",))
    own.host.run("touch", "/tmp/go")
    own.executor = own.another(settle=20.0)
    for known in (started, None):
        outcome = await own.executor.settle(own.doubt(known, outputs=("OUT",)))
        assert outcome is not None
        assert (said(outcome), outcome.outputs) == (("failed", "exit 3"), {"OUT": "found"})
    assert await own.executor.settle(own.doubt(step="another")) is None


async def test_what_is_still_at_work_after_a_crash_is_ended(own: Far) -> None:
    script = "trap 'exit 0' TERM; setsid -f sleep 4771; echo begun; while :; do sleep 0.05; done\n"
    own.write("file", "x")
    started = await asyncio.to_thread(begun_by_one_that_dies, own, script)
    assert await own.executor.settle(own.doubt(started)) is None
    assert "sleep 4771" not in own.host.run("ps", "-e", "-o", "args")
    # That it ended well when it was told to is not how it ended.
    assert await own.executor.settle(own.doubt(started)) is None
    own.host.refuse()
    own.executor = own.another(reconnect=0.1, pause=0.1)
    outcome = await own.executor.settle(own.doubt(started))
    assert outcome is not None
    assert outcome.ending is Ending.LOST


async def test_folders_that_cannot_be_used(tmp_path: Path, ssh_hosts: SshHosts) -> None:
    """A full disk, and a folder that may not be written to."""
    ssh_hosts.need_isolation()
    host = ssh_hosts.start("full", disks={"/home/ops": "64k"})
    try:
        far = Far(tmp_path, ssh_hosts, host, "area")
        known = far.target.settings["known_hosts"]
        far.target = target_of(host, str(known), base="/root/no")
        ran = await far.run(":")
        assert ran.outcome.ending is Ending.NOT_STARTED
        assert "Permission denied" in ran.outcome.message
        assert 'setting "base"' in ran.outcome.message
        far.target = target_of(host, str(known), base="")
        ran = await far.run(":")
        assert ran.outcome.ending is Ending.NOT_STARTED
        assert "No space left on device" in ran.outcome.message
        host.resize_disk("/home/ops", "4m")
        ran = await far.run("pwd\n")
        assert good(ran) == {}
        assert ran.text.startswith("/home/ops/.ordito/area/jobs/")
        host.run("sh", "-c", "head -c 9000000 /dev/zero >/home/ops/fill; true")
        ran = await far.run("echo more\n", "b.sh")
        assert ran.outcome.ending is Ending.NOT_STARTED
        assert "No space left on device" in ran.outcome.message
        host.run("rm", "/home/ops/fill")
        assert (await far.run("echo more\n", "b.sh")).text == "more\n"
        await far.leave()
    finally:
        ssh_hosts.stop(host)


async def test_iterations_that_are_given_up(own: Far) -> None:
    """Nothing goes on."""
    run = own.executor.run([own.invocation("echo begun\nexec sleep 4781\n")])
    async for _, progress in run:
        if isinstance(progress, Printed):
            break
    await run.aclose()  # type: ignore[attr-defined]
    assert "sleep 4781" not in own.host.run("ps", "-e", "-o", "args")


async def test_more_operations_than_a_host_takes(tmp_path: Path, ssh_hosts: SshHosts) -> None:
    """They wait for each other, and what has to be asked meanwhile finds a place."""
    host = ssh_hosts.start("narrow", config="MaxSessions 2\n")
    try:
        far = Far(tmp_path, ssh_hosts, host, "area")
        far.target = target_of(host, str(far.target.settings["known_hosts"]), connections=1)
        ran = await asyncio.gather(*(far.run(f"echo {n}\n", f"s{n}.sh") for n in range(12)))
        assert [one.text for one in ran] == [f"{n}\n" for n in range(12)]
        again = far.invocation("echo again\n", "s1.sh", attempt=2)
        assert (await far.arun(again)).text == "again\n"
        await far.leave()
    finally:
        ssh_hosts.stop(host)


async def test_more_operations_than_shells_on_a_host_that_goes_away(own: Far) -> None:
    """Each of them ends, those that waited for a shell as well."""
    own.executor = own.another(grace=1.0, reconnect=0.1, pause=0.05)
    own.target = target_of(own.host, str(own.target.settings["known_hosts"]), connections=1)
    assert (await own.run("echo there\n")).text == "there\n"
    own.host.refuse()
    own.host.cut()
    async with asyncio.timeout(30):
        ran = await asyncio.gather(*(own.arun(own.invocation("echo there\n", step=f"s{n}")) for n in range(20)))
    assert {one.outcome.ending for one in ran} <= {Ending.UNREACHABLE, Ending.LOST}
