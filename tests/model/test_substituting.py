"""Topologies that stand for nodes: what is chosen, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.instances.context import Context
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
TYPES = f"""{HEAD}
node_types:
  my.Wall:
    derived_from: tosca.nodes.Root
    properties: {{ vendor: {{ type: string }} }}
  my.Real: {{ derived_from: tosca.nodes.Root, properties: {{ vendor: {{ type: string }} }} }}
"""


def wall(vendor: str, *, filtered: bool = True) -> str:
    """A topology that stands for a wall."""
    wanted = f"substitution_filter: {{ properties: [ vendor: {{ equal: {vendor} }} ] }}" if filtered else ""
    return f"""{HEAD}
metadata: {{ template_name: {vendor}-wall }}
imports: [ types.yaml ]
topology_template:
  inputs: {{ vendor: {{ type: string }} }}
  substitution_mappings:
    node_type: my.Wall
    {wanted}
  node_templates:
    {vendor}: {{ type: my.Real, properties: {{ vendor: {{ get_input: vendor }} }} }}
"""


MAIN = f"""{HEAD}
imports: [ types.yaml, acme.yaml, simple.yaml ]
topology_template:
  inputs: {{ vendor: {{ type: string }} }}
  node_templates:
    wall: {{ type: my.Wall, directives: [ substitute ], properties: {{ vendor: {{ get_input: vendor }} }} }}
"""


def resolve(folder: Path, files: dict[str, str], circumstances: Circumstances) -> tuple[Service | None, Diagnostics]:
    """The service of some files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    diagnostics = Diagnostics()
    package = open_package(str(folder / "service.yaml"), diagnostics)
    assert package is not None
    return resolve_service(package, diagnostics, circumstances), diagnostics


def codes(diagnostics: Diagnostics) -> list[str]:
    """What was found."""
    return [d.code for d in diagnostics]


def files(*, filtered: bool = True) -> dict[str, str]:
    """A service with a wall for which two topologies can stand."""
    acme, simple = wall("ACME", filtered=filtered), wall("Simple", filtered=filtered)
    return {"types.yaml": TYPES, "acme.yaml": acme, "simple.yaml": simple, "service.yaml": MAIN}


def test_values_choose_the_topology(tmp_path: Path) -> None:
    """R-2.12-2, R-3.8.13-3: the filter of a topology is judged by the resolved values of the node."""
    service, _ = resolve(tmp_path, files(), Circumstances(inputs={"vendor": "ACME"}, final=True))
    assert service is not None
    assert list(service.nodes) == ["wall/ACME"]
    assert service.choices.substitutes == {"wall": "acme.yaml"}
    node = service.nodes["wall/ACME"]
    evaluator = Evaluator(service, Snapshot(), {"vendor": "ACME"})
    assert evaluator.evaluate(node.properties["vendor"], Context(node=node.name)) == "ACME"


def test_without_a_topology_nothing_is_planned(tmp_path: Path) -> None:
    """R-1.9-1, R-2.10-1, R-7.2.1.1-1: a node that nothing substitutes is an error once the service is to be planned."""
    service, found = resolve(tmp_path, files(), Circumstances(inputs={"vendor": "other"}, final=True))
    assert service is None
    (only,) = found
    assert only.code == "no-substitution"
    assert 'ACME-wall: vendor is "other" and must equal "ACME"' in only.hint
    assert 'Simple-wall: vendor is "other" and must equal "Simple"' in only.hint

    service, found = resolve(tmp_path, files(), Circumstances())
    assert service is not None, "before that it is valid"
    assert codes(found) == ["substituted-later"]
    assert list(service.nodes) == ["wall"]


def test_the_user_chooses(tmp_path: Path) -> None:
    """R-2.12-1: where several topologies fit, both are named and the user chooses."""
    given = {"vendor": "x"}
    service, found = resolve(tmp_path, files(filtered=False), Circumstances(inputs=given, final=True))
    assert service is None
    (only,) = found
    assert only.code == "ambiguous-substitution"
    assert "ACME-wall (acme.yaml), Simple-wall (simple.yaml)" in only.message
    assert "--substitute wall=ACME-wall" in only.hint

    for name in ("Simple-wall", "simple.yaml"):
        choices = Choices(substitutes={"wall": name})
        service, found = resolve(tmp_path, files(filtered=False), Circumstances(given, choices=choices, final=True))
        assert service is not None, codes(found)
        assert list(service.nodes) == ["wall/Simple"]

    choices = Choices(substitutes={"wall": "nobody"})
    _, found = resolve(tmp_path, files(filtered=False), Circumstances(given, choices=choices, final=True))
    assert codes(found) == ["unknown-substitute"]
    assert "Simple-wall (simple.yaml)" in next(iter(found)).hint


