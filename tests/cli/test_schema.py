"""`ordito schema`: what Ordito takes fits it, and the mistakes that an editor should mark do not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ordito.app.inputs.gathered import plain
from ordito.authoring.schema import json_schema, schema_of_types
from ordito.authoring.schema_of_files import ensemble_schema, hosts_schema
from ordito.authoring.schema_values import pointer
from ordito.base.diagnostics import Diagnostics
from ordito.model.catalogue import read_types
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package
from ordito.source.package import load_file
from tests.cli.program import DATA, Run
from tests.support.json_schema import Validator
from tests.support.thorough import some

ROOT = DATA.parent.parent
SAMPLES = sorted(
    [
        *ROOT.glob("examples/*/service.yaml"),
        *DATA.glob("*/service.yaml"),
        *ROOT.glob("tests/model/data/*/*.yaml"),
        *list(ROOT.glob("tests/conformance/ch*/*.yaml"))[::10],
    ]
)

MINE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Place:
    properties:
      street: { type: string, description: without the number }
      number: { type: integer, required: false, constraints: [ in_range: [ 1, 999 ] ] }
node_types:
  my.House:
    derived_from: tosca.nodes.Root
    description: where people live
    properties:
      place: { type: my.Place }
      color: { type: string, default: red, constraints: [ valid_values: [ red, green, "7" ] ] }
      room: { type: scalar-unit.size, default: 1 GB }
    capabilities: { door: tosca.capabilities.Attachment }
    requirements: [ street: { capability: tosca.capabilities.Node, occurrences: [ 0, 1 ] } ]
"""


def template(text: str) -> Any:
    """A service template with one node template, as YAML gives it."""
    Path("t.yaml").write_text(MINE + f"topology_template:\n  node_templates:\n    house: {text}\n")
    return loaded("t.yaml")


def loaded(path: str) -> Any:
    document = load_file(path, Diagnostics())
    assert document is not None
    return plain(document.root)


@pytest.fixture
def validator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Validator:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(MINE)
    return Validator(json_schema("mine.yaml").schema)


@pytest.mark.parametrize("sample", some(SAMPLES, 3), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_what_is_valid_fits(sample: Path) -> None:
    """Every valid sample of the repository fits the schema of its own types."""
    found = Diagnostics()
    package = open_package(str(sample), found)
    if package is None or resolve_service(package, found) is None:
        return  # it shows mistakes
    types = read_types(package, Diagnostics())
    assert types is not None
    assert Validator(schema_of_types(types)).errors(loaded(str(sample))) == []


@pytest.mark.parametrize(
    "text",
    [
        "{ type: my.House, properties: { place: { street: Low Road } } }",
        "{ type: my.House, properties: { place: { get_input: where }, color: 7 } }",
        "{ type: my.House, properties: { place: { street: { get_input: s }, number: 3 }, color: green, room: 3 gib } }",
        "{ type: my.House, copy: other }",
        "{ copy: other }",
        "{ type: my.House, directives: [ select ] }",
        "{ type: Compute, capabilities: { host: { properties: { num_cpus: 2, mem_size: 1 GB } } } }",
    ],
)
def test_templates_of_types_of_ones_own(validator: Validator, text: str) -> None:
    assert validator.errors(template(text)) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{ type: my.House }", "house: properties is missing"),
        ("{ type: my.House, properties: { color: red } }", "properties: place is missing"),
        ("{ type: my.House, properties: { place: { street: a, number: 1000 } } }", "number"),
        ("{ type: my.House, properties: { place: { strete: a } } }", "strete"),
        ("{ type: my.House, properties: { place: { get_inptu: a } } }", "get_inptu"),
        ("{ type: my.House, properties: { place: { street: a }, color: blue } }", "color"),
        ("{ type: my.House, properties: { place: { street: a }, room: 3 } }", "room"),
        ("{ type: my.House, properties: { place: { street: a }, size: 3 } }", "size"),
        ("{ type: my.House, propertys: {} }", "propertys"),
        ("{ type: my.House, copy: o, capabilities: { dor: {} } }", "dor"),
        ("{ type: my.House, copy: o, requirements: [ stret: x ] }", "stret"),
        ("{ type: tosca:Compute, capabilities: { host: { properties: { num_cpus: two } } } }", "num_cpus"),
        ("{ properties: {} }", "type is missing"),
        ("{ type: my.Hose, properties: { place: { street: a } } }", "type"),
    ],
)
def test_mistakes_do_not_fit(validator: Validator, text: str, place: str) -> None:
    errors = validator.errors(template(text))
    assert any(place in error for error in errors), errors


