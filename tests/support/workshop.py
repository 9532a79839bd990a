"""A server with users of every role and ensembles that tests change: each makes its own, of a package."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.support.browsing import Tab, cookie_of, open_tab
from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.serving import MANY_REQUESTS, Answer, Client, Served, until

USERS = {"ann": "owner", "ben": "deployer", "cy": "approver", "vera": "viewer"}
SENSITIVE = "canary-of-the-workshop"

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop, template_version: "VERSION" }
node_types:
  App:
    derived_from: tosca.nodes.SoftwareComponent
    properties:
      port: { type: integer, required: false }
      word: { type: string, required: false, metadata: { sensitive: "true" } }
    interfaces:
      Standard:
        operations:
          create: { implementation: say.sh, inputs: { fails: { get_input: fails } } }
          start: say.sh
          stop: say.sh
          delete: say.sh
topology_template:
  inputs:
    port:
      type: integer
      default: 8080
      constraints: [ in_range: [ 1024, 65535 ] ]
      description: Where the shop listens
    domain: { type: string, default: shop.example, description: Its name for visitors }
    fails: { type: boolean, default: false, description: "Whether it fails, to see how that looks" }
    size: { type: string, default: small, constraints: [ valid_values: [ small, large ] ] }
    hosts: { type: list, entry_schema: { type: string }, default: [ ] }
    limits: { type: map, entry_schema: { type: integer }, default: { } }
    password: { type: string, default: CANARY, metadata: { sensitive: "true" }, description: Of the database }
  node_templates:
    front: { type: tosca.nodes.Compute, occurrences: [ 1, 12 ] }
    web:
      type: App
      properties: { port: { get_input: port } }
      requirements: [ host: front, dependency: store ]
    back: { type: tosca.nodes.Compute }
    store: { type: App, properties: { word: { get_input: password } }, requirements: [ host: back ]MORE }
  workflows:
    greet:
      description: Say hello to somebody
      inputs:
        whom: { type: string, description: Who is greeted }
        times: { type: integer, default: 1 }
      steps:
        hello: { target: web, activities: [ call_operation: Standard.start ] }
"""
SAY = """\
#!/bin/sh
echo "$ORDITO_STEP on its way"
if [ "$fails" = true ]; then echo "no room left on the disk" >&2; exit 1; fi
"""


def package(version: str = "1.0", **changes: str) -> bytes:
    """The archive of the shop, in some version; ``changes`` are texts of its template that are replaced."""
    service = SERVICE.replace("VERSION", version).replace("CANARY", SENSITIVE).replace("MORE", "")
    for before, after in changes.items():
        service = service.replace(before, after)
    return packed({META_PLACE: META, "service.yaml": service, "say.sh": SAY})


class Workshop:
    """The server, its first user, and what tests do in a line."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.admin = served.admin()
        self.admin.do("POST", "projects", {"name": "default"})
        for name in USERS:
            self.admin.do("POST", "users", {"name": name, "admin": name == "ann"})
        bindings = [{"kind": "user", "who": name, "role": role} for name, role in USERS.items()]
        tag = str(self.admin.ask("GET", "projects/default/bindings").headers.get("ETag", ""))
        self.admin.do("PUT", "projects/default/bindings", {"bindings": bindings}, {"If-Match": tag})
        self._cookies = {name: cookie_of(served, self.admin, name) for name in USERS}
        self._numbers = itertools.count(1)
        self.send(package(), "shop:1.0")

    def send(self, archive: bytes, label: str) -> str:
        """Send a package; gives its digest."""
        answer = send_package(self.admin, "default", archive, label)
        assert answer.status == 201, answer
        return hashlib.sha256(archive).hexdigest()

    def make(self, name: str = "", package: str = "shop:1.0") -> str:
        """A new ensemble, of which nothing is deployed."""
        name = name or f"made-{next(self._numbers)}"
        self.admin.do("POST", "projects/default/ensembles", {"name": name, "package": package})
        return name

    def deployed(self, name: str = "", **inputs: str) -> str:
        """A new ensemble that is deployed."""
        name = self.make(name)
        self.carry_out(name, {"workflow": "deploy", "input_texts": inputs})
        return name

    def plan(self, name: str, request: Mapping[str, Any], user: str = "", **more: Any) -> Any:
        """Ask for a plan and wait until it is made. By default the first user asks."""
        client = self.client(user) if user else self.admin
        path = f"{E}/{name}/plans"
        made = client.do("POST", path, {"request": request, **more}, {"Prefer": "wait=30"})
        return until(lambda: client.get(f"{path}/{made['id']}"), lambda plan: plan["state"] != "planning")

    def carry_out(self, name: str, request: Mapping[str, Any]) -> Any:
        """Carry something out, and wait until its job has ended, well or not."""
        made = self.plan(name, request, apply="auto")
        path = f"{E}/{name}/plans/{made['id']}"
        return until(lambda: self.admin.get(path), lambda plan: plan["state"] in ("applied", "empty", "refused"))

    def needs_approval(self, name: str, *workflows: str) -> None:
        """Let plans of an ensemble need one approval."""
        rules = {"rules": [{"when": {"workflows": list(workflows)}}]}
        self.admin.do("PUT", f"{E}/{name}/rules", rules, {"If-Match": "*"})

    def client(self, user: str) -> Client:
        """Somebody who asks the API."""
        name, value = self._cookies[user]
        return SessionClient(self.served.url, f"{name}={value}")

    def tab(self, browser: Browser, user: str = "ann", **options: Any) -> Tab:
        """A tab of somebody."""
        return open_tab(browser, self.served.url, self._cookies[user], **options)


E = "projects/default/ensembles"


class SessionClient(Client):
    """Who is signed in by a cookie, as a browser is."""

    def __init__(self, url: str, cookie: str) -> None:
        super().__init__(url)
        self.cookie = cookie

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Answer:
        return super().ask(method, path, body, {"Cookie": self.cookie, "Origin": self.url, **(headers or {})}, **query)


def workshop(home: Path) -> Served:
    """A server for it; to be entered."""
    return Served(home, settings=MANY_REQUESTS)
