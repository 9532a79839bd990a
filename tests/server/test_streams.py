"""Streams: every event once, in the order of the journal, whatever happens to server and client."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.cli.main import run
from tests.cli.program import until
from tests.server.conftest import deployed
from tests.server.test_permissions import token_of
from tests.support.serving import MANY_REQUESTS, Client, Events, Served
from tests.support.thorough import examples

SLOW = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Slow:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: wait.sh, start: say.sh } } }
topology_template:
  node_templates: { one: { type: Slow }, two: { type: Slow, requirements: [ dependency: one ] } }
"""


def lines_of(shop: Path, job: str) -> list[dict[str, object]]:
    """The events of a job, as its file has them."""
    return [json.loads(line) for line in (shop / ".ordito" / "events" / f"{job}.ndjson").read_bytes().splitlines()]


def told(events: list[dict[str, object]]) -> list[dict[str, object]]:
    """Events without what a stream adds."""
    return [{name: value for name, value in one.items() if name not in ("topic", "cursor")} for one in events]


@pytest.fixture(scope="module")
def job(shop: Path) -> str:
    found: list[Path] = list((shop / ".ordito" / "events").glob("*.ndjson"))
    assert len(found) == 1
    return found[0].stem


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 7), max_size=6), accepts=st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_stream_goes_on_where_it_was_left(
    admin: Client, shop: Path, job: str, cuts: list[int], accepts: list[bool]
) -> None:
    topic, cursor, events = f"job:default/shop/{job}", "", []
    for cut, pages in zip([*cuts, 10_000], accepts, strict=False):
        if pages:
            found = admin.get("events", topic=topic, after=cursor)
            cursor = found["next"]
            events += found["items"]
            continue
        for one in islice(admin.stream(topic, after=cursor), cut):
            cursor = str(one["cursor"])
            if one["type"] == "stream.live":
                break
            events.append(one)
    found = admin.get("events", topic=topic, after=cursor)
    assert told(events + found["items"]) == lines_of(shop, job)


def test_what_is_printed_is_followed_too(admin: Client, shop: Path, job: str) -> None:
    topic = f"log:default/shop/{job}"
    texts = [one["text"] for one in admin.get("events", topic=topic)["items"]]
    lines = "".join(texts).splitlines()
    assert len(lines) == 4
    assert all(line.endswith(" says hello") for line in lines)


def test_a_job_of_a_terminal_is_followed_while_it_runs(tmp_path: Path) -> None:
    """The events come while the job waits; the stream goes on over a restart of the server, by its cursor."""
    (tmp_path / "service.yaml").write_text(SLOW)
    gate = tmp_path / "gate"
    (tmp_path / "wait.sh").write_text(f'while [ ! -e {gate}-"$ORDITO_STEP" ]; do sleep 0.02; done\n')
    (tmp_path / "say.sh").write_text("echo done\n")
    shop = tmp_path / "shop"
    command = [sys.executable, "-m", "ordito", "-e", str(shop), "-q", "deploy", str(tmp_path / "service.yaml"), "--yes"]
    running = subprocess.Popen(command)
    folder = shop / ".ordito" / "events"
    until(lambda: folder.is_dir() and bool(list(folder.iterdir())))
    [path] = folder.iterdir()
    topic = f"job:default/shop/{path.stem}"
    with Served(tmp_path / "home", shop) as server:
        client = server.admin()
        events, stream = [], client.stream(topic)
        for one in stream:
            events.append(one)
            if one["type"] == "step.started" and "one_1" in str(one["step"]):
                break
        Path(f"{gate}-one_1.Standard.create").touch()
        for one in stream:
            events.append(one)
            if one["type"] == "step.succeeded" and "one_1" in str(one["step"]):
                break
        stream.close()
        server.stop(signal.SIGKILL)
    Path(f"{gate}-two_1.Standard.create").touch()
    with Served(tmp_path / "home") as again:
        client = Client(again.url, client.token)
        for one in client.stream(topic, after=str(events[-1]["cursor"])):
            events.append(one)
            if one["type"] == "job.finished":
                break
        assert running.wait(60) == 0
        told_of = [one for one in told(events) if not str(one["type"]).startswith("stream.")]
        assert told_of == lines_of(shop, path.stem)
        status = client.get("events", topic="ensemble:default/shop")
        assert status["items"][0]["type"] == "ensemble.changed"
        assert client.get("events", topic="ensemble:default/shop", after=status["next"])["items"] == []
        assert run(["-e", str(shop), "-q", "stop", "two", "--yes"]) == 0
        changed = client.get("events", topic="ensemble:default/shop", after=status["next"], wait=20)
        assert changed["items"][0]["type"] == "ensemble.changed"


