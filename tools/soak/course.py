"""The course of a soak: what is done to the shop, in an order of chance, with commands that are killed at any moment.

Each action knows what must be true after it, so that nothing has to be compared with another run. The same seed gives
the same actions; the moments of kills are parts of the time that such a command has taken so far.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.acceptance.program import Finished
from tools.soak.shop import LIMIT, RELEASES, Broken, Shop, Wanted

MOST_WEBS = 6
KILLED_AGAIN = 0.35
"""How often a command that carries on what was killed is killed as well."""
NOTHING = "Nothing to resume"
REMOVING = ("deploy", "upgrade", "rollback", "undeploy", "scale")
Action = Callable[[], None]


class Course:
    """Deploys the shop, does things to it, and removes it, again and again."""

    def __init__(self, shop: Shop, seed: int, *, kill_share: float) -> None:
        self.shop = shop
        self.chance = Random(seed)
        # What is done shall be the same, whichever command was killed how often.
        self._fate = Random(seed)
        self.kill_share = kill_share
        self.wanted: Wanted | None = None
        self.told: list[str] = []
        self.counts: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()
        self.resumed: Counter[str] = Counter()
        self.revisions: dict[int, int] = {}
        """The revision that is to be gone back to, for each release that was deployed since the last removal."""
        self._edition = 1
        self._is_calm = False
        self._seconds: dict[str, float] = {}

    def do_some(self, number: int) -> None:
        """Do so many things to what is deployed."""
        for _ in range(number):
            self.do(self.chance.choice(self.possible()))

    def do(self, action: Action, *, calm: bool = False) -> None:
        """Do one thing, and see that all is as it must be then; nothing is killed where that is to be ``calm``."""
        name = action.__name__
        self.told.append(name)
        self._is_calm = calm
        action()
        self._is_calm = False
        self.shop.check(self.wanted)
        self.counts[name] += 1

    def said(self) -> str:
        """What was done so far, for people."""
        kills, resumed = sum(self.kills.values()), sum(self.resumed.values())
        return f"{self.counts['commands']} commands, {kills} kills, {resumed} resumed"

    @property
    def now(self) -> Wanted:
        """What is to exist, where anything is."""
        if self.wanted is None:
            raise Broken("nothing is deployed")
        return self.wanted

    def possible(self) -> Sequence[Action]:
        """What can be done to what is there."""
        always: list[Action] = [self.deploy_again, self.run, self.restart]
        if self.now.stopped:
            return [*always, self.start, self.start, self.start]
        always += [self.scale, self.scale, self.heal, self.heal, self.heal_anew, self.stop, self.check]
        further = [self.upgrade_badly, self.upgrade if self.now.release == 1 else self.go_back]
        return [*always, *further, *further]

    # ------------------------------------------------------------------------------------------------- the actions

    def deploy(self) -> None:
        """Deploy the first release, at times another edition of it."""
        if self.chance.random() < 0.3:
            self._edition += 1
            for name in RELEASES:
                self.shop.write(name, self._edition)
        webs = self.chance.randint(1, MOST_WEBS)
        self._do("deploy", str(self.shop.home / "one"), "-i", f"webs={webs}", "--reset-counts")
        self.wanted = Wanted(1, webs)
        self.revisions = {1: self._revision()}

    def deploy_again(self) -> None:
        """Deploy what is deployed: stopped parts are started, and nothing else happens."""
        self._do("deploy", str(self.shop.home / {1: "one", 2: "two"}[self.now.release]))
        self.wanted = Wanted(self.now.release, self.now.webs)

    def undeploy(self) -> None:
        """Remove all."""
        self._do("undeploy")
        self.wanted = None
        self.shop.levels.write_text("1\n", encoding="utf-8")

    def forget(self) -> None:
        """Forget the records of what was removed."""
        self._do("forget")

    def scale(self) -> None:
        """Have another number of web servers."""
        webs = self.chance.randint(1, MOST_WEBS)
        self._do("scale", f"web={webs}", "--no-scale-compute")
        self.wanted = Wanted(self.now.release, webs, self.now.stopped)

    def heal(self) -> None:
        """Kill the process of a server, and have it repaired."""
        pid, part = self.chance.choice(sorted(self.shop.processes().items(), key=lambda one: one[1]))
        os.kill(pid, signal.SIGKILL)
        self._do("heal", part)

    def heal_anew(self) -> None:
        """Remove all that a part has, and have it made again."""
        part = self.chance.choice(sorted(path.name for path in self.shop.data.iterdir()))
        for pid, owner in self.shop.processes().items():
            if owner == part:
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.shop.data / part)
        self._do("heal", part)

    def run(self) -> None:
        """Run an operation on all parts."""
        self._do("run", "Work.touch", "--type", "soak.Part")

    def check(self) -> None:
        """Have all checked."""
        self._do("check")

    def stop(self) -> None:
        """Stop one web server, where another stays."""
        if self.now.webs > 1:
            part = self.chance.choice([p for p in self._parts("web") if p not in self.now.stopped])
            self._do("stop", part)
            self.wanted = Wanted(self.now.release, self.now.webs, self.now.stopped | {part})

    def start(self) -> None:
        """Start all that is stopped."""
        self._do("start", "--all")
        self.wanted = Wanted(self.now.release, self.now.webs)

    def restart(self) -> None:
        """Restart the web servers, which starts those that are stopped."""
        self._do("restart", "web")
        self.wanted = Wanted(self.now.release, self.now.webs)

    def upgrade(self) -> None:
        """Upgrade to the second release."""
        self._do("upgrade", str(self.shop.home / "two"))
        self.wanted = Wanted(2, self.now.webs)

    def upgrade_badly(self) -> None:
        """Upgrade to a release that fails its test, so that all is as it was."""
        self._do("upgrade", str(self.shop.home / "bad"), code=7)

    def go_back(self) -> None:
        """Go back to the first release."""
        self._do("rollback", str(self.revisions[1]))
        self.wanted = Wanted(1, self.now.webs)

    # ---------------------------------------------------------------------------------------------- what they share

    def _parts(self, node: str) -> list[str]:
        return sorted(path.name for path in self.shop.data.iterdir() if path.name.rpartition("_")[0] == node)

    def _revision(self) -> int:
        return int(self.shop.data_of("status")["revision"])

    def _do(self, *words: str, code: int = 0) -> None:
        """Give a command, that may be killed and is carried on then; it ends with this code in the end."""
        asks = [] if words[0] == "check" else ["--yes"]
        # What was healed counts as changed, and is removed only where that is wanted.
        asks += ["--allow-changed"] if words[0] in REMOVING else []
        while not self._gave([*words, *asks], code):
            # It was killed, and what carries it on too, so often that nothing of it was begun or all was done.
            pass

    def _gave(self, words: Sequence[str], code: int) -> bool:
        """Whether a command was done at last; if it was killed before it had begun a job, or after that was closed, it
        was not, and is to be given again."""
        done = self._kill_or_wait(words, 0.0 if self._is_calm else self.kill_share)
        if done is not None:
            self.shop.must(code, done)
            return True
        # Killed again and again before it could begin anything, it is given more time.
        self._seconds[words[0]] = self._usual(words[0]) * 1.3
        while done is None:
            done = self._kill_or_wait(["jobs", "resume"], KILLED_AGAIN)
        if NOTHING in done.both or done.code == 3:
            self.shop.must_be_sound(done)
            return False
        self.shop.must(code, done)
        self.resumed[words[0]] += 1
        return True

    def _kill_or_wait(self, words: Sequence[str], share: float) -> Finished | None:
        """How a command ended, or nothing where it was killed."""
        usual = self._usual(words[0])
        after = self._fate.random() * usual * 1.1 if self._fate.random() < share else None
        began = time.monotonic()
        process = self.shop.begin(*words)
        self.counts["commands"] += 1
        if after is not None:
            try:
                process.wait(timeout=after)
            except subprocess.TimeoutExpired:
                process.kill()
        out, err = process.communicate(timeout=LIMIT)
        code = process.wait()
        if after is not None and code == -signal.SIGKILL:
            self.kills["resume" if words[0] == "jobs" else words[0]] += 1
            return None
        took = time.monotonic() - began
        self._seconds[words[0]] = 0.7 * self._usual(words[0]) + 0.3 * took
        return Finished(code, out, err)

    def _usual(self, verb: str) -> float:
        """Seconds that a command has taken lately."""
        return self._seconds.get(verb, 1.0)
