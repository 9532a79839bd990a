"""`ordito explain TYPE[.member]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.authoring.explain_words import explain_keyname, explain_word
from ordito.authoring.keynames import keyname_names
from ordito.base.diagnostics import Diagnostics
from ordito.instances.states import TRANSITIONS
from ordito.instances.status import WORSE
from ordito.model.catalogue import ASKED, Catalogue, read_types
from ordito.model.constraints import OPERATORS
from ordito.model.operation import KEYWORDS
from ordito.model.settings import ELSEWHERE, KNOWN, OF_OPERATIONS
from ordito.model.templates import DIRECTIVES
from ordito.model.unit import KINDS
from ordito.source.opening import open_package
from ordito.syntax.activities import KINDS as KINDS_OF_ACTIVITIES
from ordito.syntax.conditions import OPERATORS as OF_CONDITIONS
from ordito.syntax.functions import FUNCTIONS
from tests.cli.program import DATA, Run

SHOP = DATA.parent.parent / "examples" / "shop"

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Place:
    properties: { street: { type: string, description: without the number }, next: { type: my.Place, required: false } }
capability_types:
  my.Door: { derived_from: tosca.capabilities.Root, properties: { width: { type: integer } } }
interface_types:
  my.Clean: { derived_from: tosca.interfaces.Root, operations: { wash: { description: with water } } }
node_types:
  my.House:
    derived_from: tosca.nodes.Root
    version: 1.2.0
    properties:
      places: { type: map, entry_schema: my.Place, required: false }
      size: { type: integer, default: 3, constraints: [ in_range: [ 1, 9 ] ] }
    capabilities: { door: my.Door }
    interfaces:
      Cleaning:
        type: my.Clean
        operations: { wash: { implementation: wash.sh, inputs: { hot: { type: boolean } } } }
    artifacts: { plan: { type: tosca.artifacts.File, file: plan.txt } }
  my.Hut:
    derived_from: my.House
    description: a small house
    properties: { size: { type: integer, constraints: [ less_than: 4 ] } }
    capabilities: { door: { type: my.Door, properties: { width: { type: integer, default: 2 } } } }
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.yaml").write_text(SERVICE)
    return "mine.yaml"


def test_a_normative_type(run: Run) -> None:
    shown = run("explain", "Compute")
    assert shown.code == 0
    assert "node type tosca.nodes.Compute" in shown.out
    assert "num_cpus" in shown.out
    assert "declared in tosca.nodes.Root profile:tosca_simple_yaml_1_3/node_types.yaml:" in shown.out
    assert "capability type tosca.capabilities.Compute" in shown.out, "the name means two types"


@pytest.mark.parametrize("name", ["Compute", "tosca:Compute", "tosca.nodes.Compute"])
def test_all_names_of_a_type(run: Run, name: str) -> None:
    assert run("explain", name, "-o", "json").json["name"] == "tosca.nodes.Compute"


def test_every_type_can_be_explained(run: Run) -> None:
    """R-14.2-1: each type of the specification is known, with whatever it has."""
    found = Diagnostics()
    package = open_package(str(SHOP), found)
    assert package is not None
    types = read_types(package, found)
    assert types is not None
    assert set(ASKED) == set(KINDS)
    catalogue = Catalogue(types)
    for kind, definitions in types.units.definitions.items():
        for name in definitions:
            view = catalogue.find(kind, name)
            assert view is not None
            assert view.name == name
            for member in view.members:
                assert member.origins, f"{name}.{member.name} comes from nowhere"


def test_members(run: Run, mine: str) -> None:
    found = run("explain", "Compute.host.num_cpus", "-o", "json").json
    (part,) = found["parts"]
    assert part["type"] == "integer"
    assert part["constraints"] == [{"greater_or_equal": 1}]
    assert part["origins"][0]["type"] == "tosca.capabilities.Compute"
    assert "declared in tosca.capabilities.Compute" in run("explain", "Compute.host.num_cpus").out
    size = run("explain", "my.Hut.size", "-s", mine, "-o", "json").json["parts"][0]
    assert [origin["type"] for origin in size["origins"]] == ["my.House", "my.Hut"]
    assert size["constraints"] == [{"in_range": [1, 9]}, {"less_than": 4}]
    assert size["origins"][1]["place"] == "mine.yaml:25:19"
    width = run("explain", "my.Hut.door.width", "-s", mine).out
    assert "refined in my.Hut mine.yaml:" in width
    assert "default: 2" in width


def test_members_of_data_types_and_interfaces(run: Run, mine: str) -> None:
    street = run("explain", "my.House.places.next.next.street", "-s", mine, "-o", "json").json["parts"][0]
    assert street["description"] == "without the number"
    hot = run("explain", "my.House.Cleaning.wash.hot", "-s", mine, "-o", "json").json["parts"][0]
    assert hot["section"] == "input"
    wash = run("explain", "my.House.Cleaning.wash", "-s", mine).out
    assert "implementation: wash.sh" in wash
    assert "declared in my.Clean mine.yaml:" in wash
    assert "refined in my.House mine.yaml:" in wash


def test_a_name_of_several_parts(run: Run) -> None:
    parts = run("explain", "tosca.nodes.Container.Runtime.host", "-o", "json").json["parts"]
    assert {part["section"] for part in parts} == {"capability", "requirement"}


@pytest.mark.parametrize(("kind", "name"), [("capability", "tosca.capabilities.Compute")])
def test_the_kind_can_be_chosen(run: Run, kind: str, name: str) -> None:
    assert run("explain", "Compute", "--kind", kind, "-o", "json").json["name"] == name


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Comptue", 'did you mean "Compute"'),
        ("Compute.hots", 'did you mean "host"'),
        ("Compute.host.num_cpu", 'did you mean "num_cpus"'),
        ("my.House", "--service"),
        ("", "no type"),
        (".", "no type"),
    ],
)
def test_misspelt(run: Run, word: str, said: str) -> None:
    refused = run("explain", word)
    assert refused.code == 3
    assert said in refused.err


def test_the_command_for_a_type_of_a_service_is_named(run: Run) -> None:
    assert "`ordito explain --service SERVICE my.House`" in run("explain", "my.House").err


def test_types_of_a_broken_service_are_explained(run: Run, mine: str) -> None:
    with Path(mine).open("a") as file:
        file.write("topology_template: { node_templates: { a: { type: my.Hutt } } }\n")
        file.write("group_types: { my.Odd: { derived_from: nothing } }\n")
    shown = run("explain", "my.Hut", "-s", mine)
    assert shown.code == 0
    assert "a small house" in shown.out
    assert "not valid (1 error)" in shown.err
    assert run("explain", "my.Hut", "-s", "nowhere.yaml").code == 3


@pytest.mark.parametrize("word", ["node_template", "NodeTemplate", "node template"])
def test_keynames_of_entities(run: Run, word: str) -> None:
    shown = run("explain", word)
    assert shown.code == 0
    assert "§3.8.3" in shown.out
    assert "  type" in shown.out
    assert "required" in shown.out
    assert "a map of names, each with a capability assignment" in shown.out
    names = [keyname["name"] for keyname in run("explain", word, "-o", "json").json["keynames"]]
    assert names[:3] == ["type", "description", "metadata"]


def test_the_short_form_and_misspelt_entities(run: Run) -> None:
    assert "A single value instead gives node." in run("explain", "requirement_assignment").out
    assert 'did you mean the entity "node_template"' in run("explain", "node_templte").err


def test_primitive_types(run: Run) -> None:
    assert "type of the language itself" in run("explain", "scalar-unit.size").out


def test_functions_are_explained(run: Run) -> None:
    """Each function is shown with its forms, and a misspelt one is found."""
    shown = run("explain", "get_input")
    assert shown.code == 0
    assert "get_input: [name, key or index, ...]" in shown.out
    for name, function in FUNCTIONS.items():
        found = run("explain", name, "-o", "json").json
        assert ", or ".join(found["usage"]) == function.usage
        assert found["description"]
    assert 'the function "get_input"? Name the service' in run("explain", "getinput").err


def test_a_misspelt_error_of_commands_is_found(run: Run) -> None:
    assert 'did you mean the error "stale-plan"' in run("explain", "stale-plam").err


def test_an_unknown_part_lists_the_parts(run: Run) -> None:
    """Who asks for a part that is not there is shown those that are."""
    assert "it has: Standard, binding" in run("explain", "Compute.zork").err


LANGUAGE = [
    *OPERATORS,
    *KEYWORDS,
    *KINDS_OF_ACTIVITIES,
    *OF_CONDITIONS,
    *DIRECTIVES,
    *TRANSITIONS,
    *WORSE,
    *(f"ordito.{name}" for name in KNOWN),
    *(f"ordito.Standard.create.{name}" for name in OF_OPERATIONS),
    *ELSEWHERE,
]


def test_every_word_of_the_language_is_explained() -> None:
    """Whatever an author may write that is no name of their own: the words of constraints and conditions, keywords,
    directives, activities, states, settings, and every keyname of every entity."""
    assert [word for word in LANGUAGE if explain_word(word) is None and word not in FUNCTIONS] == []
    names = keyname_names()
    assert {"occurrences", "valid_source_types", "node_filter", "external-schema", "derived_from"} <= {*names}
    assert [name for name in names if explain_keyname(name) is None] == []


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("in_range", "in_range: [ 1, 4 ]"),
        ("SELF", "get_property: [ SELF, port ]"),
        ("occurrences", "requirement assignment"),
        ("ordito.protected", "true or false"),
        ("ordito.Standard.start.attempts", "Here for one operation: Standard.start."),
        ("ordito.allow", "wrong-source"),
        ("started", "node state"),
    ],
)
def test_a_word(run: Run, word: str, said: str) -> None:
    shown = run("explain", word)
    assert (shown.code, said in shown.out) == (0, True)
    assert run("explain", word, "-o", "json").json["name"] == word


def test_a_setting_that_is_none_is_answered_with_the_nearest(run: Run) -> None:
    for word, meant in (
        ("ordito.protcted", "ordito.protected"),
        ("ocurrences", "occurrences"),
        ("in_rnge", "in_range"),
    ):
        refused = run("explain", word)
        assert (refused.code, f'did you mean the word "{meant}"?' in refused.err) == (3, True)
    assert run("explain", "ordito.Standard.start.protected").code == 3
