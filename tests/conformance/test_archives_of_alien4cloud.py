"""Archives and topologies of Alien4Cloud as they are, by what the program does with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

TOPOLOGY = """\
tosca_definitions_version: alien_dsl_2_0_0
metadata:
  template_name: hello
  template_version: 1.0.0-SNAPSHOT
imports:
  - tosca-normative-types:1.0.0-ALIEN20
  - org.web:1.2.0
topology_template:
  inputs:
    greeting: { type: string, default: hello }
    token: { type: string, password: true, default: hush-hush }
  node_templates:
    my-compute:
      type: tosca.nodes.Compute
      capabilities:
        scalable: { properties: { min_instances: 1, max_instances: 3, default_instances: 2 } }
    web:
      type: org.nodes.Web
      properties: { port: 80, text: { get_input: greeting }, token: { get_input: token } }
      requirements:
        - hostedOnCompute: { type_requirement: host, node: my_compute, relationship: tosca.relationships.HostedOn }
    db:
      type: org.nodes.Db
      requirements:
        - host: { node: my-compute, capability: host }
        - toWeb: { type_requirement: web, node: web, capability: http }
  outputs:
    url: { value: { get_attribute: [ web, url ] } }
    port: { value: { get_property: [ web, http, port ] } }
    address: { value: { get_attribute: [ db, ip_address ] } }
  workflows:
    say:
      steps:
        one:
          target: web
          activities: [ { call_operation: Custom.hello }, { call_operation: Custom.bye } ]
          on_success: two
        two: { node: db, activity: { call_operation: tosca.interfaces.node.lifecycle.Standard.start } }
"""
TYPES = """\
tosca_definitions_version: alien_dsl_1_4_0
template_name: org.web
template_version: 1.2.0
imports: [ "tosca-normative-types:1.0.0-ALIEN14" ]
node_types:
  org.nodes.Base:
    derived_from: tosca.nodes.SoftwareComponent
    interfaces:
      Standard:
        create: { implementation: scripts/none.sh, inputs: { GONE: 1 } }
  org.nodes.Web:
    derived_from: org.nodes.Base
    properties:
      port: { type: integer, default: 80 }
      text: { type: string, required: false }
      token: { type: string, required: false }
    attributes:
      url: { concat: [ "http://", { get_operation_output: [ SELF, standard, create, NAME ] } ] }
    capabilities:
      http: { type: tosca.capabilities.Endpoint, properties: { port: 8080 } }
    requirements:
      - host: { capability: tosca.nodes.Compute, relationship: tosca.relationships.HostedOn }
    interfaces:
      standard:
        inputs: { PORT: { get_property: [ SELF, port ] }, TEXT: nothing }
        create:
          inputs: { TEXT: { get_property: [ SELF, text ] } }
          implementation: scripts/create.sh
      Custom:
        hello: scripts/hello.sh
        bye: scripts/bye.sh
  org.nodes.Db:
    derived_from: tosca.nodes.SoftwareComponent
    requirements:
      - web: tosca.capabilities.Endpoint
        relationship: org.relationships.ToWeb
        occurrences: [ 0, unbounded ]
    interfaces:
      Standard:
        start: scripts/hello.sh
relationship_types:
  org.relationships.ToWeb:
    derived_from: tosca.relationships.ConnectsTo
    interfaces:
      tosca.interfaces.relationship.configure:
        add_target:
          inputs: { WHERE: { get_attribute: [ TARGET, url ] } }
          implementation: scripts/link.sh