def test_it_says_what_things_are(run: Run) -> None:
    Path("mine.yaml").write_text(MINE)
    schema = run("schema", "mine.yaml").json
    assert schema["$schema"].endswith("2020-12/schema")
    house = schema["$defs"]["node my.House"]
    assert house["description"] == "where people live"
    assert house["properties"]["properties"]["properties"]["color"]["default"] == "red"
    types = schema["$defs"]["node types"]
    assert {"my.House", "Compute", "tosca.nodes.Compute", "tosca:Compute"} <= set(types["anyOf"][0]["enum"])
    bare = run("schema").json["$defs"]["node types"]
    assert "Compute" in bare["anyOf"][0]["enum"], "without a service others may be defined beside the template"
    assert schema["$defs"]["NodeTemplate"]["description"].startswith("Node template")


def test_every_reference_leads_somewhere(run: Run) -> None:
    schema = run("schema").json
    names = {f"#/$defs/{pointer(name)}" for name in schema["$defs"]}
    todo, seen = [schema], 0
    while todo:
        part = todo.pop()
        todo += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        if isinstance(part, dict) and isinstance(part.get("$ref"), str):
            seen += 1
            assert part["$ref"] in names
    assert seen > 300


def test_into_a_file_and_of_a_broken_service(run: Run) -> None:
    Path("mine.yaml").write_text(MINE + "  my.Odd: { derived_from: nothing }\n")
    done = run("schema", "mine.yaml", "--out", "s.json")
    assert done.code == 0
    assert "not valid (1 error)" in done.err
    schema = json.loads(Path("s.json").read_text())
    assert "node my.House" in schema["$defs"]
    assert "node my.Odd" not in schema["$defs"]
    assert run("schema", "nowhere.yaml").code == 3


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("data_types: { my.Other: { derived_from: my.Plac } }", "derived_from"),
        ("data_types: { my.Other: { properties: { a: { type: strin } } } }", "type"),
        ("data_types: { my.Other: { properties: { a: { type: list, entry_schema: my.Plac } } } }", "entry_schema"),
        ("node_types: { my.Hut: { derived_from: my.Hose } }", "derived_from"),
        ("node_types: { my.Hut: { derived_from: my.House, capabilities: { a: tosca.capabilities.Nod } } }", "/a"),
        ("node_types: { my.Hut: { requirements: [ a: { capability: tosca.capabilities.Nod } ] } }", "/a"),
        ("node_types: { my.Hut: { interfaces: { A: { type: tosca.interfaces.Rot } } } }", "type"),
    ],
)
def test_types_are_known_by_name_wherever_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(MINE)
    validator = Validator(json_schema("mine.yaml").schema)
    Path("t.yaml").write_text("tosca_definitions_version: tosca_simple_yaml_1_3\n" + text + "\n")
    errors = validator.errors(loaded("t.yaml"))
    assert any(place in error for error in errors), errors


PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.parts)
BLOCK = re.compile(r'```yaml title="([^"]*)"\n(.*?)```', re.DOTALL)


def documented(name: str) -> list[tuple[str, str]]:
    """The files of that kind that the documentation shows, each with its page."""
    return [
        (f"{page.stem}:{title}", text)
        for page in PAGES
        for title, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if re.search(name, title)
    ]


OF_PLUGINS = ("boxes",)
HOSTS = documented(r"(^|/)(hosts|inventory)[^/]*\.yaml$")
ENSEMBLES = documented(r"(^|/)ensemble\.yaml$")


