"""Topologies in a few words: what scenario tests write, as the text of a TOSCA service template.

    nodes:
      host: { compute: true, count: 2, runs: create start stop delete }
      web: { hosted_on: host, count: 3, runs: all, needs: { db: pre_configure_source add_target remove_target } }

Each node has a type of its own, and each requirement a relationship type of its own, so that exactly the operations
that are named have an implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.yaml_files import write_yaml

SCRIPT = "do.sh"
STANDARD = ("create", "configure", "start", "stop", "delete")
KINDS = {"hosted_on": "tosca.relationships.HostedOn", "needs": "tosca.relationships.DependsOn"}
KINDS["connects"] = "tosca.relationships.ConnectsTo"
CAPABILITY = {"hosted_on": "tosca.capabilities.Container", "needs": "tosca.capabilities.Node"}
CAPABILITY["connects"] = "tosca.capabilities.Endpoint"
NAMED = {"hosted_on": "carrier", "connects": "access"}
"""The capabilities that are meant where a node may have several of the kind."""

Tree = dict[str, Any]


def service_text(given: Mapping[str, Any]) -> str:
    """The service template. ``nodes`` as above, where a node may also have ``is`` (what its type derives from),
    ``connects`` (like ``needs``, by ConnectsTo), ``maintain`` (operations of that interface), ``cloudify`` (operations
    of interfaces of that profile, ``lifecycle.create``), and further keys of its ``type`` and ``template``. Operations
    of relationships are those of Configure, and ``source.establish`` of the Cloudify ones; ``root`` and ``topology``
    are further keys of the service and topology template."""
    nodes: Mapping[str, Mapping[str, Any]] = {name: node or {} for name, node in given["nodes"].items()}
    node_types: Tree = {}
    relationship_types: Tree = {}
    templates: Tree = {}
    for name, node in nodes.items():
        node_types[_type(name)] = _node_type(name, node, relationship_types)
        templates[name] = _template(name, node)
    document: Tree = {"tosca_definitions_version": "tosca_simple_yaml_1_3", "metadata": {"template_name": "scenario"}}
    root = dict(given.get("root", {}))
    if imports := [*_profiles(nodes), *root.pop("imports", [])]:
        document["imports"] = imports
    document["node_types"] = {**node_types, **root.pop("node_types", {})}
    document["relationship_types"] = {**relationship_types, **root.pop("relationship_types", {})}
    document.update(root)
    topology = dict(given.get("topology", {}))
    more = topology.pop("node_templates", {})
    document["topology_template"] = {"node_templates": {**templates, **more}, **topology}
    return write_yaml(document)


def _profiles(nodes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    if any("maintain" in node for node in nodes.values()):
        found.append("profile:ordito")
    words = [o for node in nodes.values() for kind in KINDS for o in _targets(node.get(kind)).values()]
    if any("cloudify" in node for node in nodes.values()) or any("." in o for o in words):
        found.append("profile:cloudify")
    return found


def _type(name: str) -> str:
    return f"own.{name}"


def _node_type(name: str, node: Mapping[str, Any], relationship_types: Tree) -> Tree:
    base = node.get("is") or ("tosca.nodes.Compute" if node.get("compute") else "tosca.nodes.Root")
    made: Tree = {"derived_from": base}
    made["capabilities"] = {
        "carrier": {"type": "tosca.capabilities.Container"},
        "access": {"type": "tosca.capabilities.Endpoint"},
    }
    requirements: list[Tree] = []
    for kind in ("hosted_on", "needs", "connects"):
        for target, operations in _targets(node.get(kind)).items():
            own = f"own.{name}.{kind}.{target}"
            relationship_types[own] = _relationship_type(kind, operations)
            wanted = {"capability": CAPABILITY[kind], "relationship": own, "occurrences": [0, "UNBOUNDED"]}
            requirements.append({_requirement(kind, target): wanted})
    if requirements:
        made["requirements"] = requirements
    interfaces: Tree = {}
    if runs := _words(node.get("runs", "")):
        interfaces["Standard"] = {
            "type": "tosca.interfaces.node.lifecycle.Standard",
            "operations": dict.fromkeys(runs, SCRIPT),
        }
    if maintain := _words(node.get("maintain", "")):
        interfaces["Maintain"] = {
            "type": "ordito.interfaces.Maintain",
            "operations": dict.fromkeys(maintain, SCRIPT),
        }
    for word in node.get("cloudify", "").split():
        interface, _, operation = word.rpartition(".")
        kind = f"cloudify.interfaces.{interface}"
        interfaces.setdefault(kind, {"type": kind, "operations": {}})["operations"][operation] = SCRIPT
    more = dict(node.get("type", {}))
    interfaces.update(more.pop("interfaces", {}))
    if interfaces:
        made["interfaces"] = interfaces
    return {**made, **more}


def _relationship_type(kind: str, operations: str) -> Tree:
    made: Tree = {"derived_from": KINDS[kind]}
    interfaces: Tree = {}
    for word in operations.split():
        name, dot, operation = word.rpartition(".")
        is_type = "cloudify.interfaces.relationship_lifecycle" if dot else "tosca.interfaces.relationship.Configure"
        interface = interfaces.setdefault(name or "Configure", {"type": is_type, "operations": {}})
        interface["operations"][operation] = SCRIPT
    if interfaces:
        made["interfaces"] = interfaces
    return made


def _template(name: str, node: Mapping[str, Any]) -> Tree:
    made: Tree = {"type": _type(name)}
    if "maintain" in node:
        made["metadata"] = {"ordito.ready": 0}  # What is not ok at once will not be.
    if "count" in node:
        made |= {"occurrences": [0, "UNBOUNDED"], "instance_count": node["count"]}
    requirements: list[Tree] = [
        {_requirement(kind, target): {"node": target, "capability": NAMED[kind]} if kind in NAMED else target}
        for kind in ("hosted_on", "needs", "connects")
        for target in _targets(node.get(kind))
    ]
    if requirements:
        made["requirements"] = requirements
    return {**made, **node.get("template", {})}


def _requirement(kind: str, target: str) -> str:
    return "host" if kind == "hosted_on" else target if kind == "needs" else f"to_{target}"


def _targets(given: object) -> dict[str, str]:
    """The targets of one kind of requirement, each with the operations of its relationship."""
    if given is None:
        return {}
    if isinstance(given, str):
        return dict.fromkeys(given.split(), "")
    if isinstance(given, list):
        return dict.fromkeys(given, "")
    assert isinstance(given, dict)
    return {target: operations or "" for target, operations in given.items()}


def _words(given: str) -> tuple[str, ...]:
    return STANDARD if given == "all" else tuple(given.split())