"""
SCRIPTS = {
    "create": 'export NAME="$NODE-$TEXT-$PORT"\necho "create $INSTANCE of $INSTANCES on $HOST$GONE" >> "$HOME_/said"',
    "hello": 'echo "hello $NODE" >> "$HOME_/said"',
    "bye": 'echo "bye $NODE" >> "$HOME_/said"',
    "link": 'what="$SOURCE_NODE $SOURCE_INSTANCE $TARGET_NODE $TARGET_INSTANCE $TARGET_INSTANCES"\n'
    'echo "$what $WHERE" >> "$HOME_/said"',
    "none": "false",
}


@pytest.fixture
def ensemble(tmp_path: Path) -> Path:
    """An empty folder for an ensemble."""
    (tmp_path / "ensemble").mkdir()
    return tmp_path / "ensemble"


@pytest.fixture
def hello(tmp_path: Path, ensemble: Path) -> Path:
    """A topology with a catalogue beside it."""
    folder = tmp_path / "hello"
    archive = folder / "catalog/org/web"
    (archive / "scripts").mkdir(parents=True)
    (folder / "topology.yml").write_text(TOPOLOGY, encoding="utf-8")
    (archive / "types.yml").write_text(TYPES, encoding="utf-8")
    for name, text in SCRIPTS.items():
        script = text.replace("$HOME_", str(ensemble)) + "\n"
        (archive / f"scripts/{name}.sh").write_text(script, encoding="utf-8")
    return folder


def said(ensemble: Path) -> list[str]:
    """What the scripts have said, in the order of the alphabet."""
    return sorted((ensemble / "said").read_text(encoding="utf-8").splitlines())


def test_hello_world(hello: Path, ensemble: Path) -> None:
    """R-A4C-0-3, R-A4C-4-11, R-A4C-4-12, R-A4C-5-2, R-A4C-5-6, R-A4C-5-8, R-A4C-6-9, R-A4C-6-11, R-A4C-7-2, R-A4C-7-5:
    a topology is deployed as it is, with what its archives in another version say."""
    done = ordito(ensemble, "deploy", hello, "--yes")
    assert done.code == 0, done.both
    assert said(ensemble) == [
        *(f"create web_{n} of web_1,web_2 on my-compute" for n in (1, 2)),
        *(f"db db_{n} web web_{m} web_1,web_2 http://web-hello-80" for n in (1, 2) for m in (1, 2)),
        *["hello db"] * 2,
    ]
    found = ordito(ensemble, "output").out
    assert 'url     = {"web_1":"http://web-hello-80","web_2":"http://web-hello-80"}' in found, found
    assert "port    = 8080" in found
    done = ordito(ensemble, "undeploy", "--yes")
    assert done.code == 0, done.both


def test_a_workflow(hello: Path, ensemble: Path) -> None:
    """R-A4C-5-10, R-A4C-6.2-2, R-A4C-6.2-4: activities of one step run one after the other, then the next step."""
    assert ordito(ensemble, "deploy", hello, "--yes").code == 0
    (ensemble / "said").unlink()
    done = ordito(ensemble, "workflow", "run", "say", "--yes")
    assert done.code == 0, done.both
    assert said(ensemble) == ["bye web", "bye web", "hello db", "hello db", "hello web", "hello web"]
    (ensemble / "said").unlink()
    assert ordito(ensemble, "run", "Custom.bye", "--yes").code == 0
    assert said(ensemble) == ["bye web", "bye web"]


def test_a_password_is_not_shown(hello: Path, ensemble: Path) -> None:
    """R-A4C-4-3: what is declared as a password is masked."""
    assert ordito(ensemble, "deploy", hello, "--yes").code == 0
    for words in (("describe", "web"), ("inputs",), ("status",)):
        assert "hush-hush" not in ordito(ensemble, *words).both
    assert not [p for p in ensemble.rglob("*.yaml") if "hush-hush" in p.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "words",
    [("validate",), ("plan",), ("compile",), ("graph",), ("schema",), ("fmt", "--check")],
    ids=lambda words: words[0],
)
def test_verbs_that_look(words: tuple[str, ...], hello: Path, ensemble: Path) -> None:
    """R-A4C-0-6: what only looks at a service takes a topology of Alien4Cloud."""
    verb, *options = words
    done = ordito(ensemble, verb, hello, *options)
    assert done.code == 0, done.both
    assert not (ensemble / "said").exists()


def test_a_package_holds_its_archives(hello: Path, ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-3-8: what is packed is deployed where there is no catalogue."""
    packed = tmp_path / "hello.csar"
    done = ordito(ensemble, "package", hello, "--out", packed)
    assert done.code == 0, done.both
    shutil.rmtree(hello)
    done = ordito(ensemble, "deploy", packed, "--yes")
    assert done.code == 0, done.both
    assert "hello db" in said(ensemble)


