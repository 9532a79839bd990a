"""What is sensitive stays so through every function, and what is not stays readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import Sensitive, is_sensitive, revealed, shown
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package
from ordito.source.package import load_text
from ordito.syntax.expressions import Value
from ordito.syntax.functions import read_untyped

TEMPLATE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Login:
    properties: { user: { type: string }, pw: { type: string, metadata: { sensitive: "true" } } }
  my.Deep: { properties: { logins: { type: list, entry_schema: my.Login } } }
  my.Secret: { derived_from: string, metadata: { sensitive: true } }
  my.MoreSecret: { derived_from: my.Secret }
node_types:
  my.Base: { derived_from: tosca.nodes.Root, properties: { refined: { type: string } } }
  my.Db:
    derived_from: my.Base
    properties:
      plain: { type: string, default: open }
      refined: { type: string, metadata: { sensitive: true } }
      login: { type: my.Login }
      deep: { type: my.Deep }
      by_type: { type: my.MoreSecret }
      map: { type: map, entry_schema: my.Secret }
      cred: { type: tosca.datatypes.Credential }
    attributes: { hidden: { type: string, metadata: { sensitive: true } }, seen: { type: string } }
topology_template:
  inputs:
    given: { type: string, metadata: { sensitive: true } }
    number: { type: integer, default: 4711, metadata: { sensitive: true } }
    login: { type: my.Login, default: { user: me, pw: hush-1 } }
    plain: { type: string, default: open }
  node_templates:
    db:
      type: my.Db
      properties:
        refined: hush-2
        login: { user: me, pw: hush-3 }
        deep: { logins: [ { user: you, pw: hush-4 } ] }
        by_type: hush-5
        map: { a: hush-6 }
        cred: { token: hush-7, user: them }
    all: { type: my.Base, metadata: { sensitive: true }, properties: { refined: hush-8 } }
  outputs:
    OUT: { value: VALUE }
"""

SECRET = [
    ("{ get_input: given }", "(sensitive)", "hush-0"),
    ("{ get_input: number }", "(sensitive)", 4711),
    ("{ get_input: [ login, pw ] }", "(sensitive)", "hush-1"),
    ("{ get_input: login }", {"user": "me", "pw": "(sensitive)"}, {"user": "me", "pw": "hush-1"}),
    ("{ get_property: [ db, refined ] }", "(sensitive)", "hush-2"),
    ("{ get_property: [ db, login, pw ] }", "(sensitive)", "hush-3"),
    ("{ get_property: [ db, login ] }", {"user": "me", "pw": "(sensitive)"}, {"user": "me", "pw": "hush-3"}),
    ("{ get_property: [ db, deep, logins, 0, pw ] }", "(sensitive)", "hush-4"),
    ("{ get_property: [ db, by_type ] }", "(sensitive)", "hush-5"),
    ("{ get_property: [ db, map, a ] }", "(sensitive)", "hush-6"),
    ("{ get_property: [ db, cred, token ] }", "(sensitive)", "hush-7"),
    ("{ get_attribute: [ db, refined ] }", "(sensitive)", "hush-2"),
    ("{ get_attribute: [ db, hidden ] }", "(sensitive)", "hush-9"),
    ("{ get_property: [ all, refined ] }", "(sensitive)", "hush-8"),
    ("{ concat: [ a, { get_input: given }, b ] }", "(sensitive)", "ahush-0b"),
    ("{ join: [ [ a, { get_input: given } ], '-' ] }", "(sensitive)", "a-hush-0"),
    ("{ join: [ [ a, b ], { get_input: given } ] }", "(sensitive)", "ahush-0b"),
    ("{ token: [ { get_input: given }, '-', 1 ] }", "(sensitive)", "0"),
    ("[ x, { get_input: given } ]", ["x", "(sensitive)"], ["x", "hush-0"]),
    ("{ get_operation_output: [ db, Standard, create, made ] }", "(sensitive)", "hush-10"),
]

OPEN = [
    ("{ get_input: plain }", "open"),
    ("{ get_input: [ login, user ] }", "me"),
    ("{ get_property: [ db, plain ] }", "open"),
    ("{ get_property: [ db, login, user ] }", "me"),
    ("{ get_property: [ db, deep, logins, 0, user ] }", "you"),
    ("{ get_property: [ db, cred, user ] }", "them"),
    ("{ get_property: [ db, cred, token_type ] }", "password"),
    ("{ get_attribute: [ db, seen ] }", "shown"),
    ("{ concat: [ a, { get_input: plain } ] }", "aopen"),
]


def read(folder: Path, value: str) -> Service:
    (folder / "service.yaml").write_text(TEMPLATE.replace("VALUE", value))
    diagnostics = Diagnostics()
    package = open_package(str(folder), diagnostics)
    service = resolve_service(package, diagnostics) if package else None
    assert service is not None, [str(d) for d in diagnostics]
    assert not diagnostics.has_errors, [str(d) for d in diagnostics]
    return service


def evaluator(service: Service) -> Evaluator:
    snapshot = Snapshot()
    snapshot.apply(
        Delta(
            instances=(Instance("db_1", "db", 0, local="ok"), Instance("all_1", "all", 0, local="ok")),
            attributes={"db_1": {"hidden": "hush-9", "seen": "shown"}},
            outputs={"db_1": {"Standard.create": {"made": Sensitive("hush-10")}}},
        )
    )
    diagnostics = Diagnostics()
    bound = bind_inputs(service, {"given": "hush-0"}, diagnostics)
    assert not diagnostics.has_errors
    return Evaluator(service, snapshot, bound)


@pytest.mark.parametrize(("written", "as_shown", "as_is"), SECRET, ids=[case[0] for case in SECRET])
def test_what_is_sensitive_stays_so(tmp_path: Path, written: str, as_shown: object, as_is: object) -> None:
    service = read(tmp_path, written)
    found = evaluator(service).evaluate(service.outputs["OUT"].value, Context())
    assert shown(found) == as_shown
    assert revealed(found) == as_is
    assert "hush" not in str(found)
    values, problems = topology_outputs(evaluator(service), {})
    assert not problems
    assert shown(values) == {"OUT": as_shown}


@pytest.mark.parametrize(("written", "data"), OPEN, ids=[case[0] for case in OPEN])
def test_what_is_not_stays_readable(tmp_path: Path, written: str, data: object) -> None:
    service = read(tmp_path, written)
    found = evaluator(service).evaluate(service.outputs["OUT"].value, Context())
    assert found == data
    assert not is_sensitive(found)


@pytest.mark.parametrize(
    "written",
    [
        "{ get_property: [ db, { get_input: given } ] }",
        "{ concat: [ { get_property: [ db, map ] } ] }",
        "{ get_input: [ given, entry ] }",
        "{ token: [ { get_input: given }, '-', 9 ] }",
    ],
)
def test_no_error_shows_it(tmp_path: Path, written: str) -> None:
    service = read(tmp_path, "{ get_input: plain }")
    value = untyped(written)
    with pytest.raises(EvaluationError) as error:
        evaluator(service).evaluate(value, Context())
    assert "hush" not in str(error.value)


def untyped(written: str) -> Value:
    """A value as it is read, though a service that holds it would be refused."""
    document = load_text("value", written, Diagnostics())
    assert document is not None
    return read_untyped(document.root, Diagnostics())
