"""Documents that nobody wrote: ``./run fuzz [MINUTES]`` makes them from those of the tests and reads them.

Reading gives a service or diagnostics; anything else is a find: an exception, more CPU or memory than reading a small
document may need. ``tests/support/strange.py`` makes each document from a number, so that it can be made again. A find
is written to ``.cache/fuzz``, made smaller for as long as the same thing is found in it.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from tests.support import strange
from tools.proofs.results import write_figures

ROOT = Path(__file__).resolve().parent.parent
FINDS = ROOT / ".cache" / "fuzz"
MOST_SECONDS = 5
MOST_BYTES = 1 << 30
BATCH = 100
"""How many documents one process reads: enough to make its start cheap, few enough to see what keeps memory."""
MOST_TRIES = 400


class Case(msgspec.Struct, frozen=True):
    """A document, and the one that it was made from."""

    number: int
    origin: Path
    data: bytes


def problem_of(case: Case) -> str:
    """What reading a document does that it must not do; "" for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            strange.check(Path(folder), case.origin, case.data)
        except Exception as error:  # noqa: BLE001  (any exception is a find)
            frames = [f for f in traceback.extract_tb(error.__traceback__) if "ordito" in f.filename]
            where = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {str(error)[:200]}"
    return ""


def read_all(cases: Iterable[Case]) -> tuple[int, str]:
    """Read documents in a process of its own, up to the first find: how many were read, and what was found."""
    get, put = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(get)
        try:
            _read_here(cases, put)
        finally:
            os._exit(0)
    os.close(put)
    with os.fdopen(get, encoding="utf-8", errors="replace") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(process, 0)
    said = next((line.removeprefix("!") for line in lines if line.startswith("!")), "")
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGVTALRM:
        said = f"more than {MOST_SECONDS} s of CPU"
    elif code != 0:
        said = f"the process ended with {code}"
    return sum(line == "." for line in lines), said


def _read_here(cases: Iterable[Case], put: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for case in cases:
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        problem = problem_of(case)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        os.write(put, (f"!{problem!r}\n" if problem else ".\n").encode("utf-8", errors="replace"))
        if problem:
            return


def made(numbers: Iterable[int]) -> Iterator[Case]:
    """The documents of numbers."""
    for number in numbers:
        yield Case(number, *strange.strange(Random(number)))


def smaller(case: Case, problem: str) -> Case:
    """The case with as few lines as show the same problem."""
    kind = problem.partition(":")[0]
    lines = case.data.split(b"\n")
    size, tries = max(len(lines) // 2, 1), 0
    while size and tries < MOST_TRIES:
        at = 0
        while at < len(lines) and tries < MOST_TRIES:
            fewer = lines[:at] + lines[at + size :]
            tries += 1
            found = read_all([Case(case.number, case.origin, b"\n".join(fewer))])[1]
            if found.partition(":")[0] == kind:
                lines = fewer
            else:
                at += size
        size //= 2
    return Case(case.number, case.origin, b"\n".join(lines))


def report(case: Case, problem: str) -> None:
    """Write a find down, and say where."""
    FINDS.mkdir(parents=True, exist_ok=True)
    path = FINDS / f"{case.number}.yaml"
    path.write_bytes(smaller(case, problem).data)
    print(
        f"{path}: {problem}\n    made from {case.origin.relative_to(ROOT)}; again: ./run fuzz --number {case.number}",
        flush=True,
    )


def run(first: int, seconds: float, most: int) -> tuple[int, int]:
    """Read documents from a number on, until the time is over or there are enough finds; gives how many were read and
    how many were found."""
    end = time.monotonic() + seconds
    number, found = first, 0
    while time.monotonic() < end and found < most:
        count, problem = read_all(made(range(number, number + BATCH)))
        number += count
        if problem:
            report(next(made([number])), problem)
            number, found = number + 1, found + 1
    print(f"{number - first} documents from number {first} on, {found} finds")
    return number - first, found


def main(arguments: list[str]) -> int:
    """Run, or read one document again; gives the exit code."""
    parser = argparse.ArgumentParser(prog="./run fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("minutes", nargs="?", type=float, default=5)
    parser.add_argument("--seed", type=int, help="the number of the first document; by default another one each time")
    parser.add_argument("--number", type=int, help="make and read one document only")
    parser.add_argument("--most", type=int, default=20, help="stop after so many finds")
    parser.add_argument("--json", metavar="FILE", help="write what was read and found, too")
    given = parser.parse_args(arguments)
    if given.number is not None:
        case = next(made([given.number]))
        problem = read_all([case])[1]
        report(case, problem) if problem else print("nothing is found in it")
        return int(bool(problem))
    first = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), "big") * 1000
    print(f"seed {first}", flush=True)
    documents, finds = run(first, given.minutes * 60, given.most)
    if given.json:
        write_figures(Path(given.json), "fuzz", {"documents": (documents, 1, True), "finds": (finds, 0, False)})
    return int(finds > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
