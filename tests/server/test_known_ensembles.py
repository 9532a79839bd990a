"""The ensembles of a server: made of packages, labelled, listed with a summary, and removed without losing anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from ordito.ensemble.manifest import MARKER
from tests.server.conftest import CANARY, deployed
from tests.server.test_packages import PACKAGES, SERVICE_2, send, shop
from tests.server.test_permissions import token_of
from tests.support.serving import Client, Served, until

ENSEMBLES = "projects/default/ensembles"
WAIT = {"Prefer": "wait=30"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("known")
    with Served(place / "home", deployed(place)) as made:
        yield made


@pytest.fixture(scope="module")
def client(server: Served) -> Client:
    admin = server.admin()
    assert send(admin, shop(), "shop:2.4").status == 201
    return admin


def test_an_ensemble_is_made_of_a_package_and_deployed_by_a_plan(client: Client, server: Served) -> None:
    made = client.do("POST", ENSEMBLES, {"name": "prod", "package": "shop:2.4", "labels": {"team": "web"}})
    assert (made["labels"], made["package_labels"], made["exists"]) == ({"team": "web"}, ["shop:2.4"], True)
    before = client.get(f"{ENSEMBLES}/prod")
    assert (before["summary"]["revision"], before["summary"]["instances"]) == (0, {})
    plan = client.do(
        "POST",
        f"{ENSEMBLES}/prod/plans",
        {"request": {"workflow": "deploy"}, "apply": "auto"},
        {"Prefer": "wait=30"},
    )
    assert plan["state"] == "applied", plan
    assert plan["job_status"] == "ok"
    after = client.get(f"{ENSEMBLES}/prod")["summary"]
    assert (after["service"], after["revision"], after["instances"]) == ("shop", 1, {"ok": 2})
    assert after["attention"] == []
    assert after["last_job"]["workflow"] == "deploy"
    directory = server.home / "projects/default/ensembles/prod"
    assert 'service: "../../../../packages/' in (directory / "ensemble.yaml").read_text()
    # It is an ordinary ensemble.
    assert run(["-e", str(directory), "-q", "status"]) == 0
    refused = client.ask("DELETE", f"{PACKAGES}/shop:2.4")
    assert (refused.status, refused.data["code"]) == (409, "in-use")
    assert 'the ensemble "prod"' in refused.data["detail"]


GREETING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: greeting }
node_types:
  Said:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string }, times: { type: integer } }
    interfaces: { Standard: { operations: { create: say.sh } } }
topology_template:
  inputs:
    word: { type: string }
    times: { type: integer, default: 1 }
    pass: { type: string, default: none, metadata: { sensitive: "true" } }
  node_templates:
    hello: { type: Said, properties: { word: { get_input: word }, times: { get_input: times } } }
"""


def test_inputs_of_the_first_deployment_are_written_as_here(client: Client, server: Served, tmp_path: Path) -> None:
    for name, text in {"service.yaml": GREETING, "say.sh": "true\n"}.items():
        (tmp_path / "v1").mkdir(exist_ok=True)
        (tmp_path / "v1" / name).write_text(text)
    given = ["-i", "word=good day", "-i", "times=2", "-i", "pass=canary-1771"]
    here = tmp_path / "here"
    assert run(["-e", str(here), "-q", "deploy", str(tmp_path / "v1"), *given, "--yes"]) == 0
    words = ["--server", server.url, "-q", "-e", "hello", "deploy", str(tmp_path / "v1"), *given, "--yes"]
    environment = {**os.environ, "ORDITO_TOKEN": client.token}
    subprocess.run([sys.executable, "-m", "ordito", *words], check=True, env=environment, cwd=tmp_path)
    inputs = {"word": "good day", "times": 2, "pass": "canary-1771"}
    client.do("POST", ENSEMBLES, {"name": "hello-api", "package": client.get(f"{ENSEMBLES}/hello")["package"]})
    plan = {"request": {"workflow": "deploy", "inputs": inputs}, "apply": "auto"}
    assert client.do("POST", f"{ENSEMBLES}/hello-api/plans", plan, {"Prefer": "wait=30"})["state"] == "applied"
    wanted = users_part(here)
    assert "times: 2" in wanted
    assert "canary" not in wanted
    for name in ("hello", "hello-api"):
        assert users_part(server.home / "projects/default/ensembles" / name) == wanted
    # What comes later is remembered, here and there.
    assert run(["-e", str(here), "-q", "deploy", "-i", "times=3", "--yes"]) == 0
    later = {"request": {"workflow": "deploy", "inputs": {"times": 3}}, "apply": "auto"}
    assert client.do("POST", f"{ENSEMBLES}/hello-api/plans", later, {"Prefer": "wait=30"})["state"] == "applied"
    assert users_part(server.home / "projects/default/ensembles/hello-api") == users_part(here) == wanted


