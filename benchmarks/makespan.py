"""How long random graphs of sleeping operations take, against a simulation of the same rule that costs no time.

In the simulation an operation takes as long as its script does when a bare loop runs it: a few milliseconds longer than
it sleeps, in which sh and sleep begin. What the real job needs besides is the program's own.
"""

from __future__ import annotations

import heapq
import os
import random
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measure import ordito, run, verdict
from benchmarks.operations import job_seconds

NODES, HOSTS, PARALLEL = 200, 12, 16
SHORTEST, LONGEST = 0.050, 0.250
SEEDS = (1, 2, 3)
MOST = 1.03
"""How many times the simulated makespan the real one may be."""

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n"
TYPE = """\
  bench.{name}:
    derived_from: tosca.nodes.{parent}
    properties: {{ seconds: {{ type: float }} }}
    interfaces:
      Standard:
        operations:
          create: {{ implementation: sleep.sh, inputs: {{ S: {{ value: {{ get_property: [ SELF, seconds ] }} }} }} }}
"""
TYPES = TYPE.format(name="Alone", parent="Root") + TYPE.format(name="Hosted", parent="SoftwareComponent")
TOPOLOGY = "topology_template:\n  node_templates:\n"
NODE = "    {name}: {{ type: bench.{type}, properties: {{ seconds: {seconds} }}, requirements: [ {needs} ] }}\n"


def write_graph(folder: Path, seed: int) -> tuple[Path, dict[str, float]]:
    """Write a service of nodes that sleep: most on one of some hosts, each after up to three earlier ones. Gives it,
    and how long each node sleeps."""
    chance = random.Random(seed)
    (folder / "sleep.sh").write_text('#!/bin/sh\nexec sleep "$S"\n', encoding="utf-8")
    lines = [HEAD, TYPES, TOPOLOGY, *(f"    host_{n}: {{ type: tosca.nodes.Compute }}\n" for n in range(HOSTS))]
    seconds: dict[str, float] = {}
    for n in range(NODES):
        name = f"sleeper_{n}"
        seconds[name] = round(chance.uniform(SHORTEST, LONGEST), 3)
        earlier = chance.sample(range(n), min(n, chance.randint(0, 3)))
        needs = [f"dependency: sleeper_{other}" for other in earlier]
        kind = "Hosted" if chance.random() < 0.8 else "Alone"
        if kind == "Hosted":
            needs.append(f"host: host_{chance.randrange(HOSTS)}")
        lines.append(NODE.format(name=name, type=kind, seconds=seconds[name], needs=", ".join(needs)))
    file = folder / f"graph-{seed}.yaml"
    file.write_text("".join(lines), encoding="utf-8")
    return file, seconds


def beginning(folder: Path) -> float:
    """The seconds for which the script runs without sleeping."""
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, n) for n in range(3)]
    taken = []
    for _ in range(50):
        began = time.perf_counter()
        script = ["sh", str(folder / "sleep.sh")]
        pid = os.posix_spawn("/bin/sh", script, {"PATH": os.defpath, "S": "0"}, file_actions=streams, setsid=True)
        os.waitpid(pid, 0)
        taken.append(time.perf_counter() - began)
    os.close(null)
    return statistics.median(taken)


def simulated(file: Path, seconds: Mapping[str, float]) -> float:
    """The seconds that the plan would take if only sleeping took time: the scheduler itself, on a clock of its own."""
    from ordito.app.services.read import read_service
    from ordito.base.diagnostics import Diagnostics
    from ordito.engine.core import Core
    from ordito.engine.messages import Start, StepEnded
    from ordito.instances.records import Snapshot
    from ordito.planning.options import Abilities, PlanOptions
    from ordito.planning.workflows import plan
    from ordito.work.options import JobOptions
    from ordito.work.plan import Action

    service = read_service(str(file), Diagnostics()).service
    accepts, provides = "tosca.artifacts.Implementation.Bash", "tosca.nodes.Compute"
    options = PlanOptions(
        Abilities(accepts=lambda kinds: accepts in kinds, provides=lambda _, kinds: provides in kinds)
    )
    made = plan("deploy", service, Snapshot(), {}, options)
    core = Core(made, JobOptions(parallel=PARALLEL))
    now, running = 0.0, list[tuple[float, int]]()
    while True:
        while commands := core.wake():
            for command in commands:
                assert isinstance(command, Start), command
                step = made.steps[command.step]
                is_called = step.action is Action.CALL and not command.no_op
                if is_called:
                    call = made.calls[step.call]
                    heapq.heappush(running, (now + seconds[call.owner], command.step))
                else:
                    core.react(StepEnded(command.step, succeeded=True))
        if not running:
            break
        now, ended = heapq.heappop(running)
        core.react(StepEnded(ended, succeeded=True))
    assert core.is_finished
    return now


def main(*, times: int) -> None:
    """Print real and simulated makespan of some graphs, and the median ratio."""
    print(
        f"makespan ({NODES} sleeping sh operations of {SHORTEST * 1000:.0f} to {LONGEST * 1000:.0f} ms, most on one of "
        f"{HOSTS} hosts, {PARALLEL} at a time; wall of the job, median of {times})"
    )
    ratios, pure = [], []
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        folder = Path(name)
        for seed in SEEDS:
            file, seconds = write_graph(folder, seed)
            extra = beginning(folder)
            least = simulated(file, {node: slept + extra for node, slept in seconds.items()})
            runs = []
            for turn in range(times):
                target = str(folder / f"ensemble-{seed}-{turn}")
                command = ordito("deploy", str(file), "-e", target, "--yes", "--json", "--parallel", str(PARALLEL))
                runs.append(job_seconds(run(command)))
            ratios.append(statistics.median(runs) / least)
            pure.append(statistics.median(runs) / simulated(file, seconds))
            busy = sum(seconds.values()) / least
            print(
                f"  graph {seed}   {statistics.median(runs):6.3f} s   simulated {least:6.3f} s"
                f"   {ratios[-1]:5.3f} of it   ({busy:4.1f} sleep on average)"
            )
    ratio = statistics.median(ratios)
    print(f"  median of the graphs {ratio:5.3f} {verdict('makespan', round(ratio, 3), MOST, 'times')}")
    print(f"  (if sh and sleep began at once: {statistics.median(pure):5.3f})")
