"""Secrets that must not leave: put in at every door, and looked for in all that a server says and keeps."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from ordito.cli.main import run
from ordito.server.route import Route
from ordito.server.routes.table import ROUTES
from tests.cli.program import until
from tests.server.test_packages import send, shop
from tests.support.receiver import Receiver
from tests.support.serving import MANY_REQUESTS, Client, Served

SHOP = "projects/default/ensembles/shop"
GIVEN, KEPT, HOOK = "canary-given-5521", "canary-kept-8812", "canary-of-the-hook-3307"

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Said:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string, metadata: { sensitive: "true" } } }
    attributes: { heard: { type: string, metadata: { sensitive: "true" } } }
    interfaces:
      Standard:
        inputs: { word: { type: string, value: { get_property: [ SELF, word ] } } }
        operations: { create: say.sh, start: say.sh }
topology_template:
  inputs:
    pass: { type: string, metadata: { sensitive: "true" }, default: nothing }
  outputs: { key: { value: { get_input: pass }, metadata: { sensitive: "true" } } }
  node_templates:
    web: { type: Said, properties: { word: { get_input: pass } } }
"""

# It says what it was given, wherever it can, and fails with it.
SAY = """\
echo "out: $word"; echo "err: $word" >&2
[ "$word" = nothing ] || exit 1
"""


def put_in(admin: Client, receiver: Receiver) -> dict[str, str]:
    """Give the server its secrets, and let it work with them; returns what paths are about."""
    hook = {"url": receiver.url(), "secret": HOOK, "events": []}
    made = admin.do("POST", "projects/default/webhooks", hook)
    admin.do("PUT", f"{SHOP}/secrets/door", {"value": KEPT})
    job = plan = ""
    for value in (GIVEN, {"secret": "door"}):
        asked = {"request": {"workflow": "deploy", "inputs": {"pass": value}}, "apply": "auto"}
        plan = admin.do("POST", f"{SHOP}/plans", asked, {"Prefer": "wait=30"})["id"]
        until(lambda: admin.get(f"{SHOP}/plans/{plan}")["state"] == "applied")  # noqa: B023
        job = admin.get(f"{SHOP}/plans/{plan}")["job"]
    schedule = {"name": "nightly", "cron": "0 3 * * *", "request": {"workflow": "check"}}
    when = admin.do("POST", f"{SHOP}/schedules", schedule)
    admin.do("POST", "projects/default/accounts", {"name": "robot"})
    assert send(admin, shop(), "shop:1").status == 201
    samples = {"project": "default", "ensemble": "shop", "job": job, "account": "robot", "group": "none"}
    samples |= {"digest": "shop:1", "label": "shop:1", "path": "service.yaml", "code": "locked", "name": "web_1"}
    samples |= {"user": admin.get("me")["name"], "delivery": "none"}
    return {**samples, "plans": plan, "webhooks": made["id"], "schedules": str(when.get("id", "nightly"))}


def path_of(route: Route, samples: dict[str, str]) -> str:
    """A path of a route: an ``id`` is of what stands before it."""
    path = re.sub(r"(\w+)/\{id\}", lambda found: f"{found[1]}/{samples.get(found[1], 'none')}", route.template)
    name = {"nodes": "web", "types": "Said", "workflows": "deploy", "policies": "none"}
    path = re.sub(r"(\w+)/\{name\}", lambda found: f"{found[1]}/{name.get(found[1], 'web_1')}", path)
    return re.sub(r"\{(\w+)\}", lambda found: samples[found[1]], path)


def spelt(secret: str) -> list[bytes]:
    """A secret, and what becomes of it when it is written in other ways."""
    plain = secret.encode()
    found = [plain, plain.hex().encode(), plain[::-1], *(base64.b64encode(b"x" * n + plain) for n in range(3))]
    # The ends of base64 depend on what stands beside it.
    return [*found[:3], *(one[4:-4] for one in found[3:])]


def test_no_secret_leaves_by_any_door(tmp_path: Path) -> None:
    ensemble = deployed_with(tmp_path)
    with Receiver() as receiver:
        settings = f'{MANY_REQUESTS}reads: [ .. ]\negress: [ "127.0.0.1:{receiver.port}" ]\n'
        with Served(tmp_path / "home", ensemble, settings=settings) as server:
            admin = server.admin()
            samples = put_in(admin, receiver)
            said: list[tuple[str, bytes]] = []
            statuses: dict[str, int] = {}
            for route in ROUTES:
                if route.method == "GET" and "oidc" not in route.path:
                    path = path_of(route, samples)
                    found = admin.ask("GET", path)
                    statuses[path] = found.status
                    said.append((path, found.body + repr(dict(found.headers)).encode()))
            of = f"default/shop/{samples['job']}"
            topics = [f"job:{of}", f"log:{of}", "ensemble:default/shop", f"plan:default/shop/{samples['plans']}",
                      "plans:default/shop", "ensembles", "inbox", "audit"]  # fmt: skip
            said += [(topic, admin.ask("GET", "events", topic=topic).body) for topic in topics]
            until(lambda: not receiver.is_quiet)
            while not receiver.is_quiet:
                came = receiver.next()
                said.append(("webhook", came.body + repr(came.headers).encode()))
            wrong = {path: status for path, status in statuses.items() if status not in (200, 404)}
            assert sum(status == 200 for status in statuses.values()) > 60, statuses
            # What asks for a parameter is refused without one, in words that hold nothing either.
            assert set(wrong.values()) <= {400, 405, 409, 422}, wrong
        for folder in (tmp_path / "home", ensemble):
            said += [(str(path), path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    words = [variant for secret in (GIVEN, KEPT, HOOK, admin.token) for variant in spelt(secret)]
    assert [(where, word) for where, text in said for word in words if word in text] == []
    assert any(b"out: " in text for where, text in said if where.startswith("/api"))


def deployed_with(place: Path) -> Path:
    """The ensemble, whose operations say what they are given."""
    (place / "say.sh").write_text(SAY)
    (place / "service.yaml").write_text(SERVICE)
    assert run(["-e", str(place / "shop"), "-q", "deploy", str(place / "service.yaml"), "--yes"]) == 0
    return place / "shop"
