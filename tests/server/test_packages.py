"""Packages: sent, named, looked at, removed, and refused without anything left behind."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from tests.server.conftest import CANARY, SERVICE
from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.serving import API, Answer, Client, Served

PACKAGES = "projects/default/packages"
ENTRY = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop, template_version: "2.4", template_author: ann }
"""
SERVICE_2 = ENTRY + SERVICE.partition("\n")[2].replace(
    "default: canary-7431 } }",
    "default: canary-7431 }\n    port: { type: integer, default: 8080, constraints: [ greater_than: 1023 ] } }",
).replace("inputs: { pass:", "inputs: {\n    pass:").replace("default: canary-7431 }\n", "default: canary-7431 },\n")


def shop(**more: str | bytes) -> bytes:
    """The package of the shop, with further files."""
    files = {META_PLACE: META, "service.yaml": SERVICE_2, "say.sh": "echo hello\n"}
    return packed({**files, **more})


def send(client: Client, archive: bytes, label: str = "", **headers: str) -> Answer:
    """Send an archive."""
    return send_package(client, "default", archive, label, **headers)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = "limits: { requests: 100000, unknown: 100000, package: 200000, project_packages: 300000 }\n"
    with Served(tmp_path_factory.mktemp("home"), settings=settings) as made:
        yield made


@pytest.fixture(scope="module")
def client(server: Served) -> Client:
    admin = server.admin()
    admin.do("POST", "projects", {"name": "default"})
    return admin


def kept(server: Served) -> set[str]:
    """The files in which the server keeps packages."""
    return {str(path.relative_to(server.home)) for path in (server.home / "packages").rglob("*") if path.is_file()}


def test_a_package_is_kept_under_its_digest_and_described(client: Client, server: Served) -> None:
    archive = shop()
    digest = hashlib.sha256(archive).hexdigest()
    made = send(client, archive, "shop:2.4")
    assert made.status == 201, made
    data = made.data
    assert (data["digest"], data["labels"], data["name"], data["version"]) == (digest, ["shop:2.4"], "shop", "2.4")
    assert f"packages/{digest[:2]}/{digest}.csar" in kept(server)
    summary = data["summary"]
    by_name = {one["name"]: one for one in summary["inputs"]}
    assert by_name["port"]["type"] == "integer"
    assert by_name["port"]["default"] == 8080
    assert by_name["port"]["constraints"] == [{"greater_than": 1023}]
    assert (by_name["pass"]["sensitive"], by_name["pass"]["default"]) == (True, None)
    assert [(node["name"], node["type"]) for node in summary["nodes"]] == [("web", "Said"), ("db", "Said")]
    assert {"kind": "node", "name": "Said"} in summary["types"]
    assert "say.sh" in summary["files"]
    assert summary["outputs"] == ["motto"]
    assert client.get(f"{PACKAGES}/{digest}") == client.get(f"{PACKAGES}/shop:2.4") == data
    assert CANARY not in json.dumps(client.get(PACKAGES))


def test_what_is_in_a_package(client: Client) -> None:
    send(client, shop(), "shop:2.4")
    file = client.get(f"{PACKAGES}/shop:2.4/files/say.sh")
    assert (file["text"], file["size"], file["executable"]) == ("echo hello\n", 11, True)
    missing = client.ask("GET", f"{PACKAGES}/shop:2.4/files/sai.sh")
    assert (missing.status, missing.data["code"], missing.data["hint"]) == (404, "unknown-file", "did you mean say.sh?")
    graph = client.get(f"{PACKAGES}/shop:2.4/graph")
    assert [(one["source"], one["target"]) for one in graph["connections"]] == [("web", "db")]
    assert graph["format"] == "ordito.graph/1"
    content = client.ask("GET", f"{PACKAGES}/shop:2.4/content")
    assert content.body == shop()
    assert content.headers["Content-Type"] == "application/zip"
    head = client.ask("HEAD", f"{PACKAGES}/shop:2.4")
    assert (head.status, head.body) == (200, b"")


def test_inputs_are_checked_without_an_ensemble(client: Client) -> None:
    send(client, shop(), "shop:2.4")
    where = f"{PACKAGES}/shop:2.4/validate"
    good = client.do("POST", where, {"inputs": {"port": 8081, "pass": {"secret": "db"}}})
    assert good["valid"]
    bad = client.do("POST", where, {"inputs": {"port": 80, "prt": 1}})
    assert not bad["valid"]
    assert {one["code"] for one in bad["diagnostics"] if one["severity"] == "error"} == {"constraint", "unknown-input"}


def test_a_label_stays_where_it_is_unless_it_is_of_a_version_in_development(client: Client) -> None:
    first, second = shop(), shop(**{"more.txt": "more"})
    assert send(client, first, "shop:3.0").status == 201
    taken = send(client, second, "shop:3.0")
    assert (taken.status, taken.data["code"]) == (409, "label-taken")
    assert send(client, first, "shop:3.0-dev").status == 201
    assert send(client, second, "shop:3.0-dev").status == 201
    digest = hashlib.sha256(second).hexdigest()
    assert client.get(f"{PACKAGES}/shop:3.0-dev")["digest"] == digest
    assert client.ask("PUT", f"{PACKAGES}/{digest}/labels/shop:3.1").status == 204
    assert client.get(f"{PACKAGES}/shop:3.1")["digest"] == digest
    assert client.ask("PUT", f"{PACKAGES}/{digest}/labels/Shop").data["code"] == "malformed"
    unknown = client.ask("GET", f"{PACKAGES}/shop:3.2")
    assert (unknown.status, unknown.data["code"]) == (404, "unknown-package")
    assert unknown.data["hint"].startswith("did you mean shop:")


