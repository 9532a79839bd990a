"""Deploying trivial ``sh`` operations against ``subprocess.run`` in as many threads."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.measure import Run, interleaved, ordito, python, run

OPERATIONS = 2_000
PARALLEL = 64

BARE = """
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


HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
"""

NODE = """\
    node_{n}:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create: nothing.sh
"""


def write_operations(folder: Path, count: int) -> Path:
    """Write a service template of ``count`` nodes without host, each created by a script that does nothing."""
    (folder / "nothing.sh").write_text("#!/bin/sh\n:\n", encoding="utf-8")
    file = folder / "operations.yaml"
    file.write_text(HEAD + "".join(NODE.format(n=n) for n in range(count)), encoding="utf-8")
    return file


def job_seconds(result: Run) -> float:
    """The seconds between the first and the last event of the job, from its ``--json`` output."""
    events = [json.loads(line) for line in result.output.splitlines()]
    started = next(e["at"] for e in events if e["type"] == "job.started")
    return float(next(e["at"] for e in events if e["type"] == "job.finished") - started)


def main(*, times: int) -> None:
    """Print the wall time of both sides and their ratio, with and without start-up."""
    print(f"deploy of {OPERATIONS:,} trivial sh operations, {PARALLEL} at a time (wall, median of {times} interleaved)")
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        folder = Path(name)
        service = write_operations(folder, OPERATIONS)
        environment = json.dumps(
            {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "INSTANCES": "node_1_1"}
        )
        ensembles = iter(range(10_000))

        def deploy() -> Run:
            target = str(folder / f"ensemble-{next(ensembles)}")
            return run(ordito("deploy", str(service), "-e", target, "--yes", "--json", "--parallel", str(PARALLEL)))

        def bare() -> Run:
            script = str(folder / "nothing.sh")
            return run([python(), "-c", BARE, script, str(OPERATIONS), str(PARALLEL), environment])

        (threads, _), (own, runs) = interleaved([bare, deploy], times, lambda r: r.wall)
        job = sorted(job_seconds(r) for r in runs)[len(runs) // 2]
        for name, seconds in (
            (f"subprocess.run in {PARALLEL} threads", threads),
            ("ordito deploy, whole process", own),
            ("ordito deploy, the job alone", job),
        ):
            print(
                f"  {name:30} {seconds:6.2f} s   {OPERATIONS / seconds:6.0f} a second"
                f"   speed {threads / seconds:4.2f} of bare"
            )
