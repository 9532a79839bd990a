"""One pool, several ensembles, several processes at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.program import Run, start, until
from tests.cli.test_hosts import SERVICE

HELD = (
    SERVICE
    + """\
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: box } ]
      interfaces: { Standard: { operations: { create: hold.sh } } }
"""
)


def inventory(place: Path, number: int) -> None:
    has = "connection: local, capabilities: { host: { num_cpus: 4 }, os: { type: linux } }"
    (place / "hosts.yaml").write_text("hosts:\n" + "".join(f"  h{n}: {{ {has} }}\n" for n in range(number)))


def owners(run: Run) -> dict[str, list[str]]:
    """Who has which host."""
    hosts = run("--hosts", "hosts.yaml", "hosts", "list", "-o", "json").json["hosts"]
    return {h["name"]: [f"{Path(o['ensemble']).name}/{o['instance']}" for o in h["owners"]] for h in hosts}


def test_jobs_of_two_ensembles_at_the_same_time_never_get_the_same_host(run: Run, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    inventory(tmp_path, 9)
    arguments = ("--hosts", "hosts.yaml", "-i", "boxes=5", "--yes")
    jobs = [start(tmp_path, "deploy", "service.yaml", "-e", name, *arguments) for name in ("a", "b")]
    codes = [job.wait(60) for job in jobs]
    for job in jobs:
        job.communicate()
    found = owners(run)
    assert all(len(some) <= 1 for some in found.values())
    # One of ten has none, in whichever ensemble: its plan was refused, or the host that it was to have was taken.
    assert codes.count(0) == 1
    assert sorted(codes)[1] in {1, 3}
    # Nothing remains taken when both are gone.
    for name in ("a", "b"):
        if (tmp_path / name / "ensemble.yaml").exists():
            assert run("undeploy", "-e", name, "--yes").code == 0
    assert all(not some for some in owners(run).values())


def test_a_host_is_given_out_once_however_often_the_job_is_killed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(HELD)
    inventory(tmp_path, 3)
    os.mkfifo(tmp_path / "go")
    (tmp_path / "hold.sh").write_text(f"echo here >> {tmp_path}/began\ncat {tmp_path}/go > /dev/null\n")
    job = start(tmp_path, "deploy", "--yes")
    until((tmp_path / "began").exists)
    job.send_signal(signal.SIGKILL)
    job.communicate()
    before = owners(run)
    assert sum(map(len, before.values())) == 1
    job = start(tmp_path, "jobs", "resume")
    until(lambda: (tmp_path / "began").read_text().count("here") == 2)
    (tmp_path / "go").write_text("")
    assert job.wait(60) == 0
    job.communicate()
    assert owners(run) == before


def test_what_a_dead_process_was_about_to_take_is_not_taken(run: Run, tmp_path: Path) -> None:
    """A change that was not completed when its process was killed leaves nothing."""
    (tmp_path / "service.yaml").write_text(SERVICE)
    inventory(tmp_path, 1)
    program = (
        "import os, pathlib\n"
        "from ordito.providers.pool.allocations import Allocations\n"
        "from ordito.providers.pool.fitting import Taken\n"
        "with Allocations(pathlib.Path('.')).change() as books:\n"
        "    books.take(Taken('dead', 'x_1', 'x', 'h0'))\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    (tmp_path / "die.py").write_text(program)
    assert subprocess.run([sys.executable, "die.py"], cwd=tmp_path, check=False).returncode == -9
    assert run("deploy", "--yes").code == 0
    assert owners(run) == {"h0": [f"{tmp_path.name}/box_1"]}
