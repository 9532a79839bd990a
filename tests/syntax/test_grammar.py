"""The declared grammar: dialects as tables of differences, and entries that could not be read."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ordito.base.diagnostics import Diagnostics
from ordito.source.loader import load
from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.dialects import TOSCA_1_3
from ordito.syntax.entities import NodeTemplate
from ordito.syntax.expressions import Call, as_written, calls, is_static
from ordito.syntax.functions import call_in, meant_function, read_untyped
from ordito.syntax.grammar import Dialect, Entity, Key, Reading, read_entity
from ordito.syntax.service_file import read_service_file
from ordito.syntax.service_template import ServiceFile
from ordito.syntax.shapes import Entries, EntryList, Flag, Many, Named, NamedList, Text, Whole, is_lost


class Leaf(Entity, frozen=True, eq=False, kw_only=True):
    """An entity for these tests."""

    SHORT: ClassVar[str] = "text"
    WHAT: ClassVar[str] = "leaf"

    text: Annotated[Scalar, Key(Text(), required=True)]
    old: Annotated[bool | None, Key(Flag(), instead="text")] = None
    number: Annotated[int | None, Key(Whole(), written="the-number")] = None


class Tree(Entity, frozen=True, eq=False, kw_only=True):
    """An entity that holds others."""

    WHAT: ClassVar[str] = "tree"

    named: Annotated[dict[str, Leaf] | None, Key(Named(Leaf))] = None
    ordered: Annotated[list[Leaf] | None, Key(NamedList(Leaf))] = None
    texts: Annotated[list[Scalar] | None, Key(Many(Text()))] = None


def node_of(text: str) -> Node:
    """The root of a text's tree."""
    document = load("file.yaml", text.encode(), Diagnostics())
    assert document is not None
    return document.root


def tree(text: str, dialect: Dialect = TOSCA_1_3) -> tuple[Tree | None, list[str]]:
    """A tree as it is read, with the codes of what was found."""
    diagnostics = Diagnostics()
    read = read_entity(Tree, node_of(text), Reading(diagnostics, dialect))
    return read, [d.code for d in diagnostics]


def test_short_and_extended_forms() -> None:
    """A single value stands for the keyname that the entity names; keynames may be written otherwise than fields."""
    read, found = tree("named: { a: x, b: { text: y, the-number: 3 } }")
    assert found == []
    assert read is not None
    assert read.named is not None
    assert {n: (leaf.text.text, leaf.number) for n, leaf in read.named.items()} == {"a": ("x", None), "b": ("y", 3)}
    assert [leaf.name for leaf in read.named.values()] == ["a", "b"]


def test_lost_entries() -> None:
    """What could not be read is remembered, so that nobody reports that it is missing."""
    read, found = tree("named: { a: x, b: [ y ], c: {} }\nordered: [ p: x, q: [ x ], [ r ] ]\ntexts: [ x, [ y ] ]")
    assert found == ["wrong-form", "missing-keyname", "wrong-form", "wrong-form", "wrong-form"]
    assert read is not None
    assert isinstance(read.named, Entries)
    assert isinstance(read.ordered, EntryList)
    assert [is_lost(read.named, n) for n in "abcd"] == [False, True, True, False]
    assert read.ordered.lost == {"q"}
    assert is_lost(read.ordered, "anything")
    assert is_lost(read.texts, "anything")
    assert not is_lost(None, "anything")
    whole, found = tree("named: [ a ]")
    assert found == ["wrong-form"]
    assert whole is not None
    assert is_lost(whole.named, "anything")


def test_misspelt_keynames_are_read() -> None:
    """A keyname that is surely meant is read as if it had been written; one that may be meant is only suggested."""
    read, found = tree("namd: { a: x }\nnumber: 1")
    assert found == ["unknown-keyname", "unknown-keyname"]
    assert read is not None
    assert read.named is not None
    assert list(read.named) == ["a"]


def test_dialects_are_tables() -> None:
    """R-3.1.2-2: a dialect adds, replaces and removes keynames of the base grammar."""
    other = Dialect(
        "other", "urn:other", {Leaf: {"old": None, "text": Key(Whole(), required=True)}, Tree: {"texts": None}}
    )
    read, found = tree("named: { a: { text: 5 } }\ntexts: []", other)
    assert found == ["unknown-keyname"]
    assert read is not None
    assert read.named is not None
    text: object = read.named["a"].text
    assert text == 5
    assert tree("named: { a: { text: 5, old: true } }\ntexts: []")[1] == ["deprecated"]


