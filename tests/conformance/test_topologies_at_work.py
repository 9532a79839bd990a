"""What the program does with topologies of Alien4Cloud: what they lack, what is read from hosts, secrets, variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.program import ordito

HEAD = """\
tosca_definitions_version: alien_dsl_2_0_0
metadata: { template_name: own, template_version: 1.0.0 }
imports: [ "tosca-normative-types:1.0.0-ALIEN20" ]
"""


@pytest.fixture
def ensemble(tmp_path: Path) -> Path:
    """An empty folder for an ensemble."""
    (tmp_path / "ensemble").mkdir()
    return tmp_path / "ensemble"


def topology(folder: Path, text: str, **files: str) -> Path:
    """A topology in a folder of its own, with scripts beside it."""
    (folder / "scripts").mkdir(parents=True)
    (folder / "topology.yml").write_text(HEAD + text, encoding="utf-8")
    for name, content in files.items():
        (folder / f"scripts/{name}.sh").write_text(content, encoding="utf-8")
    return folder


LACKING = """\
node_types:
  a:
    derived_from: tosca.nodes.Root
    properties: { size: { type: string, required: true } }
    requirements: [ { peer: { capability: tosca.capabilities.Node, relationship: tosca.relationships.DependsOn } } ]
topology_template:
  node_templates:
    one: { type: a }
"""


def test_what_a_topology_still_lacks(ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-1-7, R-A4C-1-8: properties and targets that are missing are told while a topology is composed, and refused
    where it is to be deployed."""
    folder = topology(tmp_path / "lacking", LACKING)
    done = ordito(ensemble, "validate", folder)
    assert done.code == 0, done.both
    assert "warning[missing-value]" in done.both
    assert "warning[missing-requirement]" in done.both
    done = ordito(ensemble, "plan", folder)
    assert done.code == 3
    assert "error[missing-value]" in done.both
    assert "error[missing-requirement]" in done.both


ABSTRACT = """\
node_types:
  wanted: { derived_from: tosca.nodes.Root, abstract: true }
  made: { derived_from: wanted }
topology_template:
  node_templates:
    one: { type: wanted }
    two: { type: made }
"""


def test_an_abstract_type(ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-4-2: a template of an abstract type is composed with, and refused where it is to be deployed."""
    folder = topology(tmp_path / "abstract", ABSTRACT)
    assert ordito(ensemble, "validate", folder).code == 0
    done = ordito(ensemble, "plan", folder)
    assert done.code == 3
    assert 'node template "one" is of the type wanted, which is abstract' in done.both
    assert '"two"' not in done.both


CLIMBING = """\
node_types:
  box:
    derived_from: tosca.nodes.Root
    properties: { place: { type: string, default: cellar } }
    attributes: { found: { type: string } }
    capabilities: { host: { type: tosca.capabilities.Container } }
    interfaces: { Standard: { create: scripts/box.sh } }
  part:
    derived_from: tosca.nodes.Root
    properties: { port: { type: integer, default: 80 }, some-name: { type: string, default: x } }
    capabilities: { web: { type: tosca.capabilities.Endpoint, properties: { own: { type: string, default: y } } } }
    requirements:
      - host: { capability: tosca.capabilities.Container, relationship: tosca.relationships.HostedOn }
    interfaces:
      Standard:
        create:
          inputs:
            PLACE: { get_property: [ SELF, place ] }
            FOUND: { get_attribute: [ SELF, found ] }
            WORD: { get_secret: vault/word }
          implementation: scripts/part.sh
topology_template:
  node_templates:
    box: { type: box }
    part: { type: part, requirements: [ { onBox: { type_requirement: host, node: box } } ] }
  outputs:
    found: { value: { get_attribute: [ box, found ] } }
"""


def test_values_of_hosts_and_secrets(ensemble: Path, tmp_path: Path) -> None:
    """R-A4C-6.1-4, R-A4C-6.1-5, R-A4C-6.1-8, R-A4C-7-6: properties and attributes that a node lacks are those of its
    hosts, secrets are those of the ensemble, and scripts find files beside them."""
    folder = topology(
        tmp_path / "climbing",
        CLIMBING,
        box="export found=here\nexport FOUND=here\n",
        part=f'. "$(dirname "$0")/more.sh"\n'
        'own="$SELF_PORT $SELF_SOME_NAME $SELF_CAPABILITIES_WEB_OWN ${SELF_OTHER-none}"\n'
        f'echo "$PLACE $WORD $own" > "{ensemble}/said"\n',
        more="true\n",
    )
    done = ordito(ensemble, "plan", folder)
    assert done.code == 3
    assert "secrets set vault/word" in done.both
    done = ordito(ensemble, "deploy", folder, "--yes", "-i", "secret:vault/word=hush-hush")
    assert done.code == 0, done.both
    assert (ensemble / "said").read_text(encoding="utf-8") == "cellar hush-hush 80 x y none\n"
    assert not [p for p in ensemble.rglob("*.yaml") if "hush-hush" in p.read_text(encoding="utf-8")]
    assert ordito(ensemble, "undeploy", "--yes").code == 0
