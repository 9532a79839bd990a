"""The soak: ``python -m tools.soak MINUTES`` deploys, damages, changes and removes a shop of real processes, in one
ensemble whose history grows, kills commands at any moment, and watches processes that live as long as it does.

What it finds is one JSON object on standard output: what was done, what was measured, and each bar with its verdict.
The exit code is 0 where all held.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from tests.support.real.hosts import SshHosts, can_isolate
from tests.support.real.needs import program
from tools.soak.command import carry_out
from tools.soak.course import Course
from tools.soak.growth import costs, sizes
from tools.soak.report import Found, judge
from tools.soak.shop import Broken, Shop
from tools.soak.steady import Steady, begin
from tools.soak.watching import Watcher

ACTIONS = 10
"""How much is done to the shop between its deployment and its removal."""
BETWEEN = 3
"""Cycles from one measurement of what commands cost to the next."""
KILLED = 0.5
"""Which part of the commands is killed."""


class Soak:
    """One soak below a directory; what it finds grows while it runs."""

    def __init__(self, home: Path, minutes: float, seed: int) -> None:
        self.home = home
        self.found = Found(seed, minutes)
        self.shop = Shop(home / "shop")
        self.course = Course(self.shop, seed, kill_share=KILLED)
        self._end = time.monotonic() + minutes * 60

    def run(self) -> None:
        """Do it all; what is not as it must be is among the failures."""
        with ExitStack() as stack:
            stack.callback(self.shop.end)
            watcher = Watcher()
            steady = self._begin_steady(stack, watcher)
            try:
                self.course.do(self.course.deploy)
                followed = stack.enter_context(follows(self.shop))
                watcher.watch("status-watch", followed.pid)
                self._cycles()
                if followed.poll() is not None:
                    raise Broken(f"status --watch has ended with {followed.returncode}")
                self.found.watched = watcher.stop()
                for name, one in steady.items():
                    self.found.steps[name] = one.finish()
                    self.found.removals[name] = one.removal_bytes
            except Exception:  # noqa: BLE001  (any exception is a find)
                self.found.failures.append(f"{' '.join(self.course.told[-12:])}: {traceback.format_exc()}")
        self.found.actions, self.found.kills = dict(self.course.counts), dict(self.course.kills)
        self.found.resumed = dict(self.course.resumed)

    def _begin_steady(self, stack: ExitStack, watcher: Watcher) -> Mapping[str, Steady]:
        """Begin the jobs that are at work all the time."""
        seconds = self.found.minutes * 60
        made = {"local-job": Steady(self.home / "local", seconds)}
        if program("sshd") and can_isolate():
            hosts = stack.enter_context(SshHosts(self.home / "hosts"))
            made["ssh-job"] = Steady(self.home / "ssh", seconds, hosts)
        else:
            self.found.missing.append("a job on a host that is reached by SSH")
        for name, one in made.items():
            stack.callback(one.end)
            watcher.watch(name, one.process.pid)
        return made

    def _cycles(self) -> None:
        while time.monotonic() < self._end:
            if self.found.cycles % BETWEEN == 0:
                for name, cost in costs(self.shop).items():
                    self.found.costs.setdefault(name, []).append(cost)
            self.course.do_some(ACTIONS)
            self.course.do(self.course.undeploy, calm=True)
            self.course.do(self.course.forget)
            self.shop.check_history()
            self.shop.check_secret()
            self.found.sizes.append(sizes(self.shop))
            self.found.cycles += 1
            print(f"{self.found.cycles}: {self.found.sizes[-1].jobs} jobs, {self.course.said()}", file=sys.stderr)
            self.course.do(self.course.deploy)
        self.course.do(self.course.undeploy)


@contextmanager
def follows(shop: Shop) -> Iterator[Popen[bytes]]:
    """``status --watch`` on the shop, for as long as this lasts."""
    process = begin(shop.home, "status", "--watch", "-e", str(shop.ensemble))
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except TimeoutExpired:
            process.kill()


def main(arguments: list[str]) -> int:
    """Run it; gives the exit code."""

    def work(home: Path, minutes: float, seed: int) -> tuple[Found, bool]:
        soak = Soak(home, minutes, seed)
        soak.run()
        return soak.found, judge(soak.found)

    about = (__doc__ or "").partition("\n")[0]
    return carry_out("soak", about, ("minutes", "for how long"), work, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