@pytest.mark.parametrize("text", [text for _, text in HOSTS], ids=[name for name, _ in HOSTS])
def test_documented_inventories_fit(tmp_path: Path, text: str) -> None:
    """Those for providers that are plug-ins fit where these are installed."""
    assert len(HOSTS) > 3
    (tmp_path / "hosts.yaml").write_text(text)
    errors = Validator(hosts_schema()).errors(loaded(str(tmp_path / "hosts.yaml")))
    assert [error for error in errors if not any(name in error for name in OF_PLUGINS)] == []


@pytest.mark.parametrize("text", [text for _, text in ENSEMBLES], ids=[name for name, _ in ENSEMBLES])
def test_documented_ensembles_fit(tmp_path: Path, text: str) -> None:
    assert len(ENSEMBLES) > 3
    (tmp_path / "ensemble.yaml").write_text(text)
    assert Validator(ensemble_schema()).errors(loaded(str(tmp_path / "ensemble.yaml"))) == []


def test_an_ensemble_that_was_worked_with_fits(run: Run, tmp_path: Path) -> None:
    """With everything that commands write below the marker line: instances, relationships, inputs, counts, a job."""
    shop = str(ROOT / "examples" / "shop")
    assert run("deploy", shop, "-e", "shop", "--yes").code == 0
    assert run("-e", "shop", "scale", "web=2", "--yes").code in {0, 3}
    data = loaded("shop/ensemble.yaml")
    assert data["status"]["instances"]
    schema = run("schema", "--of", "ensemble").json
    assert Validator(schema).errors(data) == []
    data["status"]["revision"] = "one"
    assert Validator(schema).errors(data) != []


@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        ("hosts", "hosts: { web: { adress: 192.0.2.1 } }", "adress"),
        ("hosts", "hosts: { web: { port: 70000 } }", "port"),
        ("hosts", "hosts: { web: { host_key_check: never } }", "host_key_check"),
        ("hosts", "hosts: { web: { become: { method: su } } }", "become"),
        ("hosts", "hosts: { web: { capabilities: { host: { mem_size: large } } } }", "mem_size"),
        ("hosts", "hosts: [ web ]", "hosts"),
        ("hosts", "defaults: { usr: me }", "usr"),
        ("hosts", "provide: { tosca.nodes.Compute: nobody }", "provide"),
        ("hosts", "host: {}", "host"),
        ("ensemble", "spec: { servce: a }", "servce"),
        ("ensemble", "spec: { inputs: [ 1 ] }", "inputs"),
        ("ensemble", "spec: { lock: gti }", "lock"),
        ("ensemble", "spec: { environments: { prod: { input: {} } } }", "input"),
        ("ensemble", "spec: { connections: { cloud: { property: {} } } }", "property"),
        ("ensemble", "spec: { +%: merg }", "merg"),
        ("ensemble", "spc: {}", "spc"),
    ],
)
def test_mistakes_in_other_files_do_not_fit(run: Run, tmp_path: Path, kind: str, text: str, place: str) -> None:
    (tmp_path / "file.yaml").write_text(text + "\n")
    errors = Validator(run("schema", "--of", kind).json).errors(loaded(str(tmp_path / "file.yaml")))
    assert any(place in error for error in errors), errors


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "hosts",
            "hosts: { web: { address: { env: WEB }, port: '22', password: { secret: w }, identity: [ a, b ] } }",
        ),
        ("hosts", 'hosts: { web: { port: "{{ env.PORT }}", become: true, labels: { zone: 1 } } }'),
        ("hosts", "hosts:\ndefaults: { connect_timeout: 10 s, keep_alive: 30 }\nprovide: { web: localhost }"),
        ("ensemble", "spec: { +common.yaml: , service: a, inputs: { a: { env: A }, b: [ 1, { c: 2 } ] } }"),
        ("ensemble", "spec:"),
    ],
)
def test_other_ways_to_write_them_fit(run: Run, tmp_path: Path, kind: str, text: str) -> None:
    (tmp_path / "file.yaml").write_text(text + "\n")
    assert Validator(run("schema", "--of", kind).json).errors(loaded(str(tmp_path / "file.yaml"))) == []


def test_a_schema_of_other_files_takes_no_service(run: Run) -> None:
    assert run("schema", "service.yaml", "--of", "hosts").code == 64
