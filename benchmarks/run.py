"""All benchmarks: ``./run bench [NAME ...] [--times N]``. Figures are ratios within one run, since machines differ.

Bars that are missed are marked; with ``--strict`` the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
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
)
from benchmarks.measure import missed

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
}


def main() -> int:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--times", type=int, default=5, help="runs of each side (default: 5)")
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed")
    arguments = parser.parse_args()
    unknown = [n for n in arguments.names if n not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        BENCHMARKS[name](arguments.times)
        print()
    return 1 if arguments.strict and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
