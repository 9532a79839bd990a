"""The picture of what exists, and how it moves while a job runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ordito.results.instances import natural
from tests.cli.program import until
from tests.server.conftest import deployed
from tests.server.test_packages import send, shop
from tests.server.test_streams import SLOW
from tests.support.serving import Client, Served

SHOP = "projects/default/ensembles/shop"


def test_a_picture_of_what_exists(admin: Client) -> None:
    found = admin.get(f"{SHOP}/topology")
    assert found["format"] == "ordito.topology/1"
    assert {box["id"] for box in found["boxes"]} == {"web", "db"}
    assert all(box["counts"] == {"ok": 1} and box["columns"] == 1 for box in found["boxes"])
    [edge] = found["edges"]
    assert (edge["source"], edge["target"], edge["requirement"], edge["count"]) == ("web", "db", "dependency", 1)
    assert edge["type"] == "tosca.relationships.DependsOn"
    columns = found["instances"]
    assert sorted(columns["id"]) == ["db_1", "web_1"]
    assert (columns["state"], columns["status"], columns["local"]) == ("ss", "oo", "oo")
    assert columns["host"] == [-1, -1]
    stands = {name: found["boxes"][box]["id"] for name, box in zip(columns["id"], columns["box"], strict=True)}
    assert stands == {"db_1": "db", "web_1": "web"}


def test_what_is_folded_and_what_is_left_out(admin: Client) -> None:
    found = admin.get(f"{SHOP}/topology", boxes=1, instances="false")
    [box] = found["boxes"]
    assert (box["kind"], box["nodes"], box["counts"]) == ("group", 2, {"ok": 2})
    assert "instances" not in found
    opened = admin.get(f"{SHOP}/topology", boxes=1, open=[box["id"]])
    assert {one["id"] for one in opened["boxes"] if one["parent"] == box["id"]} == {"web", "db"}
    assert admin.ask("GET", f"{SHOP}/topology", boxes=401).status == 400


def test_a_picture_is_not_sent_again_and_says_where_a_stream_begins(admin: Client) -> None:
    first = admin.ask("GET", f"{SHOP}/topology")
    tag = {"If-None-Match": first.headers["ETag"]}
    assert admin.ask("GET", f"{SHOP}/topology", headers=tag).status == 304
    page = admin.get("events", topic="ensemble:default/shop", after=first.headers["Ordito-Cursor"])
    assert page["items"] == [], "nothing has happened since"
    assert [one["type"] for one in admin.get("events", topic="ensemble:default/shop")["items"]] == ["ensemble.changed"]


def test_a_picture_of_a_package(admin: Client) -> None:
    assert send(admin, shop(), "picture:1").status == 201
    found = admin.get("projects/default/packages/picture:1/topology")
    assert {box["id"]: box["counts"] for box in found["boxes"]} == {"web": {}, "db": {}}
    assert "instances" not in found
    assert [edge["requirement"] for edge in found["edges"]] == ["dependency"]


def test_instances_are_followed_while_a_job_changes_them(tmp_path: Path) -> None:
    """Whoever reads the picture first and then follows it sees in the end how things are, and each operation begin."""
    (tmp_path / "service.yaml").write_text(SLOW)
    gate = tmp_path / "gate"
    (tmp_path / "wait.sh").write_text(f'while [ ! -e {gate}-"$ORDITO_STEP" ]; do sleep 0.02; done\n')
    (tmp_path / "say.sh").write_text("echo done\n")
    ensemble = tmp_path / "shop"
    command = [
        sys.executable,
        "-m",
        "ordito",
        "-e",
        str(ensemble),
        "-q",
        "deploy",
        str(tmp_path / "service.yaml"),
        "--yes",
    ]
    running = subprocess.Popen(command)
    until((ensemble / ".ordito" / "begun").exists)
    try:
        with Served(tmp_path / "home", ensemble) as server:
            client = server.admin()
            first = client.ask("GET", f"{SHOP}/topology")
            states = _states(first.data)
            began: list[tuple[str, str]] = []
            for one in client.stream("ensemble:default/shop", after=first.headers["Ordito-Cursor"]):
                if one["type"] == "instances.changed":
                    began += _taken(one, states)
                if one["type"] == "stream.live":
                    Path(f"{gate}-one_1.Standard.create").touch()
                if ("two_1", "Standard.create") in began:
                    Path(f"{gate}-two_1.Standard.create").touch()
                if one["type"] == "ensemble.changed" and one["holder"] is None:
                    break
            assert running.wait(60) == 0
            assert states == _states(client.get(f"{SHOP}/topology")) == {"one_1": "so", "two_1": "so"}
            assert ("two_1", "Standard.create") in began
            assert began[-1] == ("two_1", ""), "at the end nothing runs"
    finally:
        for step in ("one_1.Standard.create", "two_1.Standard.create"):
            Path(f"{gate}-{step}").touch()
        running.wait(60)


DEPENDENT = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Said:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { start: start.sh } } }
topology_template:
  node_templates:
    web: { type: Said, requirements: [ dependency: db ] }
    db: { type: Said }
    hold: { type: Said }
"""


