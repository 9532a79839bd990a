"""A shop of real processes, and what must be true of it after every command: what is recorded is what is there."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec

from tests.acceptance.program import LOGGING, Finished, completed_twice, environment, overlaps
from tests.support import forked
from tests.support.forked import Running

SOURCE = Path(__file__).with_name("shop")
CANARY = "canary-9f41c7e2b05d-secret"
RELEASES = {"one": ("1", "0"), "two": ("2", "0"), "bad": ("3", "5")}
"""The releases, each with its number and with how its test ends."""
IDLE = ("database", "data_machine", "web_machine")
"""Nodes whose instances have no process."""
LIMIT = 180.0
FAULT = 70
SPEC = """\
spec:
  service: ../one
  inputs:
    directory: {directory}
    password: {{ secret: shop-password }}
"""


class Broken(Exception):
    """Something is not as it must be."""


class Wanted(msgspec.Struct, frozen=True):
    """What is to exist: the release, how many web servers, and which instances are stopped."""

    release: int
    webs: int
    stopped: frozenset[str] = frozenset()


class Shop:
    """The shop in a directory of its own, with its ensemble, in which a history grows."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.ensemble = home / "ensemble"
        self.data = home / "data"
        self.log = home / "operations.log"
        self.levels = home / "levels"
        self.data.mkdir(parents=True)
        self.ensemble.mkdir()
        self.levels.write_text("1\n", encoding="utf-8")
        for name in RELEASES:
            self.write(name)
        spec = SPEC.format(directory=self.data)
        (self.ensemble / "ensemble.yaml").write_text(spec, encoding="utf-8")
        self.must(0, self.give("secrets", "set", "shop-password", given=CANARY))

    def write(self, name: str, edition: int = 1) -> None:
        """Write a release; another edition of it has other files that mean the same."""
        folder = self.home / name
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        number, verdict = RELEASES[name]
        for path in (folder / "service.yaml", *(folder / "scripts").iterdir()):
            text = path.read_text(encoding="utf-8").replace("@RELEASE@", number).replace("@VERDICT@", verdict)
            if path.suffix == ".sh":
                first, _, rest = text.partition("\n")
                text = f"{first}\n{LOGGING.format(log=self.log)}\n{rest}"
            else:
                text += f"# edition {edition}\n"
            path.write_text(text, encoding="utf-8")

    # ------------------------------------------------------------------------------------------------- its commands

    def begin(self, *words: str, given: str | None = None) -> Running:
        """Begin a command on its ensemble."""
        arguments = [*words, "-e", str(self.ensemble)]
        text = None if given is None else given.encode()
        return forked.start(self.home, environment(self.home), arguments, given=text)

    def give(self, *words: str, given: str | None = None) -> Finished:
        """Give a command, and wait for its end."""
        process = self.begin(*words, given=given)
        out, err = process.communicate(timeout=LIMIT)
        return Finished(process.wait(), out, err)

    def must(self, code: int, done: Finished) -> Finished:
        """That a command has ended so, and has said nothing that it must not say."""
        self.must_be_sound(done)
        if done.code != code:
            raise Broken(f"exit code {done.code} in place of {code}: {done.both[-3000:]}")
        return done

    def must_be_sound(self, done: Finished) -> None:
        """That a command, however it has ended, has shown neither the secret nor a fault of the program."""
        if "Traceback" in done.both or done.code == FAULT:
            raise Broken(f"a fault of the program: {done.both[-3000:]}")
        if CANARY in done.both:
            raise Broken("the secret was shown")

    def data_of(self, *words: str) -> Any:
        """What a command says as JSON."""
        return json.loads(self.must(0, self.give(*words, "-o", "json")).out)

    # ------------------------------------------------------------------------------------- what must be true of it

    def check(self, wanted: Wanted | None) -> None:
        """That what is recorded is what is wanted, and what is there; ``None`` for nothing."""
        parts = self.check_record(wanted)
        self.check_world(parts, wanted)
        twice, over = completed_twice(self.log), overlaps(self.log)
        if twice or over:
            raise Broken(f"completed twice: {twice[:5]}; two at the same time: {over[:5]}")
        for path in self.home.glob("operations.log*"):
            path.unlink()

    def check_record(self, wanted: Wanted | None) -> dict[str, str]:
        """That the record says what is wanted; gives the states of the parts."""
        status = self.data_of("status")
        parts = {name: one for name, one in status["instances"].items() if "_machine_" not in name}
        nodes = sorted(one["node"] for one in parts.values())
        if nodes != nodes_of(wanted):
            raise Broken(f"recorded are {nodes}, wanted {nodes_of(wanted)}")
        for name, one in parts.items():
            state = ("configured", "pending") if wanted and name in wanted.stopped else ("started", "ok")
            if (one["state"], one["local"]) != state:
                raise Broken(f"{name} is recorded as {one['state']}, {one['local']}, wanted {state}")
        if status["job"] is not None or status["attempt"] is not None:
            raise Broken(f"something is left unfinished: {status['job'] or status['attempt']}")
        return {name: one["state"] for name, one in parts.items()}

    def check_world(self, parts: dict[str, str], wanted: Wanted | None) -> None:
        """That processes and files are those of the record, one of each."""
        processes = self.processes()
        servers = [n for n, state in parts.items() if state == "started" and n.rpartition("_")[0] not in IDLE]
        if sorted(processes.values()) != sorted(servers):
            raise Broken(f"processes of {sorted(processes.values())}, wanted {sorted(servers)}")
        if sorted(path.name for path in self.data.iterdir()) != sorted(parts):
            raise Broken(f"directories {sorted(path.name for path in self.data.iterdir())}, wanted {sorted(parts)}")
        if strangers := self.strangers(set(processes)):
            raise Broken(f"processes are left: {strangers}")
        if wanted:
            self.check_release(wanted, {name for name in servers if name.startswith("web_")})

    def check_release(self, wanted: Wanted, webs: set[str]) -> None:
        """That the parts are of the release that is wanted, and the balancer knows the web servers that are up."""
        level = self.levels.read_text(encoding="utf-8").split()[-1]
        releases = {(self.part(node) / "release").read_text(encoding="utf-8").strip() for node in RELEASED}
        if {level, *releases} != {str(wanted.release)}:
            raise Broken(f"the data are of release {level}, {RELEASED} of {releases}, wanted {wanted.release}")
        members = {path.name for path in (self.part("balancer") / "members").iterdir()}
        if members != webs:
            raise Broken(f"the balancer has {sorted(members)}, wanted {sorted(webs)}")

    def part(self, node: str) -> Path:
        """The directory of a node of which there is one instance, whatever its number is by now."""
        return next(self.data.glob(f"{node}_*"))

    def check_history(self) -> None:
        """That the records of all jobs give what is recorded, and that no pin is there that none of them names."""
        self.must(0, self.give("jobs", "replay"))
        records = [path.read_text(encoding="utf-8") for path in (self.ensemble / "jobs").glob("*.yaml")]
        for pin in (self.ensemble / "artifacts").iterdir():
            if not any(pin.name in record for record in records):
                raise Broken(f"no job names the files that are kept in {pin}")

    def check_secret(self) -> None:
        """That no file holds the secret."""
        needle = CANARY.encode()
        for path in self.home.rglob("*"):
            if path.is_file() and needle in path.read_bytes():
                raise Broken(f"the secret is in {path}")

    def processes(self) -> dict[int, str]:
        """The processes of servers, each with the part that it is of."""
        prefix = f"soak-server {self.data}/"
        return {pid: line[0].removeprefix(prefix) for pid, line in commands() if line[0].startswith(prefix)}

    def strangers(self, known: set[int]) -> dict[int, list[str]]:
        """Processes that name its data and are none of its servers."""
        place = str(self.data)
        return {pid: line for pid, line in commands() if pid not in known and any(place in word for word in line)}

    def end(self) -> None:
        """End what is left of it, whatever happened."""
        for pid in {**self.processes(), **self.strangers(set())}:
            os.kill(pid, 9)


RELEASED = ("api", "database")


def nodes_of(wanted: Wanted | None) -> list[str]:
    """The nodes of the parts that are to exist, one for each instance."""
    if wanted is None:
        return []
    return sorted(["database", "api", "balancer", f"only_in_{wanted.release}", *["web"] * wanted.webs])


def commands() -> list[tuple[int, list[str]]]:
    """All processes but this one, each with its command line; zombies have none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if line:
                found.append((int(entry.name), line.rstrip(b"\0").decode(errors="replace").split("\0")))
    return found