def test_constants_and_overridden_properties(tmp_path: Path) -> None:
    """R-3.8.8-2, R-3.8.8-4, R-3.8.8-5: the deprecated forms: a constant keeps other nodes away, and a property inside
    takes the value of the node's, which stays as it is."""
    mapped = wall("ACME", filtered=False).replace(
        "node_type: my.Wall", "node_type: my.Wall\n    properties: { vendor: MAP }"
    )
    main = MAIN.replace(", simple.yaml", "")
    texts = {"types.yaml": TYPES, "acme.yaml": mapped.replace("MAP", "ACME"), "service.yaml": main}
    service, found = resolve(tmp_path, texts, Circumstances(inputs={"vendor": "other"}, final=True))
    assert service is None
    assert "no-substitution" in codes(found)
    assert (
        'ACME-wall: vendor is "other" and must equal "ACME"'
        in next(d for d in found if d.code == "no-substitution").hint
    )

    plain = mapped.replace("MAP", "[ ACME, vendor ]").replace("inputs: { vendor: { type: string } }", "")
    texts["acme.yaml"] = plain.replace("{ get_input: vendor }", "mine")
    service, found = resolve(tmp_path, texts, Circumstances(inputs={"vendor": "other"}, final=True))
    assert service is not None, [str(d) for d in found]
    evaluator = Evaluator(service, Snapshot(), {"vendor": "other"})
    node = service.nodes["wall/ACME"]
    assert evaluator.evaluate(node.properties["vendor"], Context(node=node.name)) == "other"
    assert (
        evaluator.evaluate(service.substituted["wall"].template.properties["vendor"], Context(node="wall")) == "other"
    )


def level(number: int, below: int, copies: int) -> str:
    """A topology that stands for a node of one level and holds some of the level below."""
    kind = f"my.Level{number}"
    held = "".join(f"    part{c}: {{ type: my.Level{below}, directives: [ substitute ] }}\n" for c in range(copies))
    return f"""{HEAD}
imports: [ types.yaml ]
topology_template:
  substitution_mappings: {{ node_type: {kind} }}
  node_templates:
{held or "    leaf: { type: tosca.nodes.Root }"}
"""


def levels(count: int, copies: int) -> dict[str, str]:
    """A service of so many levels of topologies, each of which holds some of the next."""
    types = "".join(f"  my.Level{n}: {{ derived_from: tosca.nodes.Root }}\n" for n in range(count + 1))
    found = {f"level{n}.yaml": level(n, n + 1, copies if n < count else 0) for n in range(count + 1)}
    imports = ", ".join(["types.yaml", *found])
    return {
        **found,
        "types.yaml": f"{HEAD}node_types:\n{types}",
        "service.yaml": f"""{HEAD}
imports: [ {imports} ]
topology_template:
  node_templates: {{ top: {{ type: my.Level0, directives: [ substitute ] }} }}
""",
    }


def test_levels(tmp_path: Path) -> None:
    """R-2.10-1: what is inside of a topology is substituted as well, until everything is concrete."""
    service, found = resolve(tmp_path, levels(5, 2), Circumstances(final=True))
    assert service is not None, [str(d) for d in found]
    assert len(service.nodes) == 32
    assert "top/part0/part1/part0/part1/part0/leaf" in service.nodes
    assert service.choices.substitutes["top/part0/part1"] == "level2.yaml"
    assert len(set(service.sanitised.values())) == 32


def test_doubling_is_refused(tmp_path: Path) -> None:
    """R-2.10-1: neither many levels nor doubling levels take more than bounded time and memory."""
    service, found = resolve(tmp_path, levels(28, 2), Circumstances(final=True))
    assert service is None
    assert set(codes(found)) == {"substitution-limit"}

    service, found = resolve(tmp_path, levels(40, 1), Circumstances(final=True))
    assert service is None
    assert set(codes(found)) == {"substitution-limit"}


def plainly_required(requirement: str) -> dict[str, str]:
    """A service of one node with a requirement, and a topology that may fulfil it."""
    return {
        "service.yaml": f"""{HEAD}
imports: [ types.yaml, inner.yaml ]
topology_template:
  node_templates:
    user: {{ type: tosca.nodes.Root, requirements: [ {requirement} ] }}
""",
        "types.yaml": f"""{HEAD}
node_types:
  my.Plain:
    derived_from: tosca.nodes.Root
    properties: {{ size: {{ type: integer, default: 1 }} }}
""",
        "inner.yaml": f"""{HEAD}
imports: [ types.yaml ]
topology_template:
  substitution_mappings: {{ node_type: my.Plain }}
  node_templates: {{ real: {{ type: tosca.nodes.Root }} }}
""",
    }


