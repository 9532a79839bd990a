"""Ensembles whose jobs are worth looking at, and jobs of any size as a server tells them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from ordito.results.timeline import JobStepsData, StepData, TimelineColumns, TimelineData

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations:
          create: { implementation: { primary: scripts/do.sh } }
          configure: { implementation: { primary: scripts/do.sh } }
          start: { implementation: { primary: scripts/do.sh } }
topology_template:
  inputs: { webs: { type: integer, default: 3 } }
  node_templates:
    store: { type: Shop }
    web:
      type: Shop
      instance_count: { get_input: webs }
      occurrences: [ 1, 50 ]
      requirements: [ dependency: store ]
"""

SCRIPT = """\
name=$ORDITO_STEP
printf '\\033[32m%s\\033[0m begins\\n<b>no markup</b>\\n' "$name"
if [ -p {place}/gate-$name ]; then : < {place}/gate-$name; echo "$name was let through"; fi
if [ -e {place}/again-$name ]; then echo "db not ready"; rm {place}/again-$name; exit 75; fi
if [ -e {place}/fails-$name ]; then echo "bind 0.0.0.0:80: permission denied" >&2; exit 1; fi
echo "$name is done"
"""


class ShownShop:
    """An ensemble of one store and some webs whose operations do as they are told."""

    def __init__(self, place: Path, name: str = "shop") -> None:
        self.place = place
        self.directory = place / name
        (place / "scripts").mkdir(parents=True)
        (place / "service.yaml").write_text(SERVICE)
        script = place / "scripts" / "do.sh"
        script.write_text(SCRIPT.replace("{place}", str(place)))
        script.chmod(0o755)
        self._running: subprocess.Popen[bytes] | None = None

    def deploy(self, *options: str) -> int:
        """Deploy it, and wait for that."""
        self.begin(*options)
        return self.end()

    def fails(self, step: str) -> None:
        """From now on this step fails."""
        (self.place / f"fails-{step}").touch()

    def fails_once(self, step: str) -> None:
        """The next time it fails, and asks for another attempt."""
        (self.place / f"again-{step}").touch()

    def holds(self, step: str) -> None:
        """From now on this step waits until it is let through."""
        os.mkfifo(self.place / f"gate-{step}")

    def let_through(self, step: str) -> None:
        """Let it go on, once it waits."""
        gate = self.place / f"gate-{step}"
        if gate.exists() and stat.S_ISFIFO(gate.stat().st_mode):
            gate.write_text("")
            gate.unlink()

    def begin(self, *options: str) -> None:
        """Begin to deploy it with a command of its own."""
        # In its folder, so that no record names where that is.
        command = [sys.executable, "-m", "ordito", "-e", self.directory.name, "-q", "deploy", "service.yaml", "--yes"]
        self._running = subprocess.Popen([*command, *options], cwd=self.place, stderr=subprocess.DEVNULL)

    def end(self) -> int:
        """Wait until that command has ended."""
        assert self._running is not None
        return self._running.wait(60)

    def stop(self) -> None:
        """End that command, if it still runs."""
        if self._running is not None and self._running.poll() is None:
            self._running.kill()
            self._running.wait()


def many_steps(instances: int, each: int = 5, job: str = "A6BM5PEY0000") -> tuple[TimelineData, JobStepsData]:
    """A job that has ended, with so many steps of so many instances; every thousandth step failed."""
    further = (f"Said.part_{number}" for number in range(3, each))
    operations = ("Standard.create", "Standard.configure", "Standard.start", *further)
    names = tuple(f"web_{number}" for number in range(instances))
    bars = sorted(
        (40 * number + 700 * step, number, step % len(operations))
        for number in range(instances)
        for step in range(each)
    )
    starts = [bar[0] for bar in bars]
    letters = "".join("f" if number % 1_000 == 999 else "s" for number in range(len(bars)))
    order = {number: place for place, number in enumerate(dict.fromkeys(bar[1] for bar in bars))}
    columns = TimelineColumns(
        row=tuple(order[number] for _, number, _ in bars),
        operation=tuple(operation for _, _, operation in bars),
        start=tuple(here - before for before, here in zip((0, *starts), starts, strict=False)),
        milliseconds=tuple(200 + (7 * number) % 450 for number in range(len(bars))),
        state=letters,
        attempt=(1,) * len(bars),
        step={},
    )
    timeline = TimelineData(
        job=job, workflow="deploy", status="failed", t0=1_795_325_114_000, end=starts[-1] + 700,
        rows=tuple(names[number] for number in order), operations=operations, steps=columns,
        critical=tuple(range(0, len(bars), max(1, len(bars) // 50))),
    )  # fmt: skip
    counts = {"succeeded": letters.count("s"), "failed": letters.count("f")}
    steps: tuple[StepData, ...] = ()
    return timeline, JobStepsData(job=job, workflow="deploy", status="failed", items=steps, next=None, counts=counts)
