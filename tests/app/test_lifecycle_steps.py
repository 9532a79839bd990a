"""Lifecycle steps of a service that is read: what comes of them, and what is refused, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordito.app.proposals.making import named_files
from ordito.app.services.compiled import CompileRequest, compile_service, compiled
from ordito.app.services.files import artifact_files, definition_files
from ordito.app.services.read import PINNED, ReadService, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.authoring.graph import GraphRequest, graph
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import measure, pin
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import AS_WRITTEN
from ordito.source.remote import Network

WEBHOOK = "ordito.dev/lifecycle/notify@v1#Webhook"
HEAD = """tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:blocks" ]
topology_template:
  inputs: { url: { type: string },
    hidden: { type: string, default: s3cret, metadata: { sensitive: true } } }
  node_templates:
    database: { type: tosca.nodes.Root }
    api: { type: tosca.nodes.Root, requirements: [ dependency: database ] }
  groups:
    both: { type: tosca.groups.Root, members: [ api, database ] }
  policies:
"""
STEP = """    - {name}:
        type: {fqn}
        targets: {targets}
        properties:
          phase: {phase}
          config: {{ url: {{ get_input: url }} }}
"""


def step(name: str, targets: str = "[]", phase: str = "install.after", fqn: str = WEBHOOK) -> str:
    return STEP.format(name=name, targets=targets, phase=phase, fqn=fqn)


def read(folder: Path, text: str) -> ReadService:
    (folder / "service.yaml").write_text(text)
    return read_service(str(folder / "service.yaml"), Diagnostics())


def found(folder: Path, text: str) -> list[tuple[str, int, int, str]]:
    """The errors of a service: code, line, column, and message with hint."""
    with pytest.raises(InvalidDocument) as refused:
        read(folder, text)
    return [
        (d.code, d.span.line, d.span.column, f"{d.message} | {d.hint}")
        for d in refused.value.diagnostics
        if d.span is not None and d.severity == "error"
    ]


def test_policies_of_a_blocks_type_become_steps_in_their_order(tmp_path: Path) -> None:
    text = HEAD + step("last") + step("one", "[ api ]") + step("two", "[ both ]", "upgrade.before")
    service = read(tmp_path, text).service
    assert [(s.id, s.component, s.phase) for s in service.hooks.values()] == [
        ("last", "", "install.after"),
        ("one", "api", "install.after"),
        ("two@api", "api", "upgrade.before"),
        ("two@database", "database", "upgrade.before"),
    ]
    last = service.hooks["last"]
    assert (last.fqn, last.on_failure, last.config["attempts"]) == (WEBHOOK, "abort", 3)
    assert str(last.spans["phase"]).endswith("service.yaml:16:18")


def test_a_pin_holds_the_blocks_and_needs_no_catalogue(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    folder.mkdir()
    first = read(folder, HEAD + step("last"))
    layout = Layout(tmp_path / "ensemble")
    layout.root.mkdir()
    package = first.package
    kept = pin(layout, package.tree, package.opener, definition_files(first), artifact_files(first))
    block = first.steps.blocks["last"]
    assert block.execute is not None
    assert (Path(kept.root) / block.folder / block.execute.artifact).is_file()

    path = f"{kept.root}/{kept.main}"
    again = read_service(path, Diagnostics(), Network.KEPT, AS_WRITTEN, PINNED)
    assert again.steps.blocks == first.steps.blocks
    assert again.service.hooks["last"].config == again.service.hooks["last"].config
    tree = again.package.tree
    assert measure(layout, tree, package.opener, definition_files(again), artifact_files(again)).digest == kept.digest


@pytest.mark.parametrize(
    ("fqn", "code", "said"),
    [
        ("ordito.dev/lifecycle/notify@v1#Webhok", "unknown-block", f'did you mean "{WEBHOOK}"'),
        ("ordito.dev/lifecycle/notify@v7#Webhook", "unknown-block", "it exists in the major version 1"),
        ("ordito.dev/lifecycle/notify@1#Webhook", "bad-fqn", 'begins with "v"'),
        ("ordito.dev/lifecycle/notify@v1#webhook", "bad-fqn", "capital letter"),
        ("Ordito.dev/lifecycle/notify@v1#Webhook", "bad-fqn", "the path"),
    ],
)
def test_a_block_that_is_not_there_is_refused(tmp_path: Path, fqn: str, code: str, said: str) -> None:
    ((given, line, _, message),) = found(tmp_path, HEAD + step("last", fqn=fqn))
    assert (given, line) == (code, 13)
    assert said in message
    assert "ordito blocks list" in message or code == "bad-fqn"


def test_a_block_that_is_there_must_be_imported_all_the_same(tmp_path: Path) -> None:
    text = (HEAD + step("last")).replace("profile:blocks", "profile:ordito")
    ((code, *_, message),) = found(tmp_path, text)
    assert code == "unknown-type"
    assert "import profile:blocks" in message


@pytest.mark.parametrize(
    ("wrong", "code", "column", "said"),
    [
        ("timeout: 5 min", "bad-duration", 20, "write 5m"),
        ('condition: value.a == "x"', "bad-condition", 22, "values"),
        ('condition: component.name == "x"', "bad-condition", 22, '"component"'),
        ("condition: values.a ==", "bad-condition", 33, ""),
        ("condition: previous.version == 1", "bad-condition", 30, '"previous" has no "version"'),
        ("condition: outputs.ap.x == 1", "bad-condition", 29, 'there is no component "ap"'),
        ('condition: "transition == install"', "bad-condition", 37, '"install"'),
        ("condition: |\n            transition != 1 &&\n            hase == 1", "bad-condition", 13, "phase"),
        ("phase: install.later", "constraint", 18, "install.after"),
        ("phase: { get_input: url }", "bad-value", 18, "must be written out"),
        ("onFailure: retry", "constraint", 22, "rollback"),
        ("script: echo", "inline-step", 11, "'last': custom or inline implementations are not allowed (FR-11-003)"),
    ],
)
def test_what_a_step_says_is_checked_with_its_place(
    tmp_path: Path, wrong: str, code: str, column: int, said: str
) -> None:
    text = HEAD + step("last")
    if wrong.startswith("phase"):
        text = text.replace("phase: install.after", wrong)
    else:
        text = text.replace("          config", f"          {wrong}\n          config")
    errors = [e for e in found(tmp_path, text) if e[0] == code]
    assert len(errors) == 1, errors
    assert errors[0][2] == column
    assert said in errors[0][3]


@pytest.mark.parametrize(
    ("config", "code", "said"),
    [
        ("{ ulr: x }", "unknown-field", 'did you mean "url"'),
        ('{ url: "http://x/", attempts: many }', "bad-value", "integer"),
        ('{ url: "http://x/", attempts: { get_input: no } }', "unknown-input", "no"),
        ("{ url: ftp://x/ }", "bad-value", "not shown"),
        ('{ url: "http://x/", exec: ls }', "inline-step", "FR-11-003"),
    ],
)
def test_config_must_fit_the_block(tmp_path: Path, config: str, code: str, said: str) -> None:
    text = (HEAD + step("last")).replace("{ url: { get_input: url } }", config)
    errors = [e for e in found(tmp_path, text) if e[0] == code]
    assert len(errors) == 1
    assert said in errors[0][3]


def test_triggers_and_inline_keys_are_refused_on_a_step(tmp_path: Path) -> None:
    more = "        triggers: { x: { event: e, action: [] } }\n        implementation: x.sh\n"
    codes = {code for code, *_ in found(tmp_path, HEAD + step("last") + more)}
    assert {"step-trigger", "inline-step"} <= codes


FILE = f"""components:
  database:
    upgrade:
      before:
        - fqn: {WEBHOOK}
          description: Tell them
          timeout: 1m
          onFailure: rollback
          config: {{ url: {{ get_input: url }} }}
        - {{ fqn: "{WEBHOOK}", config: {{ url: "http://127.0.0.1/" }} }}