def test_a_catalogue_elsewhere(hello: Path, ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-3-1: a catalogue is named by an option, or stands beside the ensemble; its archives are kept with what is
    deployed."""
    elsewhere = tmp_path / "shelves"
    shutil.move(hello / "catalog", elsewhere)
    done = ordito(ensemble, "plan", hello)
    assert done.code != 0
    assert "no archive org.web:1.2.0 in" in done.both
    done = ordito(ensemble, "deploy", hello, "--yes", "--catalog", elsewhere)
    assert done.code == 0, done.both
    shutil.rmtree(elsewhere)
    done = ordito(ensemble, "undeploy", "--yes")
    assert done.code == 0, done.both


def test_the_first_catalogue_counts(hello: Path, ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-3-3: of two archives of one name and version the first one found is taken; within one catalogue that is
    said."""
    shutil.copytree(hello / "catalog", tmp_path / "other")
    done = ordito(ensemble, "plan", hello, "--catalog", tmp_path / "other")
    assert done.code == 0, done.both
    assert "duplicate-name" not in done.both
    shutil.copytree(hello / "catalog/org/web", hello / "catalog/same")
    done = ordito(ensemble, "plan", hello)
    assert done.code == 0, done.both
    assert "warning[duplicate-name]: org.web:1.2.0 is in" in done.both


def test_a_broken_archive(hello: Path, ensemble: Path) -> None:
    """R-A4C-2-3: an archive without a name is passed over with a warning; one that cannot be read is an error where it
    is broken."""
    (hello / "catalog/nameless").mkdir()
    (hello / "catalog/nameless/t.yml").write_text("tosca_definitions_version: alien_dsl_2_0_0\n", encoding="utf-8")
    done = ordito(ensemble, "validate", hello)
    assert done.code == 0
    assert "unnamed-template" in done.both
    (hello / "catalog/org/web/types.yml").write_text(TYPES + "  broken: { a\n", encoding="utf-8")
    done = ordito(ensemble, "validate", hello)
    assert done.code != 0
    assert "catalog/org/web/types.yml:" in done.both
    assert "yaml-syntax" in done.both
    assert "unknown-type" not in done.both


def test_a_topology_with_its_own_installation(ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-6.2-7: workflows that are called install and uninstall are run in place of what is made from the
    lifecycle."""
    service = tmp_path / "own.yml"
    (tmp_path / "go.sh").write_text(f'echo "$WHO" >> "{ensemble}/said"\n', encoding="utf-8")
    service.write_text(
        """\
tosca_definitions_version: alien_dsl_1_2_0
imports: [ "tosca-normative-types:1.0.0-ALIEN12" ]
node_types:
  a:
    derived_from: tosca.nodes.Root
    interfaces:
      Mine: { go: { inputs: { WHO: { type: string, default: somebody } }, implementation: go.sh } }
      Standard: { create: none.sh }
topology_template:
  node_templates:
    one: { type: a, interfaces: { standard: { create: go.sh } } }
  workflows:
    install:
      steps:
        first: { node: one, activity: { call_operation: Mine.go }, on-success: last }
        last: { node: one, activity: { set_state: started } }
    uninstall:
      steps:
        gone: { node: one, activity: { set_state: deleted } }
""",
        encoding="utf-8",
    )
    done = ordito(ensemble, "deploy", service, "--yes")
    assert done.code == 0, done.both
    assert said(ensemble) == ["somebody"]
    done = ordito(ensemble, "run", "Mine.go", "-i", "WHO=me", "--override", "--yes")
    assert done.code == 0, done.both
    assert said(ensemble) == ["me", "somebody"]
    done = ordito(ensemble, "undeploy", "--yes")
    assert done.code == 0, done.both
