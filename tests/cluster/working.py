"""Commands on ensembles of a store, each a process of its own, as on several machines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.store import Store
from ordito.ensemble.journal import EnsembleJournal
from ordito.work.records import StepFinishedRecord, StepStartedRecord
from tests.acceptance.busy import Busy
from tests.acceptance.program import Finished, ordito, start
from tests.support.forked import Running

NAME = "shops/busy"

ELSEWHERE = """
import os, socket
os.environ["ORDITO_STORE_HOME"] = {home!r}
if {is_other}:
    from ordito.cluster import holding
    holding.process_space = lambda: "another boot"
    holding._machine = lambda: "another machine"
"""
"""A working copy of its own, and perhaps what is taken for another machine."""


@dataclass(frozen=True)
class Stored:
    """A service, and its ensemble in a store."""

    busy: Busy
    store: Store

    @property
    def address_file(self) -> Path:
        """The file with the address of the store."""
        path = self.busy.home / "store-address"
        if not path.exists():
            path.touch(0o600)
            path.write_text(self.store.address)
        return path

    def words(self, *arguments: str) -> list[str]:
        """The words of a command about it."""
        return [*arguments, "-e", NAME, "--store-file", str(self.address_file)]

    def at(self, place: str) -> str:
        """What makes a process one of another place: ``other ...`` is another machine."""
        home = str(self.busy.home / f"store of {place}")
        return ELSEWHERE.format(home=home, is_other=place.startswith("other"))

    def run(self, *arguments: str, place: str = "one", code: str = "") -> Finished:
        """Run a command at a place."""
        return ordito(self.busy.home, *self.words(*arguments), code=self.at(place) + code)

    def start(self, *arguments: str, place: str = "one", code: str = "") -> Running:
        """Start a command at a place."""
        return start(self.busy.home, *self.words(*arguments), code=self.at(place) + code)

    def deploying(self) -> list[str]:
        """The words that deploy it."""
        return ["deploy", str(self.busy.service), "--yes", "--on-failure", self.busy.on_failure]

    def export(self) -> Path:
        """The ensemble as a directory, which it becomes in the place of the busy one."""
        place = self.busy.ensemble
        done = ordito(
            self.busy.home, "store", "export", NAME, place, "--store-file", self.address_file, code=self.at("export")
        )
        assert done.code == 0, done.both
        return place

    def in_doubt(self) -> frozenset[str]:
        """The steps of the open job that were started and whose end is not written down."""
        with self.store.connection() as db:
            (ensemble,) = db.execute("SELECT id FROM ordito.ensemble").fetchone() or ("",)
        with EnsembleJournal(PostgresDatabase(self.store.address, ensemble, patience=10.0)) as journal:
            steps = journal.steps()
            open_ones: set[int] = set()
            for record in journal.records():
                if isinstance(record, StepStartedRecord):
                    open_ones.add(record.step)
                elif isinstance(record, StepFinishedRecord):
                    open_ones.discard(record.step)
            return frozenset(steps[number].id for number in open_ones)

    def forget_holders(self) -> None:
        """The leases of all workers have run out, as PostgreSQL has it, and somebody has said that they are off."""
        with self.store.connection() as db:
            db.execute("UPDATE ordito.worker SET lease_until = clock_timestamp(), is_off = true")


def as_in_a_directory(found: object) -> object:
    """What is comparable of an ensemble, where its directory is elsewhere."""
    if isinstance(found, dict):
        return {key: as_in_a_directory(value) for key, value in found.items()}
    if isinstance(found, list):
        return [as_in_a_directory(item) for item in found]
    return re.sub(r"(\.\./)+busy|HOME/busy(?=/service)", "BUSY", found) if isinstance(found, str) else found
