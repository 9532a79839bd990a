"""A fresh clone on a machine that has only Python: `./run demo` and `./run test` as the first commands ever given, with
an empty home and nothing in the environment, and then `.ci/run`. The figures say how many seconds each took.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tools.proofs.results import ROOT, Figure, Figures

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Where packages come from, through which proxy and by which certificates is a setting of the machine.
KEPT = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
MOST_SECONDS = 1200
FEW = "tests/test_floors.py"


def commands(*, quick: bool) -> dict[str, tuple[str, list[str]]]:
    """By the name of its figure, the clone in which a command is given, and the command."""
    first = {"demo": ("one", ["./run", "demo"]), "test": ("two", ["./run", "test", FEW])}
    return first if quick else {**first, "ci": ("one", [".ci/run"])}


def main(arguments: list[str]) -> int:
    """Give the commands and write the figures; gives 1 if one fails."""
    parser = argparse.ArgumentParser(prog="tools.proofs.clone", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("figures")
    parser.add_argument("--quick", action="store_true", help="without .ci/run")
    given = parser.parse_args(arguments)
    figures = []
    with tempfile.TemporaryDirectory(prefix="ordito-clone-") as name:
        for figure, (clone, command) in commands(quick=given.quick).items():
            code, seconds = run(Path(name), clone, command)
            held = code == 0 and seconds <= MOST_SECONDS
            figures.append(Figure(f"clone.{figure}", round(seconds, 1), held, MOST_SECONDS, "s"))
            print(f"{' '.join(command)}: exit code {code}, {seconds:.1f} s", flush=True)
    Path(given.figures).write_bytes(msgspec.json.encode(Figures(figures)))
    return 0 if all(f.held for f in figures) else 1


def run(folder: Path, name: str, command: list[str]) -> tuple[int, float]:
    """Give a command in a clone, which is made where there is none; its exit code and its seconds."""
    clone, home = folder / name / "ordito", folder / name / "home"
    if not clone.exists():
        home.mkdir(parents=True)
        subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)], check=True)
    environment = {n: v for n, v in os.environ.items() if n.startswith(KEPT)}
    began = time.monotonic()
    done = subprocess.run(command, cwd=clone, env={"PATH": PATH, "HOME": str(home), **environment}, check=False)
    return done.returncode, time.monotonic() - began


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