def test_service_file() -> None:
    """R-2.1-2, R-3.1.2-1: the version chooses the grammar; without it nothing is a service template."""

    def codes(text: str) -> list[tuple[str, str]]:
        diagnostics = Diagnostics()
        document = load("file.yaml", text.encode(), diagnostics)
        assert document is not None
        read = read_service_file(document, diagnostics)
        assert (read is None) == diagnostics.has_errors
        return [(d.code, d.hint) for d in diagnostics]

    assert codes("tosca_definitions_version: tosca_simple_yaml_1_3") == []
    assert codes("tosca_definitions_version: http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3") == []
    assert codes("metadata: {}\ntosca_definitions_version: tosca_simple_yaml_1_3") == [
        ("version-not-first", "move it up")
    ]
    assert codes("tosca_definitions_version: tosca_simple_yaml_9_9") == [
        (
            "unknown-version",
            "known here: tosca_simple_yaml_1_0, tosca_simple_yaml_1_1, tosca_simple_yaml_1_2, tosca_simple_yaml_1_3",
        )
    ]
    assert codes("tosca_definitions_version: cloudify_dsl_1_3") == [
        (
            "unknown-version",
            "this is a blueprint of Cloudify, whose types are in profile:cloudify; tosca_simple_yaml_1_3 is read here",
        )
    ]
    assert codes("description: x") == [("missing-keyname", "add tosca_definitions_version")]
    assert [c for c, _ in codes("tosca_definitions_version: [ 1 ]")] == ["wrong-form"]
    assert [c for c, _ in codes("text")] == ["wrong-form"]


def test_places_of_entities() -> None:
    """An entity stands where its name does."""
    text = (
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    a: { type: x }\n"
    )
    diagnostics = Diagnostics()
    document = load("file.yaml", text.encode(), diagnostics)
    assert document is not None
    read = read_service_file(document, diagnostics)
    assert isinstance(read, ServiceFile)
    assert read.topology_template is not None
    assert read.topology_template.node_templates is not None
    template = read.topology_template.node_templates["a"]
    assert isinstance(template, NodeTemplate)
    assert str(template.span) == "file.yaml:4:5"
    assert str(template.at.span) == "file.yaml:4:8"


def test_calls() -> None:
    """R-3.6.11-3: a map with one key that is a function's name is a call, wherever it stands."""
    diagnostics = Diagnostics()
    value = read_untyped(
        node_of(
            "a: [ 1, { get_input: x }, { concat: [ b, { get_property: [ SELF, c, 0 ] } ] } ]\nd: { get_input: y, z: 1 }"
        ),
        diagnostics,
    )
    assert isinstance(value, dict)
    assert not diagnostics.has_errors
    assert not is_static(value)
    assert is_static(value["d"])
    assert [c.function for c in calls(value)] == ["get_input", "concat", "get_property"]
    inner = value["a"]
    assert isinstance(inner, list)
    call = inner[1]
    assert isinstance(call, Call)
    assert str(call.span) == "file.yaml:1:9"
    assert as_written(value) == {
        "a": [1, {"get_input": "x"}, {"concat": ["b", {"get_property": ["SELF", "c", 0]}]}],
        "d": {"get_input": "y", "z": 1},
    }


def test_what_looks_like_a_call() -> None:
    """A function that is misspelt is data, but not silently."""
    diagnostics = Diagnostics()
    assert read_untyped(node_of("{ get_inptu: x }"), diagnostics) == {"get_inptu": "x"}
    assert [(str(d.severity), d.code, d.hint) for d in diagnostics] == [
        ("warning", "no-call", 'did you mean "get_input"?')
    ]
    for text in ("{ getaway: x }", "{ tokens: 1 }", "{ get_inptu: x, y: z }", "[ get_inptu ]", "{ get_input: x }"):
        assert meant_function(node_of(text)) == ""
    assert call_in(node_of("{ get_input: x }")) == "get_input"
    assert isinstance(node_of("{ get_input: x }"), Mapping)