def test_a_stream_is_told_that_the_server_stops(tmp_path: Path) -> None:
    with Served(tmp_path / "home", deployed(tmp_path)) as server:
        stream = server.admin().stream("ensemble:default/shop")
        assert [one["type"] for one in islice(stream, 2)] == ["ensemble.changed", "stream.live"]
        server.process.send_signal(signal.SIGTERM)
        assert [(one["type"], one["again_in"]) for one in stream] == [("stream.closing", 5)]
        assert server.process.wait(60) == 0


def test_without_the_permission_nothing_is_told_that_was_printed(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    (tmp_path / "failing").touch()
    assert run(["-e", str(shop), "-q", "run", "Standard.start", "--yes"]) != 0
    with Served(tmp_path / "home", shop) as server:
        admin = server.admin()
        [job] = [one for one in admin.get("projects/default/ensembles/shop/jobs")["jobs"] if one["workflow"] == "run"]
        viewer = admin.with_token(admin.do("POST", "me/tokens", {"name": "viewer", "role": "viewer"})["token"])
        topic = f"job:default/shop/{job['id']}"
        assert "says hello" in admin.ask("GET", "events", topic=topic).body.decode()
        seen = viewer.ask("GET", "events", topic=topic)
        assert seen.status == 200
        assert "step.failed" in seen.body.decode()
        assert "says hello" not in seen.body.decode()
        assert viewer.ask("GET", "events", topic=f"log:default/shop/{job['id']}").status == 403


def test_events_that_are_not_kept_are_a_gap(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    [path] = (shop / ".ordito" / "events").iterdir()
    path.unlink()
    with Served(tmp_path / "home", shop) as server:
        items = server.admin().get("events", topic=f"job:default/shop/{path.stem}")["items"]
        assert items[0]["topic"] == f"job:default/shop/{path.stem}"
        assert "not kept" in items[0]["hint"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({}, "malformed"),
        ({"topic": "everything"}, "unknown-topic"),
        ({"topic": "job:default/shop/nonsense"}, "unknown-topic"),
        ({"topic": "project:"}, "unknown-topic"),
        ({"topic": "project:a/b"}, "unknown-topic"),
        ({"topic": "ensemble:default/none"}, "unknown-ensemble"),
        ({"topic": "ensemble:default/shop", "after": "nonsense"}, "bad-cursor"),
        ({"topic": "ensemble:default/shop", "wait": "1000"}, "malformed"),
    ],
)
def test_what_cannot_be_followed_is_refused(admin: Client, query: dict[str, Any], code: str) -> None:
    assert admin.ask("GET", "events", **query).data["code"] == code


def test_a_stream_goes_on_from_what_was_read_apart(admin: Client) -> None:
    job = admin.get("projects/default/ensembles/shop/jobs")["jobs"][0]["id"]
    topics = ("ensemble:default/shop", f"job:default/shop/{job}")
    read = [
        admin.ask("GET", f"projects/default/ensembles/shop/{path}").headers["Ordito-Cursor"]
        for path in ("status", f"jobs/{job}/timeline")
    ]
    whole = admin.get("events", topic=topics)
    assert {item["topic"] for item in whole["items"]} == {*topics}
    assert admin.get("events", topic=topics, after=read)["items"] == []
    # What no cursor is about is told from its beginning, and the stream's own cursor is about both.
    again = admin.get("events", topic=topics, after=read[0])
    assert {item["topic"] for item in again["items"]} == {topics[1]}
    assert admin.get("events", topic=topics[::-1], after=again["next"])["items"] == []
    assert admin.ask("GET", "events", topic="inbox", after=read[0]).data["code"] == "bad-cursor"


def test_the_audit_log_is_followed_by_those_who_may_read_it(served: Served, admin: Client) -> None:
    """Each row once, also over a lost connection; nobody else is told, in no topic."""
    admin.do("POST", "users", {"name": "quiet"})
    quiet = admin.with_token(token_of(admin, "quiet"))
    refused = quiet.ask("GET", "events", topic="audit")
    assert (refused.status, refused.data["code"]) == (403, "forbidden")
    begin = admin.get("events", topic=["audit", "ensembles"])
    admin.do("POST", "projects", {"name": "followed"})
    admin.do("DELETE", "projects/followed")
    first = admin.get("events", topic="audit", after=begin["next"], wait=20)
    rest = admin.get("events", topic="audit", after=first["next"])["items"]
    told = [(one["action"], one["object"], one["outcome"]) for one in (*first["items"], *rest)]
    assert told == [("project.make", "followed", "done"), ("project.remove", "followed", "done")]
    rows = admin.get("audit", limit=2)["items"]
    assert [one["number"] for one in (*first["items"], *rest)] == [row["number"] for row in reversed(rows)]
    assert admin.get("events", topic="ensembles", after=begin["next"])["items"] == []


def test_who_works_on_an_ensemble_and_what_waits_is_told(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    say = (shop.parent / "say.sh").read_text()
    with Served(tmp_path / "home", shop, settings=f"{MANY_REQUESTS}reads: [ {tmp_path} ]\n") as server:
        admin = server.admin()
        (tmp_path / "waiting").touch()
        (tmp_path / "say.sh").write_text(f"while [ -e {tmp_path}/waiting ]; do sleep 0.05; done\n{say}")
        stream = admin.stream("ensemble:default/shop")
        seen = []
        for one in stream:
            seen.append(one)
            if one["type"] == "stream.live":
                break
        body = {"request": {"workflow": "run", "operation": "Standard.start"}, "apply": "auto"}
        path = "projects/default/ensembles/shop/plans"
        admin.do("POST", path, body)
        until_told(stream, seen, lambda one: one["type"] == "lock.changed" and one["holder"])
        admin.do("POST", path, body)
        until_told(stream, seen, lambda one: one["type"] == "queue.changed" and one["queued"] == 1)
        (tmp_path / "waiting").unlink()
        until_told(stream, seen, lambda one: one["type"] == "queue.changed" and one["queued"] == 0)
        until_told(stream, seen, lambda one: one["type"] == "lock.changed" and one["holder"] is None)


def until_told(stream: Events, seen: list[dict[str, Any]], fits: Callable[[dict[str, Any]], object]) -> None:
    """Take what a stream tells until there is what fits."""
    for one in stream:
        seen.append(one)
        if fits(one):
            return
    raise AssertionError(seen)


def test_a_project_is_followed_by_its_members(served: Served, admin: Client) -> None:
    """What is set in it is told, and neither by whom nor what happens elsewhere."""
    admin.do("POST", "users", {"name": "outside"})
    stranger = admin.with_token(token_of(admin, "outside"))
    refused = stranger.ask("GET", "events", topic="project:default")
    assert (refused.status, refused.data["code"]) == (404, "unknown-project")
    begin = admin.get("events", topic="project:default")
    admin.do("POST", "projects", {"name": "beside"})
    admin.do("POST", "projects/default/accounts", {"name": "told"})
    found = admin.get("events", topic="project:default", after=begin["next"], wait=20)
    told = {"topic": "project:default", "type": "project.changed", "project": "default", "action": "account.make"}
    assert found["items"] == [told]
    admin.do("DELETE", "projects/default/accounts/told")
    admin.do("DELETE", "projects/beside")
    rest = admin.get("events", topic="project:default", after=found["next"], wait=20)
    assert [one["action"] for one in rest["items"]] == ["account.remove"]
