"""Carrying out a run: one at a time, in a session of its own, for as long as it may take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from datetime import UTC, datetime

from tools.proofs.promises import Run, covers
from tools.proofs.results import FINISHED, INTERRUPTED, ROOT, TOO_LONG, Ended, Result, Results, commit, state

REQUIRED = "sshd,ansible,moto,postgresql,bind,chromium"
"""The real targets whose tests may not be skipped."""
WORKERS = "4"
SECONDS_OF_MUCH = "1800"
"""What a test may take that tries ten times as much as in the suite."""
SECONDS_TO_END = 60
SECONDS_BETWEEN_WORDS = 60


class Executor:
    """Carries out runs and keeps what they give. ``quick`` only tries the machinery: little of everything."""

    def __init__(self, results: Results, *, quick: bool = False, workers: str = WORKERS) -> None:
        self._results = results
        self._quick = quick
        self._workers = workers

    def is_known(self, name: str, run: Run, asked: Collection[str]) -> bool:
        """Whether there is a result of all that is asked for, and nothing that it depends on has changed since."""
        result = self._results.read(name)
        if result is None or result.how.state != _state(run) or result.how.ended == INTERRUPTED:
            return False
        return all(any(covers(a, s) for a in result.how.asked) for s in asked)

    def carry_out(self, name: str, run: Run, asked: Collection[str]) -> None:
        """Run it, or what is left of it. ``KeyboardInterrupt`` comes out of it, with what was done kept."""
        before = self._results.read(name)
        if before is not None and before.how.state != _state(run):
            before = None
        if before is None:
            self._results.forget(name)
        goes_on = before is not None and before.how.ended == INTERRUPTED
        if not goes_on:
            self._results.place(name, "figures").unlink(missing_ok=True)
        self._kept(name, run, asked, before)

    def _kept(self, name: str, run: Run, asked: Collection[str], before: Result | None) -> None:
        began, start, load = datetime.now(UTC), time.monotonic(), round(os.getloadavg()[0], 1)
        every = sorted({*asked, *(before.how.asked if before else [])})
        commits, states = commit(), _state(run)
        code, ended = -1, INTERRUPTED
        try:
            code, ended = self._ended(name, run, every)
        finally:
            seconds = time.monotonic() - start
            if before is not None and run.tests:
                seconds += before.how.seconds
            at = began.isoformat(timespec="seconds")
            self._results.write(name, Ended(states, commits, at, round(seconds, 1), code, ended, every, load))

    def _ended(self, name: str, run: Run, asked: list[str]) -> tuple[int, str]:
        environment = {**os.environ, "ORDITO_REQUIRED": os.environ.get("ORDITO_REQUIRED", REQUIRED)}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)]))
        if run.tests:
            command = self._pytest(name, run, asked, environment)
        elif run.bench:
            words = ["--times", "1"] if self._quick else []
            command = ["benchmarks/run.py", run.bench, *words, "--json", str(self._results.place(name, "figures"))]
        else:
            figures = str(self._results.place(name, "figures"))
            command = [figures if word == "FIGURES" else word for word in self._words(run)]
        return self._process(name, run, [sys.executable, *command], environment)

    def _words(self, run: Run) -> list[str]:
        return run.quick if self._quick and run.quick else run.command

    def _pytest(self, name: str, run: Run, asked: list[str], environment: dict[str, str]) -> list[str]:
        if run.thorough and not self._quick:
            environment |= {"ORDITO_THOROUGH": "1", "PYTEST_TIMEOUT": SECONDS_OF_MUCH}
        done = self._results.place(name, "done")
        done.write_text("".join(f"{test}\n" for test in self._results.outcomes(name)), encoding="utf-8")
        environment["ORDITO_PROOFS_DIARY"] = str(self._results.place(name, "diary"))
        environment["ORDITO_PROOFS_DONE"] = str(done)
        at_once = ["-n", self._workers, "--dist", "worksteal"] if self._workers != "1" else []
        others = [f"--ignore={place}" for place in run.ignore]
        return ["-m", "pytest", "-q", "-p", "tools.proofs.recorder", *at_once, *others, *asked]

    def _process(self, name: str, run: Run, command: list[str], environment: dict[str, str]) -> tuple[int, str]:
        with self._results.place(name, "log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            end = time.monotonic() + self.most_seconds(run)
            try:
                while (left := end - time.monotonic()) > 0:
                    try:
                        return process.wait(min(left, SECONDS_BETWEEN_WORDS)), FINISHED
                    except subprocess.TimeoutExpired:
                        self._say(name)
                return self._stopped(name, process), TOO_LONG
            except KeyboardInterrupt:
                self._stopped(name, process)
                raise

    def _stopped(self, name: str, process: subprocess.Popen[bytes]) -> int:
        """Interrupt a process, so that it ends what it has started; if it does not, kill. What tests say of that does
        not count: it is not their fault."""
        diary = self._results.place(name, "diary")
        size = diary.stat().st_size if diary.exists() else 0
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait()
        finally:
            if diary.exists():
                os.truncate(diary, size)

    def most_seconds(self, run: Run) -> float:
        """The seconds that a run may take: tests that are fewer at once take longer."""
        fewer = int(WORKERS) / int(self._workers) if run.tests else 1
        return run.minutes * 60 * max(1, fewer)

    def _say(self, name: str) -> None:
        ended = [o.outcome for o in self._results.outcomes(name).values()]
        if ended:
            print(f"   {name}: {len(ended)} tests, {ended.count('failed')} failed", file=sys.stderr, flush=True)


def _state(run: Run) -> str:
    return state("bench" if run.bench else "other")
