"""A project with packages and a deployed ensemble that tests of pages may change."""

from __future__ import annotations

from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.serving import Client

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop, template_version: "1.0", template_author: Ann }
description: What the team sells.
node_types:
  Shop:
    derived_from: tosca.nodes.SoftwareComponent
    description: Sells things.
    properties:
      port: { type: integer, default: 8080, constraints: [ in_range: [ 1024, 65535 ] ] }
    interfaces:
      Standard:
        operations: { create: scripts/say.sh, start: scripts/stay.sh }
topology_template:
  inputs:
    port: { type: integer, default: 8080, description: Where it listens. }
    password: { type: string, required: false, metadata: { sensitive: "true" } }
  node_templates:
    front: { type: tosca.nodes.Compute }
    web:
      type: Shop
      properties: { port: { get_input: port } }
      requirements: [ host: front ]
  workflows:
    greet:
      steps:
        say: { target: web, activities: [ call_operation: Standard.create ] }
"""
SCRIPT = "#!/bin/sh\n# Says what it does.\necho selling\n"
NEWER = SCRIPT + "echo more\n"


def archive(script: str = SCRIPT, version: str = "1.0") -> bytes:
    """The archive of a version of the service."""
    return packed(
        {
            META_PLACE: META,
            "service.yaml": SERVICE.replace('"1.0"', f'"{version}"'),
            "scripts/say.sh": script,
            "scripts/stay.sh": SCRIPT,
        }
    )


def make_team(admin: Client, project: str, *, deploys: bool = False) -> None:
    """A project of ``ann``, with two packages, ``shop:1.0`` and ``shop:2.0``, and the ensemble ``prod`` of the first;
    if it ``deploys``, both were deployed there, one after the other."""
    admin.do("POST", "projects", {"name": project, "description": f"What {project} sells"})
    tag = str(admin.ask("GET", f"projects/{project}/bindings").headers["ETag"])
    bindings = [{"kind": "user", "who": "ann", "role": "owner"}, {"kind": "user", "who": "vera", "role": "viewer"}]
    admin.do("PUT", f"projects/{project}/bindings", {"bindings": bindings}, {"If-Match": tag})
    assert send_package(admin, project, archive(), "shop:1.0").status == 201
    assert send_package(admin, project, archive(NEWER, "2.0"), "shop:2.0").status == 201
    admin.do("POST", f"projects/{project}/ensembles", {"name": "prod", "package": "shop:1.0"})
    if deploys:
        carry_out(admin, project, {"workflow": "deploy"})
        carry_out(admin, project, {"workflow": "upgrade", "package": "shop:2.0"})


def carry_out(admin: Client, project: str, request: dict[str, object]) -> None:
    """Have something planned and carried out in the ensemble ``prod``, and wait until it is."""
    body = {"request": request, "apply": "auto", "bind": "latest"}
    plan = admin.do("POST", f"projects/{project}/ensembles/prod/plans", body, {"Prefer": "wait=30"})
    while plan["state"] in ("planning", "ready", "queued", "starting", "running"):
        admin.get("events", topic=f"plan:{plan['id']}", wait=5)
        plan = admin.get(f"projects/{project}/ensembles/prod/plans/{plan['id']}")
    assert plan["state"] == "applied", plan