def test_what_somebody_has_written_stays_at_the_first_deployment(client: Client, server: Served) -> None:
    package = client.get(f"{ENSEMBLES}/hello")["package"]
    client.do("POST", ENSEMBLES, {"name": "hello-own", "package": package})
    spec = client.ask("GET", f"{ENSEMBLES}/hello-own/spec")
    text = spec.data["text"].replace("inputs: {}", "inputs: { word: mine }")
    written = client.ask("PUT", f"{ENSEMBLES}/hello-own/spec", {"text": text}, {"If-Match": spec.headers["ETag"]})
    assert written.status == 200, written
    plan = {"request": {"workflow": "deploy", "inputs": {"times": 5}}, "apply": "auto"}
    assert client.do("POST", f"{ENSEMBLES}/hello-own/plans", plan, {"Prefer": "wait=30"})["state"] == "applied"
    assert client.get(f"{ENSEMBLES}/hello-own/spec")["text"] == text


def users_part(directory: Path) -> str:
    """What stands above the status, without the path of the service, which is another one at a server."""
    user = (directory / "ensemble.yaml").read_bytes().partition(MARKER)[0].decode()
    return re.sub(r"(?m)^  service: .*$", "  service:", user)


def applied(client: Client, ensemble: str, **request: str) -> None:
    """Carry out a request."""
    asked = {"request": request, "apply": "auto"}
    plan = client.do("POST", f"{ENSEMBLES}/{ensemble}/plans", asked, {"Prefer": "wait=30"})
    assert plan["state"] in ("applied", "empty"), plan["problem"]


def test_a_plan_names_another_package(client: Client) -> None:
    client.do("POST", ENSEMBLES, {"name": "next", "package": "shop:2.4"})
    applied(client, "next", workflow="deploy")
    digest = send(client, shop(**{"service.yaml": SERVICE_2.replace("port", "gate")}), "shop:2.5").data["digest"]
    applied(client, "next", workflow="upgrade", package="shop:2.5")
    found = client.get(f"{ENSEMBLES}/next")
    assert (found["package"], found["package_labels"]) == (digest, ["shop:2.5"])
    # From now on the ensemble is what that package says, and may read it.
    applied(client, "next", workflow="deploy")
    unknown = {"request": {"workflow": "deploy", "package": "shop:9"}}
    assert client.ask("POST", f"{ENSEMBLES}/next/plans", unknown).data["code"] == "unknown-package"
    assert client.ask("DELETE", f"{PACKAGES}/{digest}").data["code"] == "in-use"


def test_a_list_is_filtered(client: Client) -> None:
    client.do("POST", ENSEMBLES, {"name": "green", "package": "shop:2.4", "labels": {"color": "green", "team": "x"}})
    client.do("POST", ENSEMBLES, {"name": "blue", "package": "shop:2.4", "labels": {"color": "blue", "team": "x"}})

    def names(**query: object) -> list[str]:
        return [one["name"] for one in client.get(ENSEMBLES, **query)["items"]]

    assert names(label="color=green") == ["green"]
    assert names(label=["team=x", "color"]) == ["blue", "green"]
    assert names(q="GREEN") == ["green"]
    assert "shop" in names(status="ok")
    assert "green" not in names(status="ok")
    assert not {"green", "shop"} & set(names(attention="true"))
    part = client.get(ENSEMBLES, label="team=x", limit=1)
    assert [one["name"] for one in part["items"]] == ["blue"]
    assert names(label="team=x", limit=1, after=part["next"]) == ["green"]
    assert CANARY not in str(client.get("ensembles"))


def test_labels_are_set_and_removed(client: Client) -> None:
    client.do("POST", ENSEMBLES, {"name": "labels", "package": "shop:2.4", "labels": {"a": "1", "b": "2"}})
    found = client.do("PATCH", f"{ENSEMBLES}/labels", {"labels": {"a": None, "c": "3"}})
    assert found["labels"] == {"b": "2", "c": "3"}
    assert client.ask("PATCH", f"{ENSEMBLES}/labels", {"labels": {"no good": "1"}}).data["code"] == "malformed"