module:
  install:
    after: [ {{ fqn: "{WEBHOOK}", condition: 'phase != ""', config: {{ url: "http://127.0.0.1/" }} }} ]
  delete: {{ before: [] }}
"""
PLAIN = HEAD.replace("  policies:\n", "")


def with_file(folder: Path, text: str, file: str, name: str = "lifecycle.yaml") -> ReadService:
    (folder / name).write_text(file)
    return read(folder, text)


def test_a_file_beside_the_service_declares_steps_as_policies_do(tmp_path: Path) -> None:
    steps = with_file(tmp_path, PLAIN, FILE).service.hooks
    assert list(steps) == ["database/upgrade.before[0]", "database/upgrade.before[1]", "module/install.after[0]"]
    policy = step("tell", "[ database ]", "upgrade.before").rstrip() + "\n          timeout: 1m\n"
    policy += "          onFailure: rollback\n        description: Tell them\n"
    (tmp_path / "lifecycle.yaml").unlink()
    of_policy = read(tmp_path, HEAD + policy).service.hooks["tell"]
    of_file = steps["database/upgrade.before[0]"]
    for field in ("fqn", "phase", "component", "description", "timeout", "on_failure", "condition"):
        assert getattr(of_file, field) == getattr(of_policy, field)
    assert list(of_file.config) == list(of_policy.config)
    assert str(of_file.spans["timeout"]).endswith("lifecycle.yaml:7:20")


def test_a_file_of_json_says_the_same(tmp_path: Path) -> None:
    """What CUE exports is JSON, with tabs or without."""
    step = f'{{"fqn": "{WEBHOOK}", "config": {{"url": "http:\\/\\/x\\/"}}}}'
    file = '{"module": {\n\t"install": {"after": [' + step + "]}}}"
    (found,) = with_file(tmp_path, PLAIN, file, "lifecycle.json").service.hooks.values()
    assert (found.id, found.config["url"]) == ("module/install.after[0]", "http://x/")


def test_a_pin_holds_the_file_wherever_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    folder.mkdir()
    (folder / "service.yaml").write_text(PLAIN)
    (tmp_path / "steps.yaml").write_text(FILE)
    sources = StepSources(file=str(tmp_path / "steps.yaml"))
    first = read_service(str(folder), Diagnostics(), Network.REFUSED, AS_WRITTEN, sources)
    layout = Layout(tmp_path / "ensemble")
    layout.root.mkdir()
    package = first.package
    kept = pin(layout, package.tree, package.opener, definition_files(first), artifact_files(first))
    again = read_service(f"{kept.root}/{kept.main}", Diagnostics(), Network.KEPT, AS_WRITTEN, PINNED)
    assert again.service.hooks.keys() == first.service.hooks.keys()
    assert again.steps.blocks == first.steps.blocks
    tree = again.package.tree
    assert measure(layout, tree, package.opener, definition_files(again), artifact_files(again)).digest == kept.digest


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "said"),
    [
        ("module:", "modul:", "unknown-keyname", "11:1", '"module"'),
        ("  database:", "  databse:", "unknown-target", "2:3", '"database"'),
        ("    upgrade:", "    update:", "unknown-keyname", "3:5", "upgrade"),
        ("      before:", "      befor:", "unknown-keyname", "4:7", '"before"'),
        (f"- fqn: {WEBHOOK}", f"- fnq: {WEBHOOK}", "unknown-keyname", "5:11", '"fqn"'),
        (f"- fqn: {WEBHOOK}\n          desc", "- desc", "missing-keyname", "5:11", "blocks list"),
        ("timeout: 1m", "timeout: 5 min", "bad-duration", "7:20", "write 5m"),
        ("timeout: 1m", "timeout: 30", "wrong-form", "7:20", '"30"'),
        ("onFailure: rollback", "onFailure: rolback", "bad-value", "8:22", '"rollback"'),
        ("description: Tell them", "script: echo", "inline-step", "6:11", "'database/upgrade.before[0]': custom"),
        ("get_input: url", "get_input: ulr", "unknown-input", "9:", '"url"'),
        ("'phase != \"\"'", "'hase != \"\"'", "bad-condition", "", "phase"),
        ("delete: { before: [] }", "delete: { before: {} }", "wrong-form", "14:21", "a list of steps"),
        ("delete: { before: [] }", "delete:", "wrong-form", "14:10", "a map"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_with_its_place(
    tmp_path: Path, old: str, new: str, code: str, place: str, said: str
) -> None:
    assert old in FILE
    with pytest.raises(InvalidDocument) as refused:
        with_file(tmp_path, PLAIN, FILE.replace(old, new, 1))
    errors = [d for d in refused.value.diagnostics if d.severity == "error" and d.code == code]
    assert len(errors) == 1, refused.value.diagnostics
    assert f"lifecycle.yaml:{place}" in str(errors[0].span)
    assert said in f"{errors[0].message} {errors[0].hint}"


def test_one_phase_of_one_component_is_declared_in_one_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument) as refused:
        with_file(tmp_path, HEAD + step("tell", "[ database ]", "upgrade.before"), FILE)
    (found,) = refused.value.diagnostics
    assert (found.code, str(found.span).rpartition("/")[2]) == ("two-lifecycles", "lifecycle.yaml:4:7")
    assert str(found.related[0].span).endswith("service.yaml:12:7")
    with_file(tmp_path, HEAD + step("tell", "[ database ]", "upgrade.after"), FILE)


def test_two_files_beside_the_service_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "lifecycle.json").write_text("{}")
    with pytest.raises(InvalidDocument, match="two-lifecycles"):
        with_file(tmp_path, PLAIN, FILE)


MIGRATE = "ordito.dev/lifecycle/data@v1#Migrate"


def migrating(folder: Path, config: str, inputs: dict[str, object] | None = None) -> ReadService:
    for name in ("one.up.sql", "one.down.sql"):
        (folder / "sql").mkdir(exist_ok=True)
        (folder / "sql" / name).write_text("SELECT 1;")
    (folder / "elsewhere").symlink_to(folder.parent)
    text = HEAD + step("last", fqn=MIGRATE).replace("{ url: { get_input: url } }", config)
    (folder / "service.yaml").write_text(text)
    circumstances = Circumstances(inputs=inputs or {})
    return read_service(str(folder / "service.yaml"), Diagnostics(), Network.REFUSED, circumstances)


def test_files_of_the_archive_are_pinned_with_the_steps_that_name_them(tmp_path: Path) -> None:
    config = "{ database: /x.db, migrations: { concat: [ s, { get_input: url } ] } }"
    found = migrating(tmp_path, config, {"url": "ql"})
    assert found.steps.paths == {"last": ("sql",)}
    measured = measure(Layout(tmp_path / "e"), found.package.tree, "service.yaml", [], artifact_files(found))
    assert list(named_files(found, measured)["last"]) == ["sql"]
    (tmp_path / "sql" / "one.up.sql").write_text("SELECT 2;")
    changed = measure(Layout(tmp_path / "e"), found.package.tree, "service.yaml", [], artifact_files(found))
    assert named_files(found, changed) != named_files(found, measured)


@pytest.mark.parametrize(
    ("config", "code", "column", "said"),
    [
        ("{ database: /x.db, migrations: sqll }", "missing-artifact", 50, "sqll"),
        ("{ database: /x.db, files: [ sql/one.up.sql, sql/two.up.sql ] }", "missing-artifact", 63, "sql/two.up.sql"),
        ("{ database: /x.db, migrations: ../sql }", "missing-artifact", 50, "leads out"),
        ("{ database: /x.db, migrations: elsewhere }", "missing-artifact", 50, "elsewhere is a link that leads out"),
        ("{ database: /x.db, migrations: { get_input: hidden } }", "missing-artifact", 50, "folder (sensitive)"),
        ("{ database: /x.db, migrations: { get_attribute: [ api, state ] } }", "bad-value", 50, "before anything runs"),
        ("{ database: /x.db, patience: 0 s }", "constraint", 48, "greater than"),
        ("{ database: /x.db, when_one_fails: { get_input: url } }", "constraint", 54, "undo"),
    ],
)
def test_config_is_checked_with_the_values_of_inputs(
    tmp_path: Path, config: str, code: str, column: int, said: str
) -> None:
    with pytest.raises(InvalidDocument) as refused:
        migrating(tmp_path, config, {"url": "sometimes"})
    (found,) = (d for d in refused.value.diagnostics if d.severity == "error")
    assert found.code == code
    assert said in found.message
    assert "s3cret" not in found.message
    assert found.span is not None
    assert found.span.column == column


def test_nothing_sensitive_in_a_config_is_shown_where_the_model_is(tmp_path: Path) -> None:
    text = (HEAD + step("last")).replace("{ get_input: url }", '"http://hidden.example/"')
    file = (
        f'module: {{ install: {{ before: [ {{ fqn: "{WEBHOOK}", config: {{ url: "http://hidden.example/" }} }} ] }} }}'
    )
    data = compiled(with_file(tmp_path, text, file).service)
    assert "hidden.example" not in json.dumps(data)
    hooks = data["hooks"]
    assert isinstance(hooks, dict)
    assert [hook["config"]["attempts"] for hook in hooks.values()] == [3, 3]
    types = hooks["last"]["block"]["data_types"]
    assert list(types) == ["ordito.dev.lifecycle.notify.v1.Webhook", "ordito.datatypes.ArchivePath"]


def test_steps_are_no_part_of_nodes(tmp_path: Path) -> None:
    (unknown,) = found(
        tmp_path, PLAIN.replace("{ type: tosca.nodes.Root }", "{ type: tosca.nodes.Root, lifecycle: {} }")
    )
    assert "lifecycle.yaml" in unknown[3]


def test_who_only_looks_at_nodes_needs_no_blocks(tmp_path: Path) -> None:
    (tmp_path / "lifecycle.yaml").write_text(FILE.replace("#Webhook", "#Elsewhere"))
    (tmp_path / "service.yaml").write_text(PLAIN)
    assert len(graph(GraphRequest(str(tmp_path))).graph.nodes) == 2
    with pytest.raises(InvalidDocument, match="unknown-block"):
        compile_service(CompileRequest(str(tmp_path)))


OWN_BLOCK = """tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:blocks" ]
policy_types:
  "own.example/plain@v1#Bare": { derived_from: ordito.policies.LifecycleStep, version: 1.0.0 }