def test_what_a_change_means_for_those_that_depend_on_it_is_told(tmp_path: Path) -> None:
    """While the job still runs, and only what differs; to who comes back by its cursor nothing again."""
    (tmp_path / "service.yaml").write_text(DEPENDENT)
    (tmp_path / "start.sh").write_text(
        f'[ -e {tmp_path}/failing ] || exit 0\n[ "$ORDITO_STEP" != db_1.Standard.start ] || exit 1\n'
        f"while [ ! -e {tmp_path}/open ]; do sleep 0.02; done\n"
    )
    ensemble = tmp_path / "shop"
    command = [sys.executable, "-m", "ordito", "-e", str(ensemble), "-q"]
    assert subprocess.run([*command, "deploy", str(tmp_path / "service.yaml"), "--yes"], check=False).returncode == 0
    (tmp_path / "failing").touch()
    with Served(tmp_path / "home", ensemble) as server:
        client = server.admin()
        first = client.ask("GET", f"{SHOP}/topology")
        found, told, cursor = _statuses(first.data), [], ""
        words = ("run", "Standard.start", "--node", "db", "--node", "hold", "--yes")
        running = subprocess.Popen([*command, *words])
        try:
            for one in client.stream("ensemble:default/shop", after=first.headers["Ordito-Cursor"]):
                if one["type"] == "instances.changed":
                    columns = one["instances"]
                    found.update(zip(columns["id"], columns["local"], strict=True))
                if one["type"] == "statuses.changed":
                    told.append(dict(zip(one["statuses"]["id"], one["statuses"]["status"], strict=True)))
                    found.update(told[-1])
                    cursor = one["cursor"]
                    if found["web_1"] == "u" and one["service"] == "unknown":
                        break
            assert running.poll() is None, "it is told while the job runs"
            assert found["db_1"] == found["web_1"] == "u"
            assert found == _statuses(client.get(f"{SHOP}/topology"))
            assert len(told[0]) == 3, "once all, since it is not known what who follows knows"
            again = client.get("events", topic="ensemble:default/shop", after=cursor)["items"]
            assert "statuses.changed" not in [one["type"] for one in again]
        finally:
            (tmp_path / "open").touch()
            assert running.wait(60) == 1


def _statuses(found: dict[str, Any]) -> dict[str, str]:
    return dict(zip(found["instances"]["id"], found["instances"]["status"], strict=True))


def _states(found: dict[str, Any]) -> dict[str, str]:
    columns = found["instances"]
    return {name: s + o for name, s, o in zip(columns["id"], columns["state"], columns["local"], strict=True)}


def _taken(told: dict[str, Any], states: dict[str, str]) -> list[tuple[str, str]]:
    columns, running = told["instances"], told["running"]
    states.update((n, s + o) for n, s, o in zip(columns["id"], columns["state"], columns["local"], strict=True))
    return list(zip(running["id"], running["operation"], strict=True))


