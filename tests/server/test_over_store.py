"""Servers over a store: what is asked of one is carried out by workers, and seen at all of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cluster.operating import lose as declare_lost_by_name
from ordito.cluster.store import Store
from ordito.server.database.audit import verified
from ordito.server.database.database import Database
from ordito.server.operating.inspecting import verify
from ordito.server.refused import ServerRefused
from tests.acceptance.program import environment
from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.serving import ANY_PORT, MANY_REQUESTS, Client, Served, children_of, is_gone, until

ENSEMBLES = "projects/shop/ensembles"
WAIT = {"Prefer": "wait=30"}

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: two, template_version: "1.0", template_author: ann }
node_types:
  two.Node:
    derived_from: tosca.nodes.Root
    requirements:
      - peer: { capability: tosca.capabilities.Node, node: two.Node, occurrences: [ 0, 1 ] }
    interfaces:
      Standard: { operations: { create: do.sh, start: do.sh } }
topology_template:
  inputs: { pass: { type: string, default: canary-9137, metadata: { sensitive: "true" } } }
  node_templates:
    first: { type: two.Node }
    second: { type: two.Node, requirements: [ peer: first ] }
"""

SCRIPT = """\
echo "$ORDITO_STEP" >>"{place}/ran"
echo "$ORDITO_STEP is done"
if [ "$ORDITO_STEP" = second_1.Standard.create ]; then
  echo $$ >"{place}/pid"; until [ -e "{place}/gate" ]; do sleep 0.05; done
fi
"""

STEPS = [f"{node}_1.Standard.{operation}" for node in ("first", "second") for operation in ("create", "start")]


SENT = {"packages", "artifacts"}