node_types:
  "own.example/plain@v1#Bare":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: bare.sh } } }
topology_template:
  node_templates:
    database: { type: tosca.nodes.Root }
"""
BARE = "own.example/plain@v1#Bare"


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (f'{{ fqn: "{BARE}", config: {{ size: 1 }} }}', "unknown-property", "takes no config | remove config"),
        (f'{{ fqn: "{BARE}", config: many }}', "wrong-form", "must be a map, not a single value | write the names of"),
        (f'{{ fqn: "{BARE}", config: {{ concat: [ a, b ] }} }}', "wrong-form", "must be a map, not a function"),
        (f'{{ fqn: "{WEBHOOK}" }}', "missing-value", "| write config: with url"),
        (f'{{ fqn: "{BARE}", description: [ a ] }}', "wrong-form", '"description" of lifecycle step'),
        ("a word", "wrong-form", "must be a map with its fqn, not a single value"),
    ],
)
def test_what_a_step_of_a_file_must_be(tmp_path: Path, given: str, code: str, said: str) -> None:
    (tmp_path / "bare.sh").write_text("true\n")
    (tmp_path / "lifecycle.yaml").write_text(f"module: {{ install: {{ after: [ {given} ] }} }}\n")
    ((found_code, line, _, message),) = found(tmp_path, OWN_BLOCK)
    assert (found_code, line) == (code, 1)
    assert said in message


def test_a_policy_is_not_called_as_a_step_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "lifecycle.yaml").write_text(FILE)
    ((code, line, _, message),) = found(tmp_path, HEAD + step('"database/upgrade.before[0]"', "[ api ]"))
    assert (code, line) == ("duplicate-name", 12)
    assert "is called as the lifecycle step" in message


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (f'type: "{WEBHOOK}"', "is of the type of a block"),
        (
            "type: tosca.nodes.Root, interfaces: { Block: { type: ordito.interfaces.LifecycleBlock } }",
            "has the interface of a block",
        ),
    ],
)
def test_a_node_is_no_block(tmp_path: Path, declared: str, said: str) -> None:
    text = HEAD.replace("    database:", f"    block: {{ {declared} }}\n    database:").replace("  policies:\n", "")
    errors = [e for e in found(tmp_path, text) if e[0] == "inline-step"]
    assert [(line, said in message) for _, line, _, message in errors] == [(7, True)]


STANDS = f"""tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:blocks" ]
node_types:
  my.Part: {{ derived_from: tosca.nodes.Root }}
