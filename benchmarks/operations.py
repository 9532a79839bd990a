"""Deploying trivial ``sh`` operations against ``posix_spawn`` in a loop, and ``subprocess.run`` in as many threads."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import Run, interleaved, ordito, python, run, verdict

NODES = 667
OPERATIONS = 3 * NODES
"""Every operation of the lifecycle has a script: so there is no step that does nothing among them."""
PARALLEL = 64
OF_SPAWNING = 0.45
"""The part of the speed of bare spawning that the job alone must reach; wanted are 0.80 (docs/inside.md)."""
OF_THREADS = 0.60
"""The part of the speed of ``subprocess.run`` that the whole process must reach, start-up included on both sides;
wanted are 0.90."""

THREADS = """
import json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
script, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
environment = json.loads(sys.argv[4])
def one(n):
    result = subprocess.run(["sh", script], capture_output=True, stdin=subprocess.DEVNULL,
                            env={**environment, "NODE": f"node_{n}", "INSTANCE": f"node_{n}_1"})
    assert result.returncode == 0
with ThreadPoolExecutor(parallel) as pool:
    list(pool.map(one, range(count)))
"""

SPAWNING = """
import json, os, select, sys, time
script, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
environment = json.loads(sys.argv[4])
began = time.perf_counter()
null = os.open(os.devnull, os.O_RDONLY)
poll = select.epoll()
running = {}
started = 0
while started < count or running:
    while started < count and len(running) < parallel:
        own = {**environment, "NODE": f"node_{started}", "INSTANCE": f"node_{started}_1"}
        reader, writer = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, source, n) for n, source in enumerate((null, writer, writer))]
        running[reader] = os.posix_spawn("/bin/sh", ["sh", script], own, file_actions=actions, setsid=True)
        os.close(writer)
        poll.register(reader, select.EPOLLIN)
        started += 1
    for reader, _ in poll.poll():
        if not os.read(reader, 65536):
            poll.unregister(reader)
            os.close(reader)
            _, status = os.waitpid(running.pop(reader), 0)
            assert status == 0
print(time.perf_counter() - began)
"""
"""The least that runs them, each in a session of its own, and hears what they print; nothing else is known of them."""

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Part:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations: { create: nothing.sh, configure: nothing.sh, start: nothing.sh }
topology_template:
  node_templates:
"""


def write_operations(folder: Path, count: int) -> Path:
    """Write a service template of so many nodes without host, whose three operations are a script that does nothing."""
    (folder / "nothing.sh").write_text("#!/bin/sh\n:\n", encoding="utf-8")
    file = folder / "operations.yaml"
    file.write_text(HEAD + "".join(f"    node_{n}: {{ type: bench.Part }}\n" for n in range(count)), encoding="utf-8")
    return file


def job_seconds(result: Run) -> float:
    """The seconds between the first and the last event of the job, from its ``--json`` output."""
    events = [json.loads(line) for line in result.output.splitlines()]
    started = next(e["at"] for e in events if e["type"] == "job.started")
    return float(next(e["at"] for e in events if e["type"] == "job.finished") - started)


def main(*, times: int) -> None:
    """Print the wall time of all sides, and which part of the bare speeds is reached with and without start-up."""
    print(f"deploy of {OPERATIONS:,} trivial sh operations, {PARALLEL} at a time (wall, median of {times} interleaved)")
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        folder = Path(name)
        service = write_operations(folder, NODES)
        script = str(folder / "nothing.sh")
        environment = json.dumps(
            {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "INSTANCES": "node_1_1"}
        )
        ensembles = iter(range(10_000))

        def deploy() -> Run:
            target = str(folder / f"ensemble-{next(ensembles)}")
            return run(ordito("deploy", str(service), "-e", target, "--yes", "--json", "--parallel", str(PARALLEL)))

        def bare(program: str) -> Run:
            return run([python(), "-c", program, script, str(OPERATIONS), str(PARALLEL), environment])

        sides = [lambda: bare(SPAWNING), lambda: bare(THREADS), deploy]
        (_, spawned), (threads, _), (own, runs) = interleaved(sides, times, lambda r: r.wall)
    spawning = statistics.median(float(r.output) for r in spawned)
    job = statistics.median(job_seconds(r) for r in runs)
    figures = {
        "posix_spawn in a loop": (spawning, ""),
        f"subprocess.run in {PARALLEL} threads": (threads, ""),
        "ordito deploy, the job alone": (job, _part(spawning / job, "loop", OF_SPAWNING)),
        "ordito deploy, whole process": (own, _part(threads / own, "threads", OF_THREADS)),
    }
    for title, (seconds, said) in figures.items():
        print(f"  {title:31} {seconds:6.2f} s   {OPERATIONS / seconds:6.0f} a second{said}")


def _part(figure: float, of: str, bar: float) -> str:
    return f"   {figure:4.2f} of the {of} {verdict(f'of-{of}', round(figure, 2), bar, least=True)}"