def removed(client: Client, name: str, **query: Any) -> Any:
    """What went with an ensemble that was removed as it was looked at."""
    found = client.get(f"{ENSEMBLES}/{name}/removal")
    assert client.ask("DELETE", f"{ENSEMBLES}/{name}", digest=found["digest"], **query).status == 204
    return found


def test_what_goes_with_a_removed_ensemble_is_looked_at_first(client: Client, server: Served) -> None:
    """No plan may be open; the numbers are as they were seen; all that the server knew is put aside as JSON, and the
    files of plans are gone."""
    where = f"{ENSEMBLES}/full"
    client.do("POST", ENSEMBLES, {"name": "full", "package": "shop:2.4"})
    client.do("PUT", f"{where}/rules", {"rules": [{}]}, {"If-Match": "*"})
    plan = client.do("POST", f"{where}/plans", {"request": {"workflow": "deploy"}, "comment": "the first"}, WAIT)["id"]
    refused = client.ask("DELETE", where)
    assert (refused.status, refused.data["code"]) == (409, "in-use")
    assert plan in refused.data["detail"]
    assert client.get(f"{where}/removal")["open_plans"] == [plan]
    client.do("POST", f"{where}/plans/{plan}/discard")
    refused = client.ask("DELETE", where)
    assert (refused.status, refused.data["code"]) == (428, "match-required")
    assert "1 plan, 1 rule" in refused.data["detail"]
    seen = client.get(f"{where}/removal")
    assert [seen[name] for name in ("instances", "plans", "rules", "roles", "open_plans")] == [0, 1, 1, 0, []]
    client.do("PUT", f"{where}/freeze", {"reason": "not now"})
    assert client.ask("DELETE", where, digest=seen["digest"]).data["code"] == "changed"
    assert list((server.home / "plans").glob(f"{plan}.*"))
    assert removed(client, "full")["freezes"] == 1
    [aside] = (server.home / "removed").glob("default-full-*")
    rows = json.loads((aside / "of-the-server.json").read_text())
    assert [(row["id"], row["comment"]) for row in rows["plan"]] == [(plan, "the first")]
    assert (rows["freeze"][0]["reason"], len(rows["rules"]), rows["ensemble"][0]["name"]) == ("not now", 1, "full")
    assert not list((server.home / "plans").glob(f"{plan}.*"))
    [row] = client.get("audit", action="ensemble.remove", limit=1)["items"]
    assert row["detail"] == "1 plan, 1 rule, 1 freeze"


def test_files_of_plans_that_nobody_knows_are_removed_at_the_start(tmp_path: Path) -> None:
    with Served(tmp_path) as made:
        made.stop()
    (tmp_path / "plans").mkdir(exist_ok=True)
    for name in ("pl_1.json", "pl_1.drawn"):
        (tmp_path / "plans" / name).write_text("left")
    with Served(tmp_path):
        assert not list((tmp_path / "plans").iterdir())


def test_a_removed_ensemble_is_put_aside(client: Client, server: Served) -> None:
    client.do("POST", ENSEMBLES, {"name": "gone", "package": "shop:2.4"})
    client.do("POST", f"{ENSEMBLES}/gone/plans", {"request": {"workflow": "deploy"}, "apply": "auto"},
              {"Prefer": "wait=30"})  # fmt: skip
    refused = client.ask("DELETE", f"{ENSEMBLES}/gone")
    assert (refused.status, refused.data["code"]) == (409, "instances-exist")
    assert "forget=2" in refused.data["hint"]
    assert client.ask("DELETE", f"{ENSEMBLES}/gone?forget=1").status == 409
    assert removed(client, "gone", forget=2)["plans"] == 1
    assert client.ask("GET", f"{ENSEMBLES}/gone").status == 404
    assert not (server.home / "projects/default/ensembles/gone").exists()
    [aside] = (server.home / "removed").glob("default-gone-*")
    assert run(["-e", str(aside), "-q", "status"]) == 0
    assert client.do("POST", ENSEMBLES, {"name": "gone", "package": "shop:2.4"})["summary"] is None


