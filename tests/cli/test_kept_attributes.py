"""Attributes that operations have given, in a service in which no operation gives them any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
capability_types:
  my.Port: { derived_from: tosca.capabilities.Root, attributes: { number: { type: string } } }
relationship_types:
  my.Uses: { derived_from: tosca.relationships.DependsOn, interfaces: { Configure: { operations: { PAIR } } } }
node_types:
  my.Database:
    derived_from: tosca.nodes.Root
    attributes: { NAME: { type: string } }
    capabilities: { port: my.Port }
    interfaces:
      Standard: { operations: { FIRST } }
      Maintain: { type: ordito.interfaces.Maintain, operations: { LOOKS } }
  my.User:
    derived_from: tosca.nodes.Root
    requirements:
      - database: { capability: tosca.capabilities.Node, relationship: my.Uses }
topology_template:
  node_templates:
    database: { type: my.Database }
    user: { type: my.User, requirements: [ database: database ] }
"""
GIVES = "configure: { implementation: give.sh, outputs: { address: [ SELF, address ] } }"
SAID = 'database_1 keeps the value of attribute "address" that Standard.configure has given'
STATUS = ("-e", "e", "status", "-o", "json")


class Services:
    """Versions of a service, and the ensemble in which one of them runs."""

    def __init__(self, home: Path, run: Run) -> None:
        self.home = home
        self.run = run

    def write(self, version: str, first: str, *, name: str = "address", pair: str = "", looks: str = "") -> None:
        """A version in which a database has these operations."""
        folder = self.home / version
        folder.mkdir()
        words = {"FIRST": first, "NAME": name, "PAIR": pair, "LOOKS": looks}
        text = SERVICE
        for word, written in words.items():
            text = text.replace(word, written)
        (folder / "service.yaml").write_text(text)
        (folder / "give.sh").write_text("address=10.0.0.1 number=5432\n")

    def told(self, *words: str) -> str:
        """What a command says that ends well."""
        done = self.run("-e", "e", *words)
        assert done.code == 0, done.err
        return done.out + done.err

    @property
    def recorded(self) -> dict[str, str]:
        """The attributes of the database."""
        found = self.run(*STATUS).json["instances"]["database_1"]
        return dict(found.get("attributes", {}))


@pytest.fixture
def services(tmp_path: Path, run: Run) -> Services:
    return Services(tmp_path, run)


def test_a_value_that_nothing_gives_any_more_stays_and_that_is_said(services: Services) -> None:
    """Whether its operation is lost or only maps it no more; going back changes nothing of that."""
    services.write("one", GIVES)
    services.write("unmapped", "configure: give.sh")
    services.write("lost", "start: give.sh")
    services.told("deploy", "one", "--yes")
    for version in ("unmapped", "lost"):
        assert SAID in services.told("diff", version)
        assert SAID in services.told("upgrade", version, "--yes")
        assert services.recorded == {"address": "10.0.0.1"}
        assert "keeps" not in services.told("upgrade", "--yes")
        assert "keeps" not in services.told("rollback", "--yes")
        assert services.recorded == {"address": "10.0.0.1"}
    assert "keeps" not in services.told("upgrade", "lost", "--replace", "database", "--yes")
    assert services.recorded == {}


def test_going_back_to_where_nothing_gave_it_says_that_it_stays(services: Services) -> None:
    services.write("one", "start: give.sh")
    services.write("two", GIVES)
    services.told("deploy", "one", "--yes")
    services.told("upgrade", "two", "--yes")
    assert SAID in services.told("rollback", "--yes")
    assert services.recorded == {"address": "10.0.0.1"}


def test_an_attribute_of_a_capability_is_named_by_both(services: Services) -> None:
    services.write("one", "configure: { implementation: give.sh, outputs: { number: [ SELF, port, number ] } }")
    services.write("two", "configure: give.sh")
    services.told("deploy", "one", "--yes")
    assert 'the value of attribute "port.number"' in services.told("upgrade", "two", "--yes")


@pytest.mark.parametrize(
    ("first", "more"),
    [
        ("start: { implementation: give.sh, outputs: { address: [ SELF, address ] } }", {}),
        ("start: give.sh", {"name": "other"}),
        ("start: give.sh", {"looks": "check: give.sh"}),
        (
            "start: give.sh",
            {"pair": "add_source: { implementation: give.sh, outputs: { address: [ TARGET, address ] } }"},
        ),
    ],
    ids=["another operation gives it", "nobody can read it", "a check finds it", "a relationship gives it"],
)
def test_nothing_is_said_where_it_is_still_given_or_is_no_attribute(
    services: Services, first: str, more: dict[str, str]
) -> None:
    services.write("one", GIVES)
    services.write("two", first, **more)
    services.told("deploy", "one", "--yes")
    assert "keeps" not in services.told("diff", "two")
