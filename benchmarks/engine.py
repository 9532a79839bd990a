"""A durable job of steps that do nothing, against a bare loop that makes two rows durable for each step.

The service is node templates of 34 instances each, in chains of ten that depend on each other; each instance has three
operations with an input that is evaluated, and sees the values of the other instances. The bars hold for it. A second
line tells what as many steps cost where every template has but one instance: what is found out once for a template
is then found out for every three steps.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Run, interleaved, python, run, verdict

MICROSECONDS = 60
"""CPU a step for planning, evaluating, the journal and events together, with the executor that does nothing."""
RATIO = 8
"""How many times the CPU of the bare loop that may be."""
MOST_GROWTH = 1.15
"""How many times the CPU of a step of 10,000 one of 100,000 may cost."""
MOST_MEMORY = 600
"""MiB of the whole process, closing included, for 100,000 steps."""

JOB = str(Path(__file__).with_name("engine_job.py"))
PARTS = ("planning", "running")

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Part:
    derived_from: tosca.nodes.Root
    properties:
      port: { type: integer }
    interfaces:
      Standard:
        operations:
"""
CALLED = """\
          {operation}:
            implementation: nothing.sh
            inputs: {{ PORT: {{ value: {{ get_property: [ SELF, port ] }} }}, MODE: fast }}
"""
EMPTY = "          {operation}: {{}}\n"
NODE = "    node_{n}: {{ type: bench.Part, properties: {{ port: {port} }}{more} }}\n"
INSTANCES = 34
"""So many instances has each node."""
OPERATIONS = ("create", "configure", "start")
CHAIN = 10
"""So many nodes depend on each other, one on the one before."""


def write_parts(folder: Path, nodes: int, operation: str, instances: int = 1) -> str:
    """Write a service of nodes in short chains, with so many instances each, and three operations that are declared
    like this; its path."""
    (folder / "nothing.sh").write_text("#!/bin/sh\n:\n", encoding="utf-8")
    lines = [HEAD, *(operation.format(operation=name) for name in OPERATIONS)]
    lines.append("topology_template:\n  node_templates:\n")
    for n in range(nodes):
        more = f", requirements: [ dependency: node_{n - 1} ]" if n % CHAIN else ""
        more += f", occurrences: [ {instances}, {instances} ]" if instances > 1 else ""
        lines.append(NODE.format(n=n, port=1024 + n % 60_000, more=more))
    file = folder / f"parts-{nodes}-{instances}-{len(operation)}.yaml"
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


@contextmanager
def fresh_ensemble() -> Iterator[str]:
    """An empty directory, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as folder:
        yield folder


def one(work: str, file: str) -> Run:
    """One run in a process of its own."""
    with fresh_ensemble() as folder:
        return run([python(), JOB, work, file, folder])


def a_step(result: Run, *parts: str) -> float:
    """Microseconds of CPU a step for these parts of a run."""
    figures = json.loads(result.output)
    return float(sum(figures[part] for part in parts) / figures["steps"] * 1e6)


def main(*, times: int) -> None:
    """Print the CPU a step of each side, its parts, the ratio, and what ten times as many steps cost."""
    print(f"engine (CPU a step of durable jobs whose steps do nothing, median of {times} interleaved runs)")
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        folder = Path(name)
        called = write_parts(folder, 98, CALLED, INSTANCES)
        empty = write_parts(folder, 98, EMPTY, INSTANCES)
        single = write_parts(folder, 3_334, CALLED)
        many = write_parts(folder, 980, CALLED, INSTANCES)
        sides = [
            lambda: one("bare", "10000"),
            lambda: one("executor", called),
            lambda: one("no-op", empty),
            lambda: one("executor", single),
        ]
        (bare, _), (own, runs), (no_op, _), (alone, _) = interleaved(sides, times, lambda r: a_step(r, "job"))
        parts = {part: statistics.median(a_step(r, part) for r in runs) for part in (*PARTS, "closing")}
        (large, large_runs), (small, _) = interleaved(
            [lambda: one("executor", many), sides[1]], max(1, times // 2), lambda r: a_step(r, "job")
        )
    memory = max(r.memory for r in large_runs)
    growth = round(large / small, 2)
    print(f"  bare durable loop                 {bare:6.1f} us")
    print(f"  executor that does nothing        {own:6.1f} us   {verdict('step', round(own, 1), MICROSECONDS, 'us')}")
    ratio = round(own / bare, 1)
    print(f"    times the bare loop             {ratio:6.1f}      {verdict('of-bare', ratio, RATIO, 'times')}")
    print("    of it " + ", ".join(f"{part} {parts[part]:.1f}" for part in PARTS) + f"; closing {parts['closing']:.1f}")
    print(f"  operations without implementation {no_op:6.1f} us")
    print(f"  one instance of each template     {alone:6.1f} us, {alone / bare:.1f} times the bare loop")
    print(
        f"  100,000 steps                     {large:6.1f} us"
        f"   growth beyond linear {growth:4.2f} {verdict('growth', growth, MOST_GROWTH, 'times')}"
        f"   {memory:,.0f} MiB {verdict('memory', round(memory), MOST_MEMORY, 'MiB')}"
    )
