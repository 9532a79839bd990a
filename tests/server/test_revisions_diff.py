"""Two revisions compared by what was deployed with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.serving import Client
from tests.support.workshop import SENSITIVE, E, Workshop, package, workshop

PATH = f"{E}/compared/revisions"


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The first user of a server with an ensemble of two revisions."""
    with workshop(tmp_path_factory.mktemp("home")) as served:
        shop = Workshop(served)
        shop.deployed("compared")
        changed = package("2.0", **{"port: { get_input: port }": "port: 9000"})
        shop.send(changed, "shop:2.0")
        values = {"domain": "other.example", "password": "canary-of-tomorrow"}
        request = {"workflow": "upgrade", "package": "shop:2.0", "input_texts": values}
        assert shop.carry_out("compared", request)["job_status"] == "ok"
        yield shop.admin


def test_what_was_declared_otherwise_is_told(admin: Client) -> None:
    found = admin.get(f"{PATH}/diff", before=1, after=2)
    [web] = [one for one in found["nodes"] if one["node"] == "web"]
    assert web["change"] == "changed"
    assert web["differences"] == [{"what": "property port", "before": {"get_input": "port"}, "after": 9000}]
    assert [one["file"] for one in found["files"] if one["change"] == "changed"] == ["service.yaml"]
    assert found["unchanged"] == 3


def test_inputs_are_told_without_secrets(admin: Client) -> None:
    found = admin.get(f"{PATH}/diff", before=1, after=2)
    inputs = {one["name"]: one for one in found["inputs"]}
    assert inputs["domain"]["after"] == "other.example"
    assert "password" in inputs
    assert SENSITIVE not in str(found)
    assert "canary-of-tomorrow" not in str(found)


def test_a_revision_is_as_itself(admin: Client) -> None:
    found = admin.get(f"{PATH}/diff", before=2, after=2)
    assert not found["nodes"] + found["files"] + found["inputs"]


def test_a_revision_that_is_not_known_is_refused(admin: Client) -> None:
    answer = admin.ask("GET", f"{PATH}/diff", before=1, after=7)
    assert answer.data["code"] == "unknown-revision"