def test_a_list_in_parts(client: Client) -> None:
    for number in range(3):
        assert send(client, shop(**{"n.txt": str(number)}), f"part:{number}").status == 201
    found, after = [], ""
    while True:
        part = client.get(PACKAGES, q="part:", limit=1, after=after)
        found += part["items"]
        after = part["next"]
        if after is None:
            break
    assert [one["labels"] for one in found] == [["part:2"], ["part:1"], ["part:0"]]
    assert "summary" not in found[0]


BROKEN = {
    "no archive": b"this is no archive",
    "empty": b"",
    "cut off": shop()[:-40],
    "no service": packed({"readme.txt": "hello"}),
    "no tosca": packed({META_PLACE: META, "service.yaml": "a: 1\n"}),
    "a mistake": shop(**{"service.yaml": SERVICE_2.replace("type: Said, req", "type: Sad, req")}),
    "leads out": shop(**{"../evil.sh": "echo"}),
    "absolute": shop(**{"/etc/evil": "echo"}),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_an_archive_with_mistakes_is_refused_and_leaves_nothing(kind: str, client: Client, server: Served) -> None:
    before, rows = kept(server), client.get(PACKAGES)
    found = send(client, BROKEN[kind])
    assert (found.status, found.data["code"]) == (422, "invalid"), found
    assert found.data["diagnostics"]
    assert kept(server) == before
    assert client.get(PACKAGES) == rows
    assert str(server.home) not in found.body.decode()


def test_a_finding_names_the_file_in_the_package(client: Client) -> None:
    [finding] = send(client, BROKEN["a mistake"]).data["diagnostics"]
    assert finding["file"] == "package:/service.yaml"
    assert finding["line"]
    assert finding["hint"] == 'did you mean "Said"?'


def test_links_in_archives_are_refused(client: Client, server: Served) -> None:
    made = io.BytesIO(shop())
    with zipfile.ZipFile(made, "a") as archive:
        link = zipfile.ZipInfo("passwd")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    before = kept(server)
    found = send(client, made.getvalue())
    assert [one["code"] for one in found.data["diagnostics"]] == ["unsafe-archive"]
    assert kept(server) == before


def test_a_digest_that_does_not_fit_is_refused(client: Client, server: Served) -> None:
    archive = shop(**{"digest.txt": "x"})
    right = base64.b64encode(hashlib.sha256(archive).digest()).decode()
    wrong = base64.b64encode(bytes(32)).decode()
    before = kept(server)
    found = send(client, archive, **{"Content-Digest": f"sha-256=:{wrong}:"})
    assert (found.status, found.data["code"]) == (422, "digest")
    assert send(client, archive, **{"Content-Digest": "sha-256=nonsense"}).data["code"] == "malformed"
    assert kept(server) == before
    assert send(client, archive, **{"Content-Digest": f"sha-512=:AAAA:, sha-256=:{right}:"}).status == 201


def test_what_is_too_large_is_refused(client: Client, server: Served) -> None:
    before = kept(server)
    found = send(client, bytes(200_001))
    assert (found.status, found.data["code"]) == (413, "too-large")

    def pieces() -> Iterator[bytes]:
        for _ in range(5):
            yield bytes(50_000)

    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/zip"}
    with urllib3.PoolManager(retries=False) as pool:
        streamed = pool.request("POST", f"{client.url}{API}/{PACKAGES}", body=pieces(), headers=headers, chunked=True)
    assert streamed.status == 413
    for number in range(2):
        last = send(client, shop(**{f"{number}.bin": bytes(150_000)}))
    assert (last.status, last.data["code"]) == (413, "too-large")
    assert len(kept(server)) == len(before) + 1


def test_another_media_type_is_refused(client: Client) -> None:
    found = send(client, shop(), **{"Content-Type": "application/json"})
    assert (found.status, found.data["code"]) == (415, "media-type")


def test_the_same_again_with_a_key_is_answered_once(client: Client) -> None:
    key = {"Idempotency-Key": "push-1"}
    first = send(client, shop(), "again:1", **key)
    again = send(client, shop(), "again:1", **key)
    assert first.body == again.body
    assert again.headers["Idempotency-Replayed"] == "true"
    other = send(client, shop(**{"x.txt": "x"}), "again:2", **key)
    assert (other.status, other.data["code"]) == (422, "key-reused")


def test_a_package_is_removed_when_nothing_needs_it(client: Client, server: Served) -> None:
    archive = shop(**{"gone.txt": "x"})
    digest = send(client, archive, "gone:1").data["digest"]
    client.do("POST", "projects", {"name": "other"})
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/zip"}
    with urllib3.PoolManager(retries=False) as pool:
        url = f"{client.url}{API}/projects/other/packages"
        assert pool.request("POST", url, body=archive, headers=headers).status == 201
    path = server.home / "packages" / digest[:2] / f"{digest}.csar"
    assert client.ask("DELETE", f"{PACKAGES}/gone:1").status == 204
    assert client.ask("GET", f"{PACKAGES}/{digest}").status == 404
    assert path.exists()
    assert client.ask("DELETE", "projects/other").data["code"] == "in-use"
    assert client.ask("DELETE", f"projects/other/packages/{digest}").status == 204
    assert not path.exists()


def test_what_a_killed_server_has_left_is_removed_at_its_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Served(home) as server:
        client = server.admin()
        client.do("POST", "projects", {"name": "default"})
        digest = send(client, shop()).data["digest"]
    left = [home / "packages" / ".new-00.csar", home / "packages" / "00" / f"{'0' * 64}.csar"]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    with Served(home) as server:
        assert kept(server) == {f"packages/{digest[:2]}/{digest}.csar"}
        assert send(server.admin(), shop()).data["digest"] == digest