class Place:
    """A store, with servers over it and workers, each a process with a home of its own."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.address = folder / "address"
        self.address.touch(0o600)
        self.address.write_text(store.address)
        self.key = folder / "pool.key"
        words = [sys.executable, "-m", "ordito", "store", "init", "--store-file", str(self.address)]
        subprocess.run([*words, "--key", str(self.key)], env=environment(folder), check=True, capture_output=True)
        self.servers: list[Served] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.first = self.serve("a")
        self.admin = self.first.admin()

    def serve(self, name: str, *words: str) -> Served:
        """A server, with the key of the first."""
        home = self.folder / name
        home.mkdir(exist_ok=True)
        if self.servers:
            shutil.copy(self.servers[0].home / "key", home / "key")
        over = ("--store-file", str(self.address), "--key", str(self.key), *words)
        self.servers.append(Served(home, settings=MANY_REQUESTS, words=over))
        return self.servers[-1]

    def client(self, server: Served) -> Client:
        return Client(server.url, self.admin.token)

    def work(self, name: str) -> subprocess.Popen[bytes]:
        """A worker."""
        words = ["worker", "--store-file", str(self.address), "--home", str(self.folder / name), "--name", name]
        words += ["--key", str(self.key), "--lease", "2s", "--poll", "0.1s"]
        with (self.folder / f"{name}.log").open("ab") as log:
            made = subprocess.Popen(
                [sys.executable, "-m", "ordito", *words],
                env=environment(self.folder),
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self.workers.append(made)
        return made

    def make(self, name: str = "prod") -> None:
        """An ensemble of a package."""
        self.admin.do("POST", "projects", {"name": "shop"})
        script = SCRIPT.format(place=self.folder)
        archive = packed({META_PLACE: META, "service.yaml": SERVICE, "do.sh": script})
        assert send_package(self.admin, "shop", archive, "two:1.0").status == 201
        made = self.admin.do("POST", ENSEMBLES, {"name": name, "package": "two:1.0"})
        assert made["exists"]

    def plan(self, client: Client, **fields: object) -> Any:
        """A plan to deploy it, made."""
        asked = {"request": {"workflow": "deploy"}, **fields}
        return client.do("POST", f"{ENSEMBLES}/prod/plans", asked, WAIT)

    def lose(self, worker: subprocess.Popen[bytes], name: str, operation: int) -> None:
        """The machine of a worker is off, with everything that ran there."""
        runners = [runner for server in children_of(worker.pid) for runner in children_of(server)]
        worker.kill()
        worker.wait()
        # One that still lived would see the end of its operation.
        until(lambda: all(map(is_gone, runners)), bool)
        # What waits for it would write down how it ended.
        above = int(Path(f"/proc/{operation}/stat").read_bytes().rpartition(b")")[2].split()[1])
        for process in (*([above] if above > 1 else []), operation):
            os.kill(process, signal.SIGKILL)
        declare_lost_by_name(self.store, name)

    def gated(self) -> int:
        """Wait until an operation waits: its process."""
        return int(until(lambda: self.read("pid"), lambda text: text.endswith("\n")))

    def open(self) -> None:
        (self.folder / "gate").touch()

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.store.connection() as db:
            return db.execute(query.encode()).fetchall()

    def close(self) -> None:
        self.open()
        for worker in self.workers:
            worker.kill()
            worker.wait()
        for server in self.servers:
            server.__exit__()


@pytest.fixture
def place(store: Store, tmp_path: Path) -> Iterator[Place]:
    made = Place(store, tmp_path)
    yield made
    made.close()


def until_state(client: Client, plan: str, state: str) -> Any:
    return until(lambda: client.get(f"{ENSEMBLES}/prod/plans/{plan}"), lambda found: found["state"] == state)


def test_a_plan_of_one_server_is_carried_out_by_workers_and_followed_at_another(place: Place) -> None:
    """The worker that carries it out is killed meanwhile: another one ends the job, which is the only one; whoever
    follows it at the other server is told everything once."""
    place.make()
    second = place.client(place.serve("b"))
    plan = approved(place, second)
    killed = place.work("one")
    operation = place.gated()
    job = until_state(second, plan["id"], "running")["job"]
    events = second.stream(f"job:shop/prod/{job}", f"log:shop/prod/{job}")
    told = []
    for event in events:
        told.append(event)
        if event.get("step") == "second_1.Standard.create" and event["type"] == "step.started":
            break
    place.lose(killed, "one", operation)
    place.open()
    place.work("two")
    for event in events:
        told.append(event)
        if event["type"] == "job.finished":
            break
    events.close()
    done = until_state(place.admin, plan["id"], "applied")
    assert (done["job"], done["job_status"]) == (job, "ok")
    assert [row[0] for row in place.rows("SELECT id FROM ordito.job")] == [job]
    assert place.rows("SELECT state, job FROM ordito.item") in ([("done", job)], [])
    ended = [event["step"] for event in told if event["type"] == "step.succeeded" and not event.get("no_op")]
    assert sorted(ended) == STEPS
    printed = "".join(event.get("text", "") for event in told if event["type"] == "step.log")
    assert "first_1.Standard.create is done" in printed
    for client in (place.admin, second):
        found = client.get(f"{ENSEMBLES}/prod")
        assert (found["summary"]["instances"], found["holder"]) == ({"ok": 2}, None)
        assert job in str(client.get(f"{ENSEMBLES}/prod/jobs/{job}"))
    # All of it comes again from the beginning, in the same order, at either server.
    again = [collected(client, job) for client in (place.admin, second)]
    assert again[0] == again[1]
    database = Database(place.store)
    assert database.read_now(verified).broken == 0
    database.close()
    for server in place.servers:
        # The service itself has it as a default, and is kept as it was sent.
        kept = [path for path in server.home.rglob("*") if path.is_file() and not SENT & {*path.parts}]
        assert not [path for path in kept if b"canary-9137" in path.read_bytes()]


def approved(place: Place, second: Client) -> Any:
    """A plan that was asked for and made at one server, and looked at and approved at another."""
    rules = {"rules": [{"count": 1, "by": {"roles": ["approver"]}}]}
    place.admin.do("PUT", "projects/shop/rules", rules, {"If-Match": "*"})
    plan = place.plan(place.admin, apply="auto")
    assert plan["state"] == "waiting"
    assert second.get(f"{ENSEMBLES}/prod/plans/{plan['id']}/plan")["totals"]["made"] == 2
    second.do("POST", "users", {"name": "cy"})
    bound = second.ask("GET", "projects/shop/bindings")
    roles = (("cy", "approver"), (second.get("me")["name"], "owner"))
    given = {"bindings": [{"kind": "user", "who": who, "role": role} for who, role in roles]}
    second.do("PUT", "projects/shop/bindings", given, {"If-Match": bound.headers["ETag"]})
    link = second.do("POST", "users/cy/reset")["link"].rpartition("#")[2]
    nobody = second.with_token("")
    signed = nobody.ask("POST", "sessions", {"link": link}, {"Origin": second.url})
    cookie = {"Cookie": signed.headers["Set-Cookie"].partition(";")[0], "Origin": second.url}
    decision = {"decision": "approve", "digest": plan["digest"]}
    nobody.do("POST", f"{ENSEMBLES}/prod/plans/{plan['id']}/approvals", decision, cookie)
    return plan


def collected(client: Client, job: str) -> list[str]:
    """The types of the events of a job, from its beginning."""
    found = []
    stream = client.stream(f"job:shop/prod/{job}")
    for event in stream:
        if event["type"] == "stream.live":
            break
        found.append(event["type"])
    stream.close()
    return found


def test_what_is_asked_for_is_sealed_in_the_store(place: Place) -> None:
    """A value of an input goes to the worker, and nobody reads it who has the store alone."""
    place.make()
    asked = {"request": {"workflow": "deploy", "inputs": {"pass": "canary-5512"}}, "apply": "auto"}
    plan = place.admin.do("POST", f"{ENSEMBLES}/prod/plans", asked, WAIT)
    until(lambda: place.rows("SELECT count(*) FROM ordito.item"), lambda found: found == [(1,)])
    tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'ordito%'"
    for (table,) in place.rows(tables):
        for canary in ("canary-5512", "canary-9137"):
            assert place.rows(f"SELECT 1 FROM {table} t WHERE t::text LIKE '%{canary}%'") == []
            hidden = canary.encode().hex()
            assert place.rows(f"SELECT 1 FROM {table} t WHERE t::text LIKE '%{hidden}%'") == [], table
    place.open()
    place.work("one")
    assert until_state(place.admin, plan["id"], "applied")["job_status"] == "ok"


def test_a_job_is_cancelled_at_either_server(place: Place) -> None:
    place.make()
    second = place.client(place.serve("b"))
    place.work("one")
    plan = place.plan(place.admin, apply="auto")
    place.gated()
    job = until_state(second, plan["id"], "running")["job"]
    assert second.get(f"{ENSEMBLES}/prod")["holder"]
    assert second.do("POST", f"{ENSEMBLES}/prod/jobs/{job}/cancel", {"now": True})["asked"] == "cancel"
    done = until_state(place.admin, plan["id"], "applied")
    assert (done["job"], done["job_status"]) == (job, "cancelled")


def test_what_would_be_lost_is_refused(place: Place) -> None:
    """What is written beside the store is overwritten by what the store has."""
    place.make()
    for method, path, body in (
        ("PUT", "/spec", {"text": "inputs: {}\n"}),
        ("PUT", "/inventory", {"text": ""}),
        ("PUT", "/secrets/token", {"value": "a long enough secret"}),
        ("POST", "/notifications", {"entity": "first", "event": "x"}),
        ("POST", "/state/rm?dry=true", {"names": ["first_1"]}),
        ("DELETE", "", None),
    ):
        found = place.admin.ask(method, f"{ENSEMBLES}/prod{path}", body)
        assert (found.status, found.data["code"]) == (422, "not-in-store"), path
        assert "ordito store export" in found.data["hint"]
    assert place.admin.get(f"{ENSEMBLES}/prod")["name"] == "prod"


def test_workers_of_its_own_end_with_the_server_and_hand_over(place: Place) -> None:
    """What they were doing goes on where there is another worker."""
    place.make()
    own = place.serve("b", "--workers", "1")
    plan = place.plan(place.client(own), apply="auto")
    place.gated()
    until_state(place.admin, plan["id"], "running")
    place.open()
    assert own.stop() == 0
    place.work("two")
    assert until_state(place.admin, plan["id"], "applied")["job_status"] == "ok"
    assert place.rows("SELECT count(*) FROM ordito.job") == [(1,)]
    assert sorted(set(place.read("ran").split())) == STEPS


def test_an_ensemble_that_was_imported_is_served(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "service.yaml").write_text(SERVICE)
    (folder / "do.sh").write_text("exit 0\n")
    (folder / "do.sh").chmod(0o755)
    run = [sys.executable, "-m", "ordito"]
    words = ["-e", str(folder / "own"), "-q", "deploy", str(folder / "service.yaml"), "--yes"]
    subprocess.run([*run, *words], env=environment(tmp_path), check=True)
    words = ["store", "import", str(folder / "own"), "-e", "shop/own", "--store-file", str(place.address)]
    subprocess.run([*run, *words, "--key", str(place.key)], env=environment(tmp_path), check=True)
    found = until(lambda: place.admin.get("ensembles")["items"], bool)
    assert [(one["project"], one["name"]) for one in found] == [("shop", "own")]
    assert place.admin.get("projects/shop/ensembles/own")["summary"]["instances"] == {"ok": 2}
    place.work("one")
    asked = {"request": {"workflow": "check"}, "apply": "auto"}
    plan = place.admin.do("POST", "projects/shop/ensembles/own/plans", asked, WAIT)
    assert plan["state"] in ("applied", "queued", "starting", "running", "empty")


def test_administrators_see_workers_and_what_waits(place: Place) -> None:
    """On their page and in figures, also where nobody works."""
    place.make()
    plan = place.plan(place.admin, apply="auto")
    until(lambda: place.rows("SELECT count(*) FROM ordito.item"), lambda found: found == [(1,)])
    store = until(lambda: place.admin.get("store"), lambda found: bool(found["queues"]))
    assert (store["workers"], store["queues"][0]["waiting"]) == ([], 1)
    assert any("has no worker" in one for one in store["problems"])
    assert place.admin.get("about")["store"] == store["store"]
    place.work("one")
    place.gated()
    store = until(lambda: place.admin.get("store"), lambda found: found["workers"][0]["busy"] == 1)
    assert (store["workers"][0]["state"], store["problems"]) == ("ready", [])
    figures = place.admin.ask("GET", "/metrics").body.decode()
    for line in (
        'ordito_store_items{class="normal",pool="default",state="running"} 1.0',
        'ordito_store_workers{pool="default",state="ready"} 1.0',
        'ordito_store_slots{pool="default",use="taken"} 1.0',
        "ordito_store_takeovers 0.0",
    ):
        assert line in figures
    assert place.admin.get("/readyz")["well"]
    place.open()
    until_state(place.admin, plan["id"], "applied")


REFUSED: tuple[tuple[list[str], str], ...] = (
    (["--ensemble", "/nowhere"], "serves no directory"),
    (["--isolated"], "isolates none"),
    (["--key", ""], "needs the key of its workers"),
)


def test_what_looks_at_a_home_says_that_its_database_is_in_the_store(place: Place) -> None:
    with pytest.raises(ServerRefused, match="is in the store postgresql://") as refused:
        verify(place.first.home, "")
    assert "open-sesame" not in refused.value.message


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_what_does_not_go_together_is_refused(place: Place, words: list[str], why: str) -> None:
    home = place.folder / "c"
    home.mkdir()
    if words == ["--isolated"]:
        words = []
        (home / "server.yaml").write_text("isolation: bubblewrap\n")
    over = [str(home), "--listen", ANY_PORT, "--store-file", str(place.address), "--key", str(place.key), *words]
    done = subprocess.run([sys.executable, "-m", "ordito.server", *over], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert why in done.stderr
