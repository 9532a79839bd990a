"""The service of an ensemble as it was deployed, in each of its revisions; and what the server is made of."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.server.conftest import deployed
from tests.support.serving import MANY_REQUESTS, Client, Served

SERVICE = "projects/default/ensembles/shop/service"


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Who may do everything, with an ensemble of two revisions: the first has a property less."""
    place = tmp_path_factory.mktemp("shop")
    ensemble = deployed(place)
    file = place / "service.yaml"
    file.write_text(
        file.read_text().replace(
            "    properties: {", "    # more\n    properties: { size: { type: integer, default: 1 },"
        )
    )
    (place / "say.sh").write_text("echo second\n")
    words = ["-e", str(ensemble), "-q", "upgrade", "--yes"]
    assert subprocess.run([sys.executable, "-m", "ordito", *words], check=False).returncode == 0
    with Served(tmp_path_factory.mktemp("home"), ensemble, settings=MANY_REQUESTS) as server:
        yield server.admin()


def test_files_are_those_of_the_revision(admin: Client) -> None:
    now, first = (admin.get(f"{SERVICE}/files/say.sh", **words)["text"] for words in ({}, {"revision": 1}))
    assert now == "echo second\n"
    assert "says hello" in first
    assert admin.get(f"{SERVICE}/files/say.sh", revision=2)["text"] == now
    answer = admin.ask("GET", f"{SERVICE}/files/say.sh?revision=9")
    assert (answer.status, answer.data["code"]) == (404, "unknown-revision")
    assert admin.ask("GET", f"{SERVICE}/files/sya.sh").data["code"] == "unknown-file"


def test_what_is_in_it_is_that_of_the_revision(admin: Client) -> None:
    for words in ({}, {"revision": 1}):
        found = admin.get(SERVICE, **words)
        assert (found["entry"], found["files"]) == ("service.yaml", ["say.sh", "service.yaml"])


def test_types_are_those_of_the_revision(admin: Client) -> None:
    now, first = (admin.get(f"{SERVICE}/types/Said", **words) for words in ({}, {"revision": 1}))
    assert set(now["properties"]) - set(first["properties"]) == {"size"}
    assert now["declared"].startswith("service.yaml:"), "no path of the server's machine is told"


def test_an_answer_is_not_sent_again_while_nothing_has_changed(admin: Client) -> None:
    answer = admin.ask("GET", SERVICE)
    again = admin.ask("GET", SERVICE, headers={"If-None-Match": str(answer.headers["ETag"])})
    assert (answer.status, again.status) == (200, 304)


def test_the_server_says_what_it_is_made_of(admin: Client) -> None:
    found = admin.get("about")
    parts = {one["name"].lower(): one for one in found["parts"]}
    assert parts["starlette"]["licence"].startswith("BSD")
    assert all(one["version"] for one in found["parts"])
    assert "pytest" not in parts, "only what a server needs"
    assert 0 < found["disk_free"] <= found["disk_size"]
    assert found["database"].startswith("SQLite 3.")
