"""Which nodes must reach each other, and where."""

from __future__ import annotations

from pathlib import Path

from ordito.model.connections import End, NodeConnection, Ports, connections
from ordito.syntax.expressions import Call
from tests.model.test_rules import resolved

TYPES = """tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.App:
    derived_from: SoftwareComponent
    capabilities: { service: Endpoint, database: Endpoint }
    requirements:
      - database: { capability: Endpoint, relationship: ConnectsTo, occurrences: [ 0, UNBOUNDED ] }
      - plain: { capability: Endpoint, relationship: ConnectsTo, occurrences: [ 0, UNBOUNDED ] }
topology_template:
  inputs:
    port: { type: PortDef, default: 5432 }
  node_templates:
    front: { type: Compute }
    back: { type: Compute }
"""


def found(folder: Path, text: str) -> dict[str, NodeConnection]:
    """The connections of a template, by the keys of their relationships."""
    return {c.relationship: c for c in connections(resolved(folder, TYPES + text).nodes)}


def test_a_connection_without_any_network(tmp_path: Path) -> None:
    """R-8.1-1, R-8.2-1: source, address and port, target, address and port follow from endpoint and relationship; the
    address is that of the Compute at the bottom."""
    text = """
    app: { type: my.App, requirements: [ host: front, plain: store ] }
    store:
      type: my.App
      capabilities: { service: { properties: { port: 80, protocol: http, network_name: PUBLIC } } }
      requirements: [ host: back ]
    idle: { type: my.App, requirements: [ host: back, dependency: store ] }
"""
    assert found(tmp_path, text) == {
        "app.plain": NodeConnection(
            source=End("app", "front"),
            target=End("store", "back", "service", "PUBLIC"),
            ports=(Ports("http", target=80),),
            initiator="source",
            secure=False,
            relationship="app.plain",
        )
    }


def test_ports_of_both_ends_are_united(tmp_path: Path) -> None:
    """R-8.3.2-1: all ports of the endpoints at both ends; source and target follow the relationship's direction."""
    text = """
    app:
      type: my.App
      capabilities:
        database:
          properties:
            port: 4000
            ports: { same: { target_range: [ 90, 99 ] }, more: { source: 1, target: 2, protocol: udp } }
      requirements: [ host: front, database: { node: store, capability: service } ]
    store:
      type: my.App
      capabilities:
        service:
          properties:
            port: { get_input: port }
            ports: { one: { target_range: [ 90, 99 ] } }
      requirements: [ host: back ]
"""
    (connection,) = found(tmp_path, text).values()
    first, *others = connection.ports
    assert isinstance(first.target, Call)
    assert others == [Ports("tcp", target=[90, 99]), Ports("tcp", source=4000), Ports("udp", source=1, target=2)]
    assert connection.source == End("app", "front", "database", "PRIVATE")


def test_peers(tmp_path: Path) -> None:
    """R-8.3.1-4: the instances of a node whose endpoint says peer must reach each other, with no relationship."""
    text = """
    member:
      type: my.App
      capabilities: { service: { properties: { port: 7, initiator: peer } } }
      requirements: [ host: front ]
"""
    end = End("member", "front", "service", "PRIVATE")
    assert found(tmp_path, text) == {"": NodeConnection(end, end, (Ports("tcp", target=7),), "peer", False)}


def test_the_initiator_orders_nothing(tmp_path: Path) -> None:
    """R-8.3.1-2: the relationship has its direction whoever begins the connection."""
    text = """
    app:
      type: my.App
      capabilities: { database: { properties: { initiator: target } } }
      requirements: [ host: front, database: { node: store, capability: service } ]
    store:
      type: my.App
      capabilities: { service: { properties: { port: 7, initiator: target } } }
      requirements: [ host: back ]
"""
    connection = found(tmp_path, text)["app.database"]
    assert (connection.source.node, connection.target.node, connection.initiator) == ("app", "store", "target")
    assert connection.ports == (Ports("tcp", target=7),)


def test_nodes_that_stand_on_nothing(tmp_path: Path) -> None:
    """R-8.2-1: a node that is on no Compute has no address of one."""
    text = """
    balancer: { type: LoadBalancer, requirements: [ application: files ] }
    files: { type: ObjectStorage, capabilities: { storage_endpoint: { properties: { port: 1, secure: true } } } }
"""
    connection = found(tmp_path, text)["balancer.application"]
    assert connection.source == End("balancer", "")
    assert connection.target == End("files", "", "storage_endpoint", "PRIVATE")
    assert connection.secure is True
