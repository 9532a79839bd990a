"""The inputs of a service as an ensemble has them: what forms are made of, and what is found about other values."""

from __future__ import annotations

from typing import Any

from tests.server.conftest import CANARY
from tests.server.test_packages import send, shop
from tests.support.serving import Client, Served

PROJECT = "projects/default"
E = f"{PROJECT}/ensembles/new"


def made(served: Served, admin: Client) -> Client:
    """The admin of a server with an ensemble of a package, of which nothing is deployed."""
    assert send(admin, shop(), "shop:2.4").status in (200, 201)
    if admin.ask("GET", E).status == 404:
        admin.do("POST", f"{PROJECT}/ensembles", {"name": "new", "package": "shop:2.4"})
    return admin


def by_name(found: Any) -> dict[str, Any]:
    return {one["input"]["name"]: one for one in found["inputs"]}


def test_inputs_are_told_with_what_they_would_be(served: Served, admin: Client) -> None:
    found = made(served, admin).get(f"{E}/inputs")
    inputs = by_name(found)
    assert found["valid"]
    assert inputs["port"]["input"]["type"] == "integer"
    assert inputs["port"]["input"]["constraints"] == [{"greater_than": 1023}]
    assert inputs["port"]["value"] is None
    assert inputs["pass"]["input"]["sensitive"]
    assert CANARY not in str(found)


def test_findings_stand_at_their_inputs(served: Served, admin: Client) -> None:
    client = made(served, admin)
    asked = {"package": "shop:2.4", "input_texts": {"port": "80"}}
    found = client.do("POST", f"{E}/inputs/check", asked)
    assert not found["valid"]
    assert [one["code"] for one in by_name(found)["port"]["findings"]]
    assert by_name(found)["pass"]["findings"] == []
    assert client.do("POST", f"{E}/inputs/check", {"input_texts": {"port": "8081"}})["valid"]


def test_a_sensitive_value_is_never_told(served: Served, admin: Client) -> None:
    found = made(served, admin).do("POST", f"{E}/inputs/check", {"inputs": {"pass": ["s3cret-of-ann"]}})
    assert by_name(found)["pass"]["findings"]
    assert "s3cret-of-ann" not in str(found)


def test_a_name_that_is_no_input_is_told_beside_them(served: Served, admin: Client) -> None:
    found = made(served, admin).do("POST", f"{E}/inputs/check", {"input_texts": {"prot": "8081"}})
    assert not found["valid"]
    assert [one["code"] for one in found["diagnostics"]] == ["unknown-input"]
