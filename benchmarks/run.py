"""All benchmarks: ``./run bench [NAME ...] [--times N]``. Figures are ratios within one run, since machines differ.

Bars that are missed are marked; with ``--strict`` the exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import (
    engine,
    makespan,
    operations,
    planning,
    playbooks,
    shapes,
    ssh,
    status,
    upgrade,
    validate,
    version,
    web,
    web_job,
    web_topology,
)
from benchmarks.measure import Figure, figures

BENCHMARKS = {
    "version": lambda times: version.main(),  # noqa: ARG005  (has a number of its own)
    "validate": lambda times: validate.main(times=times),
    "shapes": lambda times: shapes.main(times=times),
    "planning": lambda times: planning.main(times=times),
    "engine": lambda times: engine.main(times=times),
    "operations": lambda times: operations.main(times=times),
    "ssh": lambda times: ssh.main(times=times),
    "makespan": lambda times: makespan.main(times=times),
    "ansible": lambda times: playbooks.main(),  # noqa: ARG005  (each run counts processes, which differ little)
    "status": lambda times: status.main(times=times),
    "upgrade": lambda times: upgrade.main(times=times),
    "web": lambda times: _of_web(),  # noqa: ARG005  (each figure is of many)
}


def _of_web() -> None:
    """What the server and its pages cost."""
    web.main()
    web_topology.main()
    web_job.main()


def main() -> int:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--times", type=int, default=5, help="runs of each side (default: 5)")
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed")
    parser.add_argument("--json", metavar="FILE", help="write the figures that have a bar, too")
    arguments = parser.parse_args()
    unknown = [n for n in arguments.names if n not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    measured: dict[str, list[Figure]] = {}
    for name in arguments.names or BENCHMARKS:
        before = len(figures)
        BENCHMARKS[name](arguments.times)
        measured[name] = figures[before:]
        print()
    if arguments.json:
        write(Path(arguments.json), measured)
    return 1 if arguments.strict and not all(figure.held for figure in figures) else 0


def write(file: Path, measured: Mapping[str, Sequence[Figure]]) -> None:
    """Write the figures as JSON, named ``BENCHMARK.FIGURE``."""
    data = [
        {**asdict(f), "name": f"{name}.{f.name}", "held": f.held} for name, all_of in measured.items() for f in all_of
    ]
    file.write_text(json.dumps({"figures": data}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
