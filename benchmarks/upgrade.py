"""Changing one property of one template, of services that are small and large: what it costs beyond what a version
costs by which nothing changes.

That is read, compared with what runs, and taken over: its files are kept and the record of all instances is written. A
service is node templates of ten instances in chains of ten; four others have one, ten, a hundred and five hundred, and
it is one of these that changes. The growth is that of the largest change: what a smaller one costs is less than two
runs of the same command differ by.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import python, run, verdict

JOB = str(Path(__file__).with_name("upgrade_job.py"))
SIZES = (1_000, 10_000)
CHANGED = {"one": 1, "ten": 10, "hundred": 100, "most": 500}
FIRST, NONE = "first", "other words"
"""The version that is deployed, and one by which nothing changes."""
OPERATIONS = ("stop", "configure", "start")
"""What changing the property runs on an instance."""
MOST_GROWTH = 2.0
"""How many times the cost beyond reading ten times the topology may have, for the same change."""
COMMANDS = {"diff": ("diff",), "plan": ("plan", "upgrade"), "upgrade": ("upgrade", "--yes", "--json")}

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Part:
    derived_from: tosca.nodes.Root
    properties:
      size: { type: integer, default: 1 }
    interfaces:
      Standard:
        operations:
          create: nothing.sh
          configure: { implementation: nothing.sh, inputs: { size: { value: { get_property: [ SELF, size ] } } } }
          start: nothing.sh
          stop: nothing.sh
          delete: nothing.sh
topology_template:
  node_templates:
"""
CHAIN = 10
OF_EACH = 10


def write(folder: Path, instances: int, changed: str) -> Path:
    """Write a service, of which one of the templates has the property with another value; its path."""
    folder.mkdir()
    (folder / "nothing.sh").write_text("#!/bin/sh\n:\n", encoding="utf-8")
    lines = [HEAD.replace("topology_template:\n", f"topology_template:\n  description: {changed}\n")]
    for name, count in CHANGED.items():
        size = 2 if name == changed else 1
        said = f"occurrences: [ {count}, {count} ], properties: {{ size: {size} }}"
        lines.append(f"    {name}: {{ type: bench.Part, {said} }}\n")
    for n in range((instances - sum(CHANGED.values())) // OF_EACH):
        needs = f", requirements: [ dependency: {f'node_{n - 1}' if n % CHAIN else 'ten'} ]"
        lines.append(f"    node_{n}: {{ type: bench.Part, occurrences: [ {OF_EACH}, {OF_EACH} ]{needs} }}\n")
    file = folder / "service.yaml"
    file.write_text("".join(lines), encoding="utf-8")
    return file


class Large:
    """A service of so many instances that is deployed, and its versions."""

    def __init__(self, folder: Path, instances: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._ensemble = folder / "ensemble"
        self.versions = {name: str(write(folder / f"v-{name}", instances, name)) for name in (FIRST, NONE, *CHANGED)}
        self._call(self._ensemble, "deploy", self.versions[FIRST], "--yes")

    def cost(self, command: str, version: str) -> dict[str, float]:
        """The figures of a command that leads to a version."""
        with tempfile.TemporaryDirectory(dir=self._folder) as place:
            copy = Path(place) / "ensemble"
            shutil.copytree(self._ensemble, copy, symlinks=True)
            return self._call(copy, *COMMANDS[command], self.versions[version])

    def _call(self, ensemble: Path, *words: str) -> dict[str, float]:
        return dict(json.loads(run([python(), JOB, str(ensemble), *words]).output))


def main(*, times: int) -> None:
    """Print what each command costs beyond finding that nothing is different."""
    print(f"upgrade (CPU, median of {times} interleaved runs)")
    cases = [(size, command, version) for command in COMMANDS for version in (NONE, *CHANGED) for size in SIZES]
    found: dict[tuple[int, str, str], list[float]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        large = {size: Large(Path(name) / str(size), size) for size in SIZES}
        for _ in range(times):
            for size, command, version in cases:
                figures = large[size].cost(command, version)
                found[size, command, version].append(figures["seconds"])
                if command == "upgrade":
                    check(figures, CHANGED.get(version, 0))

    def beyond(size: int, command: str, version: str) -> float:
        """The seconds that a change costs: round by round, since a machine is slower at one time than at another."""
        pairs = zip(found[size, command, version], found[size, command, NONE], strict=True)
        return statistics.median(changed - unchanged for changed, unchanged in pairs)

    print(f"  {'':8} {'instances':>12}" + "".join(f"{size:>12,}" for size in SIZES))
    for command in COMMANDS:
        alone = {size: statistics.median(found[size, command, NONE]) for size in SIZES}
        print(f"  {command:8} {'none changed':>12}" + "".join(f"{alone[size]:>10.2f} s" for size in SIZES))
        for version, count in CHANGED.items():
            costs = "".join(f"{1000 * beyond(size, command, version):>+9.0f} ms" for size in SIZES)
            print(f"  {command:8} {count:>4} changed {costs}")
    small, full = (beyond(size, "upgrade", "most") for size in SIZES)
    growth = round(full / small, 2)
    said = verdict("growth", growth, MOST_GROWTH, "times")
    print(f"  {CHANGED['most']} changed of ten times as many: {growth:4.2f} times {said}")


def check(figures: dict[str, float], changed: int) -> None:
    """See that an upgrade has touched what it must, and nothing else."""
    if (figures["instances"], figures["operations"]) != (changed, changed * len(OPERATIONS)):
        raise RuntimeError(f"{changed} instances were to be changed: {figures}")