def test_an_ensemble_without_anything_has_an_empty_picture(tmp_path: Path) -> None:
    ensemble = deployed(tmp_path)
    with Served(tmp_path / "home", ensemble) as server:
        client = server.admin()
        done = subprocess.run(
            [sys.executable, "-m", "ordito", "-e", str(ensemble), "-o", "json", "undeploy", "--yes"],
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout)["status"] == "ok"
        found = client.get(f"{SHOP}/topology")
        assert [box["counts"] for box in found["boxes"]] == [{}, {}]
        assert found["instances"]["id"] == []


def test_nodes_and_instances_are_listed_by_page(admin: Client) -> None:
    nodes = admin.get(f"{SHOP}/nodes")
    assert [(one["name"], one["status"], one["instances"], one["requires"]) for one in nodes["items"]] == [
        ("db", "ok", {"ok": 1}, []),
        ("web", "ok", {"ok": 1}, ["db"]),
    ]
    first = admin.get(f"{SHOP}/instances", limit=1)
    assert ([one["id"] for one in first["items"]], first["next"], first["total"]) == (["db_1"], "db_1", 2)
    second = admin.get(f"{SHOP}/instances", limit=1, after=first["next"])
    assert ([one["id"] for one in second["items"]], second["next"]) == (["web_1"], None)
    for query, found in (
        ({"node": "web"}, ["web_1"]),
        ({"state": "started,error"}, ["db_1", "web_1"]),
        ({"status": "error"}, []),
        ({"q": "DB"}, ["db_1"]),
    ):
        assert [one["id"] for one in admin.get(f"{SHOP}/instances", **query)["items"]] == found, query


def test_an_instance_with_its_last_changes(admin: Client) -> None:
    found = admin.get(f"{SHOP}/instances/db_1")
    assert (found["kind"], found["instance"]) == ("instance", "db_1")
    assert [one["operation"] for one in found["events"]] == ["Standard.start", "Standard.create"]
    assert admin.ask("GET", f"{SHOP}/instances/db").data["code"] == "unknown-name"


def test_names_with_numbers_are_sorted_as_people_do() -> None:
    assert sorted(["web_10", "web_2", "a", "web"], key=natural) == ["a", "web", "web_2", "web_10"]


def test_the_deployed_service_and_its_types(admin: Client) -> None:
    found = admin.get(f"{SHOP}/service")
    assert (found["entry"], [node["name"] for node in found["nodes"]]) == ("service.yaml", ["web", "db"])
    assert set(found["files"]) >= {"service.yaml", "say.sh"}
    assert [one["default"] for one in found["inputs"]] == [None], "what is sensitive is not shown"
    said = admin.get(f"{SHOP}/service/types/Said")
    assert (said["name"], said["derived_from"]) == ("Said", ["tosca.nodes.Root"])
    assert admin.get(f"{SHOP}/service/types/tosca.nodes.Compute")["name"] == "tosca.nodes.Compute"
    assert admin.ask("GET", f"{SHOP}/service/types/Sayd").data["code"] == "unknown-type"


def test_what_going_back_to_a_revision_would_change(tmp_path: Path) -> None:
    ensemble = deployed(tmp_path)
    changed = (tmp_path / "service.yaml").read_text().replace("    db: {", "    more: { type: Said }\n    db: {")
    (tmp_path / "service.yaml").write_text(changed)
    words = ["-e", str(ensemble), "-q", "upgrade", "--yes"]
    assert subprocess.run([sys.executable, "-m", "ordito", *words], check=False).returncode == 0
    with Served(tmp_path / "home", ensemble) as server:
        client = server.admin()
        found = client.get(f"{SHOP}/diff", to=1)
        assert {one["node"]: one["class"] for one in found["nodes"]} == {"more": "removed"}
        assert client.ask("GET", f"{SHOP}/diff", to=7).data["code"] == "unknown-revision"