def test_the_directory_of_an_added_ensemble_stays(client: Client, tmp_path: Path) -> None:
    directory = deployed(tmp_path)
    client.do("POST", ENSEMBLES, {"name": "added", "path": str(directory)})
    assert client.ask("DELETE", f"{ENSEMBLES}/added").data["code"] == "instances-exist"
    assert client.ask("DELETE", f"{ENSEMBLES}/added?forget=2").status == 204
    assert (directory / "ensemble.yaml").exists()


def test_names_packages_and_paths_are_checked(client: Client) -> None:
    assert client.ask("POST", ENSEMBLES, {"name": "shop", "package": "shop:2.4"}).data["code"] == "exists"
    assert client.ask("POST", ENSEMBLES, {"name": "x", "package": "shop:9"}).data["code"] == "unknown-package"
    assert client.ask("POST", ENSEMBLES, {"name": "x"}).data["code"] == "malformed"
    both = {"name": "x", "package": "shop:2.4", "path": "/srv"}
    assert client.ask("POST", ENSEMBLES, both).data["code"] == "malformed"
    assert client.ask("POST", ENSEMBLES, {"name": "../x", "package": "shop:2.4"}).data["code"] == "malformed"


def test_a_project_has_so_many_ensembles(tmp_path: Path) -> None:
    settings = "limits: { requests: 100000, unknown: 100000, project_ensembles: 2 }\n"
    with Served(tmp_path / "home", deployed(tmp_path), settings=settings) as server:
        admin = server.admin()
        assert send(admin, shop(), "shop:2.4").status == 201
        made = {"package": "shop:2.4"}
        assert admin.do("POST", ENSEMBLES, {"name": "second", **made})["exists"]
        full = admin.ask("POST", ENSEMBLES, {"name": "third", **made})
        assert (full.status, full.data["code"]) == (409, "limit-reached")
        assert "project_ensembles" in full.data["hint"]
        assert admin.ask("POST", ENSEMBLES, {"name": "second", **made}).data["code"] == "exists"
        assert admin.ask("DELETE", f"{ENSEMBLES}/second").status == 204
        assert admin.do("POST", ENSEMBLES, {"name": "third", **made})["exists"]


def test_what_may_be_seen_is_found(client: Client) -> None:
    found = until(lambda: client.get("search", q="SHOP"), lambda answer: bool(answer["complete"]))
    assert {"project": "default", "name": "shop"} in found["ensembles"]
    assert "shop:2.4" in [label for one in found["packages"] for label in one["labels"]]
    web = until(lambda: client.get("search", q="web_"), lambda answer: bool(answer["complete"]))
    assert ("shop", "web_1", "Said") in [(one["ensemble"], one["instance"], one["type"]) for one in web["instances"]]
    [job] = client.get(f"{ENSEMBLES}/shop/jobs")["jobs"]
    by_id = client.get("search", q=job["id"][:6])["jobs"]
    assert (job["id"], "deploy") in [(one["job"], one["workflow"]) for one in by_id]
    client.do("POST", "users", {"name": "stranger"})
    nothing = client.with_token(token_of(client, "stranger")).get("search", q="shop")
    assert nothing == {"ensembles": [], "instances": [], "jobs": [], "packages": [], "complete": True}
    assert client.ask("GET", "search").data["code"] == "malformed"


def test_the_same_again_with_a_key_makes_one(client: Client) -> None:
    key, asked = {"Idempotency-Key": "make-1"}, {"name": "once", "package": "shop:2.4"}
    first = client.ask("POST", ENSEMBLES, asked, key)
    again = client.ask("POST", ENSEMBLES, asked, key)
    assert (first.status, again.status, first.body) == (201, 201, again.body)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_many_ensembles_are_listed_at_once(client: Client, server: Served) -> None:
    for number in range(12):
        client.do("POST", ENSEMBLES, {"name": f"many-{number}", "package": "shop:2.4"})
    found = until(lambda: client.get(ENSEMBLES, q="many-")["items"], lambda items: all(one["summary"] for one in items))
    assert len(found) == 12
    # A damaged one says so, and the others are listed all the same.
    damaged = server.home / "projects/default/ensembles/many-3"
    (damaged / "ensemble.yaml").write_text("status: [")
    (damaged / ".ordito/journal.db").write_bytes(b"no database" * 1_000)
    by_name = {one["name"]: one for one in client.get(ENSEMBLES, q="many-")["items"]}
    assert len(by_name) == 12
    assert by_name["many-3"]["problem"]
    assert by_name["many-4"]["summary"] is not None
