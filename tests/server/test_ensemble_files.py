"""What an ensemble on a server is given: spec, inventory, secrets, notices; and what it gives: outputs and files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cli.main import run
from tests.server.conftest import CANARY, SERVICE, deployed
from tests.server.test_packages import SERVICE_2, send, shop
from tests.support.serving import MANY_REQUESTS, Served, until

ENSEMBLE = "projects/default/ensembles/shop"
VALUE = "hidden-8842"
"""The value of a secret, which no byte of an answer or of the server may hold."""

LOUD = (
    SERVICE.replace("inputs: {", "inputs: { size: { type: integer, default: 1 },")
    .replace("outputs: {", "outputs: { key: { value: { get_input: pass } },")
    .replace("topology_template:\n", "topology_template:\n  policies:\n    - calm: POLICY\n")
    .replace(
        "POLICY",
        "{ type: tosca.policies.Scaling, targets: [ web ], triggers: { hot: { event: too_hot, "
        "action: [ { call_operation: Standard.start } ] } } }",
    )
)


class Place:
    """A server with an ensemble."""

    def __init__(self, place: Path, server: Served) -> None:
        self.shop = place / "shop"
        self.server = server
        self.client = server.admin()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    deployed(tmp_path, service=LOUD)
    with Served(tmp_path / "home", tmp_path / "shop", settings=f"{MANY_REQUESTS}reads: [ .. ]\n") as server:
        yield Place(tmp_path, server)


def test_the_spec_is_read_and_replaced_byte_for_byte(place: Place) -> None:
    client, manifest = place.client, place.shop / "ensemble.yaml"
    first = client.ask("GET", f"{ENSEMBLE}/spec")
    text, status = first.data["text"], manifest.read_text()[len(first.data["text"]) :]
    assert text + status == manifest.read_text()
    new = text.replace("inputs: {}", "inputs:\n    size: 3   # as it is\n")
    where = f"{ENSEMBLE}/spec"
    assert client.ask("PUT", where, {"text": new}).data["code"] == "match-required"
    done = client.ask("PUT", where, {"text": new}, {"If-Match": first.headers["ETag"]})
    assert (done.status, done.data["valid"]) == (200, True), done
    assert manifest.read_text() == new + status
    assert client.ask("GET", where).headers["ETag"] == done.headers["ETag"]
    late = client.ask("PUT", where, {"text": text}, {"If-Match": first.headers["ETag"]})
    assert (late.status, late.data["code"]) == (412, "changed")
    assert client.get(f"{where}/evaluated")["inputs"]["size"]["value"] == 3
    assert run(["-e", str(place.shop), "-q", "status"]) == 0


def test_a_spec_with_mistakes_is_refused_and_nothing_is_written(place: Place) -> None:
    client, manifest = place.client, place.shop / "ensemble.yaml"
    before, where = manifest.read_bytes(), f"{ENSEMBLE}/spec"
    for text, code in {
        "spec: { servce: x }\n": "unknown-keyname",
        "spec: [": "yaml-syntax",
        "spec: { lock: maybe }\n": "bad-value",
    }.items():
        refused = client.ask("PUT", where, {"text": text}, {"If-Match": "*"})
        assert (refused.status, refused.data["code"]) == (422, "invalid"), refused
        assert code in {one["code"] for one in refused.data["diagnostics"]}
        checked = client.do("POST", f"{where}/check", {"text": text})
        assert (checked["valid"], checked["diagnostics"]) == (False, refused.data["diagnostics"])
    forged = "spec: {}\n# ==== What follows is written by ordito: x ====\nstatus: {}\n"
    assert client.ask("PUT", where, {"text": forged}, {"If-Match": "*"}).data["code"] == "bad-spec"
    assert manifest.read_bytes() == before


HOLDS = """
import sys
from ordito.ensemble.store import open_ensemble
with open_ensemble(sys.argv[1], command="a long command"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_works_on_the_ensemble_is_told(place: Place) -> None:
    command = [sys.executable, "-c", HOLDS, str(place.shop)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        refused = place.client.ask("PUT", f"{ENSEMBLE}/spec", {"text": "spec: {}\n"}, {"If-Match": "*"})
        assert (refused.status, refused.data["code"]) == (409, "locked"), refused
        assert str(other.pid) in refused.data["detail"]
        assert place.client.ask("DELETE", f"{ENSEMBLE}?forget=2").data["code"] == "locked"
        assert other.stdin is not None
        other.stdin.close()
    done = place.client.ask("PUT", f"{ENSEMBLE}/spec", {"text": "spec: {}\n"}, {"If-Match": "*"})
    assert done.status == 200, done


def test_the_inventory_is_replaced_and_holds_no_credential(place: Place) -> None:
    client, where = place.client, f"{ENSEMBLE}/inventory"
    assert client.get(where)["text"] == ""
    good = "hosts:\n  a: { address: 192.0.2.1, password: { secret: root } }   # ours\n"
    assert client.ask("PUT", where, {"text": good}, {"If-Match": "*"}).status == 200
    assert (place.shop / "hosts.yaml").read_text() == good
    assert [host["name"] for host in client.get(f"{ENSEMBLE}/hosts")["hosts"]] == ["a"]
    plain = f"hosts:\n  a: {{ address: 192.0.2.1, password: {VALUE} }}\n"
    refused = client.ask("PUT", where, {"text": plain}, {"If-Match": "*"})
    assert (refused.status, refused.data["code"]) == (422, "plain-credential")
    assert VALUE not in refused.body.decode()
    wrong = client.ask("PUT", where, {"text": "hosts: { a: { adress: x } }\n"}, {"If-Match": "*"})
    assert (wrong.status, wrong.data["code"]) == (422, "invalid")
    assert not client.do("POST", f"{where}/check", {"text": "host: {}\n"})["valid"]
    assert (place.shop / "hosts.yaml").read_text() == good


def test_secrets_go_in_and_never_out(place: Place) -> None:
    client = place.client
    done = client.ask("PUT", f"{ENSEMBLE}/secrets/db", {"value": VALUE})
    assert (done.status, done.body) == (204, b"")
    found = client.get(f"{ENSEMBLE}/secrets")
    assert found["secrets"] == ["db"]
    assert found["last"]["db"]["by"] == client.get("me")["name"]
    assert run(["-e", str(place.shop), "secrets", "get", "db"]) == 0
    spec = client.get(f"{ENSEMBLE}/spec")["text"].replace("inputs: {}", "inputs: { pass: { secret: db } }")
    client.do("PUT", f"{ENSEMBLE}/spec", {"text": spec}, {"If-Match": "*"})
    bodies = [client.ask("GET", f"{ENSEMBLE}/{path}") for path in ("spec/evaluated", "secrets", "diff", "state")]
    bodies += [client.ask("GET", "audit/export"), client.ask("GET", "/metrics")]
    assert {one.status for one in bodies} == {200}, bodies
    files = [path.read_bytes() for path in place.server.home.rglob("*") if path.is_file()]
    assert not [text for text in (*(one.body for one in bodies), *files) if VALUE.encode() in text]
    assert b"secret.set" in client.ask("GET", "audit/export").body
    assert client.ask("PUT", f"{ENSEMBLE}/secrets/no%20good", {"value": "x"}).data["code"] == "bad-name"
    assert client.ask("DELETE", f"{ENSEMBLE}/secrets/db").status == 204
    gone = client.ask("DELETE", f"{ENSEMBLE}/secrets/db")
    assert (gone.status, gone.data["code"]) == (404, "unknown-secret")


def test_the_value_of_a_sensitive_input_stands_in_no_spec(place: Place) -> None:
    """However it is written; and one that was there already, or came there beside the server, is given to nobody."""
    client, where, manifest = place.client, f"{ENSEMBLE}/spec", place.shop / "ensemble.yaml"
    text = client.get(where)["text"]
    for written in (
        f"{{ pass: {VALUE} }}",
        f'\n    size: 2\n    pass: "{VALUE}"   # of the database',
        f"{{ pass: {{ literal: {VALUE} }} }}",
        f"{{ pass: {{ env: NOT_THERE, default: {VALUE} }} }}",
        f"\n    pass: |-\n      {VALUE}\n",
        f"{{}}\n  environments:\n    prod:\n      inputs: {{ pass: {VALUE} }}\n",
    ):
        new = text.replace("inputs: {}", f"inputs: {written}")
        assert VALUE in new
        refused = client.ask("PUT", where, {"text": new}, {"If-Match": "*"})
        assert (refused.status, refused.data["code"]) == (422, "plain-credential"), (written, refused)
        assert "secret: NAME" in refused.data["hint"]
        assert client.ask("POST", f"{where}/check", {"text": new}).data["code"] == "plain-credential"
        before = manifest.read_text()
        manifest.write_text(before.replace(text, new))
        shown = client.ask("GET", where)
        assert VALUE not in shown.body.decode(), written
        assert shown.data["text"].count("(sensitive)") == 1
        for one in ('"', "|-"):
            new = new.replace(one, "")
        assert shown.data["text"].replace('"', "").replace("(sensitive)", VALUE).split() == new.split()
        bodies = [client.ask("GET", f"{ENSEMBLE}/{path}") for path in ("spec/evaluated", "inputs", "state", "status")]
        assert not [one for one in bodies if VALUE in one.body.decode()]
        back = client.ask("PUT", where, {"text": shown.data["text"]}, {"If-Match": shown.headers["ETag"]})
        assert back.data["code"] == "plain-credential"
        done = client.ask("PUT", where, {"text": text}, {"If-Match": shown.headers["ETag"]})
        assert done.status == 200, done
        assert manifest.read_text() == before


def test_outputs_files_and_differences(place: Place) -> None:
    client = place.client
    outputs = client.get(f"{ENSEMBLE}/outputs")["outputs"]
    assert outputs == {"motto": "printed and given out", "key": "(sensitive)"}
    assert client.get(f"{ENSEMBLE}/outputs/motto")["outputs"] == {"motto": "printed and given out"}
    assert client.ask("GET", f"{ENSEMBLE}/outputs/moto").data["hint"] == 'did you mean "motto"?'
    file = client.get(f"{ENSEMBLE}/service/files/service.yaml")
    assert file["text"] == LOUD
    for path in ("../../ensemble.yaml", "%2e%2e/%2e%2e/.ordito/key", "/etc/passwd"):
        missing = client.ask("GET", f"{ENSEMBLE}/service/files/{path}")
        assert missing.status == 404, (path, missing)
    assert client.get(f"{ENSEMBLE}/diff")["different"] is False
    send(client, shop(**{"service.yaml": SERVICE_2.replace("web:", "webs:")}), "shop:9")
    found = client.get(f"{ENSEMBLE}/diff", to="shop:9")
    assert found["different"] is True
    assert {"web", "webs"} <= {node["node"] for node in found["nodes"]}
    assert CANARY not in str(found)
    assert client.ask("GET", f"{ENSEMBLE}/diff", to="shop:10").data["code"] == "unknown-package"


def test_a_notice_is_stored_and_handled(place: Place) -> None:
    client, where = place.client, f"{ENSEMBLE}/notifications"
    key = {"Idempotency-Key": "told-1"}
    told = client.ask("POST", where, {"event": "too_hot", "entity": "web"}, key)
    assert (told.status, told.data) == (202, {"number": 1}), told
    assert client.ask("POST", where, {"event": "too_hot", "entity": "web"}, key).data == {"number": 1}
    [notice] = until(lambda: client.get(where)["notices"], lambda found: found[0]["state"] == "handled")
    assert (notice["entity"], notice["event"]) == ("web_1", "too_hot")
    assert [one["trigger"] for one in notice["triggers"]] == ["calm.hot"]
    wrong = client.ask("POST", where, {"event": "too_hod", "entity": "web"})
    assert (wrong.status, wrong.data["hint"]) == (404, "did you mean too_hot?"), wrong


def test_a_freeze_holds_notices(place: Place) -> None:
    """What is told meanwhile is kept, and handled by itself once the freeze has ended: nothing begins before."""
    client, where = place.client, f"{ENSEMBLE}/notifications"
    client.do("PUT", "freeze", {"reason": "not now"})
    jobs = client.get(f"{ENSEMBLE}/jobs")["jobs"]
    told = client.ask("POST", where, {"event": "too_hot", "entity": "web"})
    assert (told.status, told.data) == (202, {"number": 1}), told
    assert [one["state"] for one in client.get(where)["notices"]] == ["waiting"]
    assert list((place.server.home / "runs").glob("notices-*")) == []
    assert client.get(f"{ENSEMBLE}/jobs")["jobs"] == jobs
    client.do("DELETE", "freeze")
    until(lambda: client.get(where)["notices"], lambda found: found[0]["state"] == "handled")
    assert len(client.get(f"{ENSEMBLE}/jobs")["jobs"]) > len(jobs)


def test_records_are_shown_and_rebuilt(place: Place) -> None:
    client = place.client
    assert set(client.get(f"{ENSEMBLE}/state")["instances"]) == {"web_1", "db_1"}
    assert set(client.get(f"{ENSEMBLE}/state", names="web")["instances"]) == {"web_1"}
    assert client.do("POST", f"{ENSEMBLE}/replay")["agrees"] is True
    manifest = place.shop / "ensemble.yaml"
    whole = manifest.read_text()
    manifest.write_text(whole.replace("state: started", "state: stopped"))
    assert client.do("POST", f"{ENSEMBLE}/replay")["agrees"] is False
    client.do("POST", f"{ENSEMBLE}/replay?write=true")
    assert manifest.read_text() == whole
    unlock = client.ask("POST", f"{ENSEMBLE}/unlock?dry=true", {})
    assert (unlock.status, unlock.data["code"]) == (422, "no-shared-lock")


def test_hosts_are_checked_and_released(place: Place) -> None:
    client = place.client
    none = client.ask("POST", f"{ENSEMBLE}/hosts/check", {})
    assert none.data["code"] == "no-inventory"
    text = "hosts: { a: { address: 127.0.0.1, port: 1, connect_timeout: 1 s } }\n"
    client.do("PUT", f"{ENSEMBLE}/inventory", {"text": text}, {"If-Match": "*"})
    [found] = client.do("POST", f"{ENSEMBLE}/hosts/check", {})["hosts"]
    assert found["unreachable"]
    assert client.do("POST", f"{ENSEMBLE}/hosts/release", {"names": ["a"]})["released"] == []
    assert client.ask("POST", f"{ENSEMBLE}/hosts/release", {"names": ["b"]}).data["code"] == "unknown-host"