def test_a_requirement_is_fulfilled_by_a_topology(tmp_path: Path) -> None:
    """R-3.8.2-10: after the topology and the inventory, a topology that implements the type is taken."""
    one = "dependency: { node: my.Plain }"
    service, found = resolve(tmp_path, plainly_required(one), Circumstances(final=True))
    assert service is not None, [str(d) for d in found]
    assert [r.target for r in service.nodes["user"].requirements] == ["user/dependency/real"]

    two = plainly_required(f"{one}, {one}")
    service, found = resolve(tmp_path, two, Circumstances(final=True))
    assert service is not None, [str(d) for d in found]
    targets = [r.target for r in service.nodes["user"].requirements]
    assert targets == ["user/dependency/real", "user/dependency.2/real"]


def test_a_topology_that_does_not_fit_fulfils_nothing(tmp_path: Path) -> None:
    """R-3.8.2-10, R-3.6.5-4: the values that the node would have are judged by the filter of the requirement."""
    wanted = "dependency: { node: my.Plain, node_filter: { properties: [ size: 2 ] } }"
    service, found = resolve(tmp_path, plainly_required(wanted), Circumstances(final=True))
    assert service is None
    assert codes(found) == ["no-candidate"]
    service, found = resolve(tmp_path, plainly_required(wanted.replace("2", "1")), Circumstances(final=True))
    assert service is not None, [str(d) for d in found]


def test_names_inside_are_kept_apart(tmp_path: Path) -> None:
    """R-2.10-1: a node template with the name of something inside is an error."""
    main = MAIN + "    wall/ACME: { type: my.Real, properties: { vendor: x } }\n"
    service, found = resolve(tmp_path, {**files(), "service.yaml": main}, Circumstances({"vendor": "ACME"}, final=True))
    assert service is None
    assert codes(found) == ["duplicate-name"]


def test_other_definitions_of_an_archive_are_candidates(tmp_path: Path) -> None:
    """R-2.10-1, R-2.12-1: topologies that an archive holds beside its entry stand for nodes without being imported."""
    (tmp_path / "TOSCA-Metadata").mkdir()
    (tmp_path / "TOSCA-Metadata" / "TOSCA.meta").write_text(
        "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: me\n"
        "Entry-Definitions: service.yaml\nOther-Definitions: acme.yaml simple.yaml\n"
    )
    for name, text in {**files(), "service.yaml": MAIN.replace(", acme.yaml, simple.yaml", "")}.items():
        (tmp_path / name).write_text(text)
    diagnostics = Diagnostics()
    package = open_package(str(tmp_path), diagnostics)
    assert package is not None, [str(d) for d in diagnostics]
    service = resolve_service(package, diagnostics, Circumstances(inputs={"vendor": "Simple"}, final=True))
    assert service is not None, [str(d) for d in diagnostics]
    assert list(service.nodes) == ["wall/Simple"]
    assert "simple.yaml" in service.files


LINKED = {
    "types.yaml": f"""{HEAD}
capability_types: {{ my.Link: {{ derived_from: tosca.capabilities.Root }} }}
node_types:
  my.Outer:
    derived_from: tosca.nodes.Root
    requirements: [ link: {{ capability: my.Link, occurrences: [ 0, 1 ] }} ]
  my.Inner: {{ derived_from: tosca.nodes.Root, requirements: [ link: {{ capability: my.Link }} ] }}
  my.Target: {{ derived_from: tosca.nodes.Root, capabilities: {{ link: my.Link }} }}
""",
    "inner.yaml": f"""{HEAD}
imports: [ types.yaml ]
topology_template:
  substitution_mappings:
    node_type: my.Outer
    requirements: {{ link: [ real, link ] }}
  node_templates: {{ real: {{ type: my.Inner }} }}
""",
    "service.yaml": f"""{HEAD}
imports: [ types.yaml, inner.yaml ]
topology_template:
  node_templates:
    outer: {{ type: my.Outer, directives: [ substitute ], requirements: [ link: target ] }}
    target: {{ type: my.Target }}
""",
}
"""A node with a requirement for which a topology stands, inside of which it is needed."""


def test_what_a_node_inside_needs_is_assigned_outside(tmp_path: Path) -> None:
    """R-2.10-2: a requirement that leads out of a topology is fulfilled by that of the node it stands for."""
    service, found = resolve(tmp_path, LINKED, Circumstances(final=True))
    assert service is not None, [str(d) for d in found]
    assert [r.target for r in service.nodes["outer/real"].requirements] == ["target"]

    without = LINKED["service.yaml"].replace(", requirements: [ link: target ]", "")
    service, found = resolve(tmp_path, {**LINKED, "service.yaml": without}, Circumstances(final=True))
    assert service is None
    (only,) = found
    assert only.code == "missing-requirement"
    assert '"link" of "outer", which "outer/real" needs' in only.message


