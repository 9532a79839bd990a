"""Every promise, proven again: `./run proofs` runs what has no result yet, and prints one table.

A run is kept as it ends (`.cache/proofs`) and counts until a file that it depends on changes; runs come one after the
other, so that nothing is measured beside tests. Interrupted, it goes on where it was.
"""

from __future__ import annotations

import argparse
import fcntl
import signal
import sys
import time
from collections.abc import Sequence

from tools.proofs import table
from tools.proofs.execute import WORKERS, Executor
from tools.proofs.promises import Part, Promise, Run, needed, read_parts, read_runs
from tools.proofs.results import CACHE, ROOT, Results, commit
from tools.proofs.verdicts import HELD, judge

PAGE = ROOT / "docs" / "proofs.md"
INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    made = argparse.ArgumentParser(prog="./run proofs", description=(__doc__ or "").partition("\n")[0])
    made.add_argument(
        "names", nargs="*", metavar="NAME", help="a part, a promise, PART/PROMISE or a run (default: all)"
    )
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="the same as NAME")
    made.add_argument("--list", action="store_true", help="name promises and runs; run nothing")
    made.add_argument("--table", action="store_true", help="print what is known; run nothing")
    made.add_argument("--again", action="store_true", help="run also what has a result")
    made.add_argument("--quick", action="store_true", help="little of everything, to try the machinery; kept apart")
    made.add_argument("--workers", default=WORKERS, metavar="N", help=f"tests at once (default: {WORKERS})")
    made.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    made.add_argument("--json", action="store_true", help="print the table as JSON")
    made.add_argument("--page", action="store_true", help="write docs/proofs.md; run nothing")
    return made


class Chosen:
    """The promises and runs that are asked for."""

    def __init__(self, names: Sequence[str]) -> None:
        self.parts, self.runs = read_parts(), read_runs()
        pairs = [(p, m) for p in self.parts for m in p.promises]
        named = [m for p, m in pairs if _is_named(p, m, names)]
        whole = {name: set(run.tests) for name, run in self.runs.items() if name in names or not names}
        self.wanted = {**needed(named, self.runs), **whole}
        self.promises = [(p, m) for p, m in pairs if m in named or not whole.keys().isdisjoint(needed([m], self.runs))]

    def unknown(self, names: Sequence[str]) -> list[str]:
        """The names that mean nothing."""
        pairs = [(p, m) for p in self.parts for m in p.promises]
        return [n for n in names if n not in self.runs and not any(_is_named(p, m, [n]) for p, m in pairs)]


def _is_named(part: Part, promise: Promise, names: Sequence[str]) -> bool:
    return any(name in (part.name, promise.name, f"{part.name}/{promise.name}") for name in names)


def main(arguments: list[str]) -> int:
    """Run what is asked for and print the table; gives the exit code: 0 if all that was asked for is held."""
    given = parser().parse_args(arguments)
    names = [*given.names, *given.only]
    chosen = Chosen(names)
    if unknown := chosen.unknown(names):
        parser().error(f"nothing is named {', '.join(unknown)}; ./run proofs --list names all")
    if given.page:
        PAGE.write_text(table.page(chosen.parts), encoding="utf-8")
        return 0
    if given.list:
        return _list(chosen)
    results = Results(quick=given.quick)
    # Whoever ends it shall end what it has started, and keep what is done.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stopped = False
    if not given.table:
        try:
            _carry_out(chosen, results, given)
        except KeyboardInterrupt:
            stopped = True
    return _show(chosen, results, given) if not stopped else max(_show(chosen, results, given), INTERRUPTED)


def _list(chosen: Chosen) -> int:
    # It is long, and read with `head`.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for part in chosen.parts:
        its = [m for p, m in chosen.promises if p is part]
        if its:
            print(f"{part.name}: {part.title}")
        for promise in its:
            print(f"  {promise.name:32} {promise.promise}{f' [{promise.bar}]' if promise.bar else ''}")
            print("".join(f"      {proof}\n" for proof in table.proofs(promise)), end="")
    print("runs")
    for name, run in chosen.runs.items():
        if name in chosen.wanted:
            print(f"  {name:32} {run.about} (at most {run.minutes:g} min)")
    return 0


def _carry_out(chosen: Chosen, results: Results, given: argparse.Namespace) -> None:
    executor = Executor(results, quick=given.quick, workers=given.workers)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("./run proofs runs already in this checkout; --table prints what is known") from None
        for name, run in chosen.runs.items():
            if name in chosen.wanted:
                _one(executor, results, name, run, sorted(chosen.wanted[name]), again=given.again)


def _one(executor: Executor, results: Results, name: str, run: Run, asked: list[str], *, again: bool) -> None:
    if again:
        results.forget(name)
    elif executor.is_known(name, run, asked):
        return
    print(f"== {name}: {run.about} (at most {run.minutes:g} min)", file=sys.stderr, flush=True)
    began = time.monotonic()
    executor.carry_out(name, run, asked)
    result = results.read(name)
    if result is not None:
        said = f"   {result.how.ended}, exit code {result.how.code}, {time.monotonic() - began:.0f} s"
        print(f"{said}; {results.place(name, 'log').relative_to(ROOT)}", file=sys.stderr, flush=True)


def _show(chosen: Chosen, results: Results, given: argparse.Namespace) -> int:
    known = {name: result for name in chosen.runs if (result := results.read(name)) is not None}
    rows = [(part, promise, judge(promise, chosen.runs, known)) for part, promise in chosen.promises]
    here = commit()
    if given.json:
        sys.stdout.write(table.as_json(rows, here))
    elif given.markdown:
        sys.stdout.write(table.markdown(rows, here))
    else:
        table.show(rows, here)
    return 0 if all(verdict.verdict == HELD for _, _, verdict in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
