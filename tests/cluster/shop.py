"""A service of two nodes in a store, one operation of which waits, and workers as people start them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ordito.app.work_items import AskedRequest, PlanItem
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.store import Store
from ordito.results.item_outcome import ItemOutcome
from ordito.work.records import AskedBy
from tests.acceptance.busy import Busy
from tests.acceptance.program import LOGGING, completed_twice, environment, log_lines, ordito, overlaps
from tests.cluster.working import NAME, Stored
from tests.support.serving import until

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  two.Node:
    derived_from: tosca.nodes.Root
    requirements:
      - peer: { capability: tosca.capabilities.Node, node: two.Node, occurrences: [ 0, 1 ] }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, start: do.sh }
topology_template:
  node_templates:
    first: { type: two.Node }
    second: { type: two.Node, requirements: [ { peer: first } ] }
"""

GATED = "second_1.Standard.create"
"""The operation that waits until the gate is there."""

SCRIPT = f"""\
if [ $ORDITO_STEP = {GATED} ]; then until [ -e "$HOME/gate" ]; do sleep 0.05; done; fi
"""

STEPS = ["first_1.Standard.create", "first_1.Standard.start", GATED, "second_1.Standard.start"]

TOKEN_INPUT = """\
topology_template:
  inputs:
    token: { type: string, metadata: { sensitive: "true" } }
"""

TOKEN_NODE = """\
second:
      type: two.Node
      requirements: [ { peer: first } ]
      interfaces:
        Standard:
          operations: { create: { inputs: { TOKEN: { get_input: token } } } }"""

APART = "setsid bash -c 'echo $$ >$HOME/apart; exec sleep 300' >/dev/null 2>&1 &"
"""A process in a session of its own."""

LEASE = "2s"


class Shop:
    """A service of two nodes, and its ensemble in a store, which is empty at first."""

    def __init__(self, store: Store, home: Path) -> None:
        folder = home / "two"
        folder.mkdir()
        self.project = Busy(home, folder / "service.yaml", "continue")
        self.project.service.write_text(SERVICE)
        (folder / "do.sh").write_text(f"#!/bin/bash\n{LOGGING.format(log=self.project.log)}\nset -eu\n{SCRIPT}")
        self.stored = Stored(self.project, store)
        self.ensemble = "e1"
        store.add_ensemble(self.ensemble, *NAME.split("/"))

    def add(self, item: str, **fields: object) -> None:
        """Let it be deployed."""
        asked = AskedRequest("deploy", {"service": str(self.project.service), **fields})
        request = msgspec.json.encode(PlanItem("", asked, AskedBy("ann")))
        with self.stored.store.connection() as db:
            assert add_item(db, NewItem(id=item, ensemble=self.ensemble, kind="plan", request=request))

    def rows(self, query: str) -> Sequence[tuple[object, ...]]:
        with self.stored.store.connection() as db:
            return db.execute(query.encode()).fetchall()

    def wait_until_gated(self) -> int:
        """Wait until the gated operation runs: its process."""
        begun = until(self._gated, bool)
        return begun[-1]

    def _gated(self) -> list[int]:
        return [int(pid) for kind, _, step, pid in log_lines(self.project.log) if (kind, step) == ("begin", GATED)]

    def open(self) -> None:
        (self.project.home / "gate").touch()

    def let_gated_wait_apart(self) -> None:
        """Let the gated operation start something in a session of its own first."""
        self._begin_with(f"if [ $ORDITO_STEP = {GATED} ]; then {APART} fi")

    def let_first_leave_a_daemon(self) -> None:
        """Let the first operation start something that lives on."""
        self._begin_with(f"if [ $ORDITO_STEP = {STEPS[0]} ]; then {APART} fi")

    def ask_for_a_token(self) -> None:
        """Let the gated operation get an input that is sensitive, and write it down."""
        service = self.project.service
        service.write_text(
            service.read_text()
            .replace("topology_template:\n", TOKEN_INPUT)
            .replace("second: { type: two.Node, requirements: [ { peer: first } ] }", TOKEN_NODE)
        )
        self._begin_with(f"if [ $ORDITO_STEP = {GATED} ]; then printf %s $TOKEN >$HOME/token; fi")

    def apart(self) -> int:
        """The process that was started apart, 0 as long as there is none."""
        path = self.project.home / "apart"
        return int(path.read_text() or 0) if path.exists() else 0

    def _begin_with(self, line: str) -> None:
        script = self.project.service.with_name("do.sh")
        script.write_text(script.read_text().replace("set -eu\n", f"set -eu\n{line}\n"))

    def workers_lost(self, name: str) -> None:
        """Say that the machine of a worker is off."""
        said = ordito(self.project.home, "workers", "lost", name, "--store-file", self.stored.address_file)
        assert said.code == 0, said.both

    def ended(self, item: str) -> tuple[object, ItemOutcome]:
        """Wait for the end of an item: its job and its outcome."""
        query = f"SELECT job, outcome FROM ordito.item WHERE id = '{item}' AND state = 'done'"
        job, body = until(lambda: self.rows(query), bool)[0]
        assert isinstance(body, bytes)
        return job, msgspec.json.decode(body, type=ItemOutcome)

    def steps_ended(self) -> list[str]:
        """The operations that have ended."""
        return [step for kind, _, step, _ in log_lines(self.project.log) if kind == "end"]

    @property
    def key(self) -> Path:
        """The file with the key of its workers, if it is there."""
        return self.project.home / "workers.key"

    def check_once(self) -> None:
        assert completed_twice(self.project.log) == []
        assert overlaps(self.project.log) == []
        assert sorted(self.steps_ended()) == STEPS


class CommandWorker:
    """A worker, started as people start one."""

    def __init__(self, shop: Shop, name: str, *more: str) -> None:
        home = shop.project.home
        words = ["worker", "--store-file", str(shop.stored.address_file), "--home", str(home / name)]
        words += ["--name", name, "--lease", LEASE, "--poll", "0.1s", *more]
        words += ["--key", str(shop.key)] if shop.key.exists() else []
        self._log = home / f"{name}.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ordito", *words], env=environment(home), cwd=home, stdout=log, stderr=log
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def drain(self) -> None:
        self.process.terminate()
        assert self.process.wait(60) == 0

    def log(self) -> str:
        return self._log.read_text()


Started = Callable[[str], CommandWorker]
"""Starts workers by their names."""