@pytest.mark.parametrize(
    ("assigned", "code"),
    [
        ("link: nowhere", "unknown-target"),
        ("lnk: target", "unknown-requirement"),
        ("link: outer", "wrong-capability"),
        ("link: { node: target, nod: target }", "unknown-keyname"),
        ("link: [ target ]", "wrong-form"),
    ],
)
def test_what_is_assigned_wrongly_is_not_said_to_be_missing(tmp_path: Path, assigned: str, code: str) -> None:
    """R-2.10-2: a requirement of a substituted node that is written and cannot be bound is one mistake."""
    outer = LINKED["service.yaml"].replace("link: target", assigned)
    _, found = resolve(tmp_path, {**LINKED, "service.yaml": outer}, Circumstances(final=True))
    (only,) = found
    assert only.code == code


def test_an_assigned_requirement_has_something_behind_it(tmp_path: Path) -> None:
    """R-2.10-2, R-3.8.13-2: what the topology does not map cannot be used."""
    inner = LINKED["inner.yaml"].replace("requirements: { link: [ real, link ] }", "requirements: {}")
    inner = inner.replace("my.Inner", "tosca.nodes.Root")
    service, found = resolve(tmp_path, {**LINKED, "inner.yaml": inner}, Circumstances(final=True))
    assert service is None
    (only,) = [d for d in found if d.severity == "error"]
    assert only.code == "unmapped-use"
    assert 'requirement "link" of "outer" has nothing behind it in inner.yaml' in only.message


READ = {
    "types.yaml": f"""{HEAD}
node_types:
  my.Outer:
    derived_from: tosca.nodes.Root
    properties: {{ own: {{ type: string, default: x }} }}
    attributes: {{ told: {{ type: string }}, kept: {{ type: string, default: y }} }}
    capabilities: {{ door: tosca.capabilities.Endpoint }}
""",
    "inner.yaml": f"""{HEAD}
imports: [ types.yaml ]
topology_template:
  outputs: {{ said: {{ value: hello }} }}
  substitution_mappings: {{ node_type: my.Outer }}
  node_templates: {{ real: {{ type: tosca.nodes.Root }} }}
""",
    "service.yaml": f"""{HEAD}
imports: [ types.yaml, inner.yaml ]
topology_template:
  node_templates:
    outer: {{ type: my.Outer, directives: [ substitute ] }}
  outputs:
    read: {{ value: CALL }}
""",
}
"""A node from which something is read, and a topology in its place that maps nothing."""


@pytest.mark.parametrize(
    ("call", "code", "column"),
    [
        ("{ get_attribute: [ outer, told ] }", "unmapped-use", 46),
        ("{ get_property: [ outer, door, port ] }", "unmapped-use", 45),
        ("{ get_attribute: [ outer, door, ip_address ] }", "unmapped-use", 46),
        ("{ get_attribute: [ outer, tld ] }", "unknown-attribute", 46),
        ("{ get_attribute: [ outer, kept ] }", "", 0),
        ("{ get_attribute: [ outer, state ] }", "", 0),
        ("{ get_attribute: [ outer, own ] }", "", 0),
        ("{ get_property: [ outer, own ] }", "", 0),
    ],
)
def test_what_is_read_from_a_node_has_something_behind_it(tmp_path: Path, call: str, code: str, column: int) -> None:
    """R-3.8.13-2, R-2.10-1: reading what the topology does not map is an error where it is read."""
    outer = READ["service.yaml"].replace("CALL", call)
    service, found = resolve(tmp_path, {**READ, "service.yaml": outer}, Circumstances(final=True))
    errors = [(d.code, d.span.column if d.span is not None else 0) for d in found if d.severity == "error"]
    assert errors == ([(code, column)] if code else [])
    assert (service is None) == bool(code)


@pytest.mark.parametrize(
    ("mappings", "codes"),
    [
        ("attributes: { told: [ said ] }", []),
        ("attributes: { told: [ sad ] }", ["unknown-output"]),
        ("attributes: { told: { said: x } }", ["missing-keyname", "unknown-keyname"]),
    ],
)
def test_what_is_mapped_can_be_read(tmp_path: Path, mappings: str, codes: list[str]) -> None:
    """R-3.8.9-1: a mapped attribute can be read; one whose mapping is at fault is no second mistake."""
    outer = READ["service.yaml"].replace("CALL", "{ get_attribute: [ outer, told ] }")
    inner = READ["inner.yaml"].replace("my.Outer }", f"my.Outer, {mappings} }}")
    _, found = resolve(tmp_path, {**READ, "service.yaml": outer, "inner.yaml": inner}, Circumstances(final=True))
    assert sorted(d.code for d in found if d.severity == "error") == codes