topology_template:
  substitution_mappings: {{ node_type: my.Part }}
  node_templates:
    inside: {{ type: tosca.nodes.Root }}
  policies:
    - inner: {{ type: "{WEBHOOK}", properties: {{ phase: install.after, config: {{ url: "http://127.0.0.1/" }} }} }}
"""
STOOD_FOR = f"""tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:blocks", inside.yaml ]
topology_template:
  node_templates:
    part: {{ type: my.Part, directives: [ substitute ] }}
  policies:
    - outer:
        type: "{WEBHOOK}"
        TARGETS
        properties: {{ phase: install.after, config: {{ url: "http://127.0.0.1/" }} }}
"""


def test_steps_of_a_node_that_a_topology_stands_for(tmp_path: Path) -> None:
    """Outside nobody can say at which of the nodes inside they run, and what is inside is no module of its own."""
    (tmp_path / "inside.yaml").write_text(STANDS)
    errors = found(tmp_path, STOOD_FOR.replace("TARGETS", "targets: [ part ]"))
    assert [(code, line) for code, line, *_ in errors] == [("not-supported-yet", 9)]
    assert "write the step in inside.yaml, about a node of it" in errors[0][3]
    diagnostics = Diagnostics()
    (tmp_path / "service.yaml").write_text(STOOD_FOR.replace("TARGETS", "description: about the module"))
    service = read_service(str(tmp_path / "service.yaml"), diagnostics).service
    assert list(service.hooks) == ["outer"]
    assert [d.code for d in diagnostics] == ["not-enforced"]
