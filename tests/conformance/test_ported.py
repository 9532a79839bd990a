"""Services in other languages that are written as services of TOSCA: each is valid, and gives the same plan."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from ordito.authoring.port import PortRequest, port
from ordito.base.diagnostics import InvalidDocument
from ordito.planning.refused import PlanRefused
from ordito.testing import MemoryEnsemble
from ordito.work.plan import Plan
from tests.acceptance.program import ROOT, ordito
from tests.support.samples import SHARED
from tests.support.yaml_files import read_yaml

SAMPLES = ROOT / "tests/conformance"
SCENARIOS = ROOT / "tests/scenarios/cloudify"


def services() -> list[str]:
    """All samples of both languages, and the scenarios whose services are blueprints."""
    found = [
        *(path for language in ("cloudify", "alien") for path in (SAMPLES / language).glob("*.yaml")),
        *(path.parent for language in ("cloudify", "alien") for path in (SAMPLES / language).glob("*/main.yaml")),
    ]
    found = [p for p in found if "tosca_simple" not in _main(p).read_text(encoding="utf-8")]
    scenarios = [p for p in SCENARIOS.glob("*.yaml") if "cloudify_dsl" in p.read_text(encoding="utf-8")]
    return sorted(path.relative_to(ROOT).as_posix() for path in (*found, *scenarios))


def _main(path: Path) -> Path:
    return path / "main.yaml" if path.is_dir() else path


def laid_out(name: str, home: Path) -> Path:
    """A service in a folder of its own; the path of its main file."""
    path, folder = ROOT / name, home / "service"
    if path.is_dir():
        shutil.copytree(path, folder)
        return folder / "main.yaml"
    folder.mkdir()
    text = path.read_text(encoding="utf-8")
    if SCENARIOS in path.parents:
        text = read_yaml(text)["service"]
        (folder / "do.sh").write_text("", encoding="utf-8")
    for shared in SHARED:
        if (path.parent / shared).is_dir():
            shutil.copytree(path.parent / shared, folder / shared)
    (folder / path.name).write_text(text, encoding="utf-8")
    return folder / path.name


def steps(plan: Plan) -> list[object]:
    """What a plan does, without where it is declared."""
    calls = [msgspec.to_builtins(msgspec.structs.replace(c, declared="", digest="")) for c in plan.calls]
    return [
        (msgspec.to_builtins(msgspec.structs.replace(s, reason=0)), calls[s.call] if s.call >= 0 else None)
        for s in plan.steps
    ]


def planned(file: Path) -> object:
    """The plan of a deployment, or why there is none."""
    try:
        return steps(MemoryEnsemble(file).plan())
    except (InvalidDocument, PlanRefused) as refused:
        return sorted(d.code for d in refused.diagnostics)


@pytest.mark.parametrize("name", services())
def test_a_ported_service_gives_the_same_plan(name: str, tmp_path: Path) -> None:
    """R-CFY-0-5, R-A4C-0-6: what is written is valid, and its plan is that of the service itself."""
    file = laid_out(name, tmp_path)
    made = port(PortRequest(str(file), str(tmp_path / "ported")))
    text = (tmp_path / "ported/service.yaml").read_text(encoding="utf-8")
    assert (
        text.startswith("tosca_definitions_version: tosca_simple_yaml_1_3\n") or "\ntosca_definitions_version" in text
    )
    assert made.language.startswith(("cloudify_dsl_", "alien_dsl_"))
    found = planned(tmp_path / "ported/service.yaml")
    assert found == planned(file)


BLUEPRINT = """\
# The shop.
tosca_definitions_version: cloudify_dsl_1_3
imports: [ cloudify/types/types.yaml ]
node_templates:
  # What everything needs.
  db:
    type: cloudify.nodes.Database  # small
    interfaces:
      cloudify.interfaces.lifecycle: { create: make.sh }
outputs:
  # Where it is.
  at: { value: { get_attribute: [ db, at ] } }
"""


def test_comments_and_files_are_kept(tmp_path: Path) -> None:
    """R-CFY-0-5: comments stay at what they stand at, files are copied, and what is left is listed; it runs."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "blueprint.yaml").write_text(BLUEPRINT, encoding="utf-8")
    (folder / "make.sh").write_text("ctx instance runtime-properties at here\n", encoding="utf-8")
    done = ordito(tmp_path, "port", folder, "--out", tmp_path / "ported")
    assert done.code == 0, done.both
    text = (tmp_path / "ported/service.yaml").read_text(encoding="utf-8")
    assert text.startswith("# The shop.\n")
    assert "    # What everything needs.\n    db:\n" in text
    assert "type: cloudify.nodes.Database # small" in text
    assert "    # Where it is.\n    at:" in text
    left = (tmp_path / "ported/PORTED.md").read_text(encoding="utf-8")
    assert "scripts that call ctx: 1" in left
    assert "attributes that no type declares: 1" in left
    done = ordito(tmp_path, "deploy", tmp_path / "ported", "-e", tmp_path / "e", "--yes")
    assert done.code == 0, done.both
    assert "at = here" in done.out
    assert ordito(tmp_path, "port", folder, "--out", tmp_path / "ported").code == 3
    done = ordito(tmp_path, "port", tmp_path / "ported", "--out", tmp_path / "again")
    assert done.code == 3
    assert "is written in TOSCA already" in done.both


def test_what_is_deployed_beside_it_stays_there(tmp_path: Path) -> None:
    """Else two ensembles would manage the same; and what is written overwrites no file of the blueprint."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "blueprint.yaml").write_text(BLUEPRINT, encoding="utf-8")
    (folder / "make.sh").write_text("ctx instance runtime-properties at here\n", encoding="utf-8")
    done = ordito(tmp_path, "deploy", folder, "-e", folder, "--yes")
    assert done.code == 0, done.both
    done = ordito(tmp_path, "port", folder, "--out", tmp_path / "ported")
    assert done.code == 0, done.both
    assert sorted(path.name for path in (tmp_path / "ported").iterdir()) == ["PORTED.md", "make.sh", "service.yaml"]
    (folder / "service.yaml").write_text("kind: Service\n", encoding="utf-8")
    done = ordito(tmp_path, "port", folder / "blueprint.yaml", "--out", tmp_path / "again")
    assert (done.code, "service.yaml lies beside" in done.err) == (3, True), done.both
    assert not (tmp_path / "again").exists()


WAY_IN = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [ cloudify/types/types.yaml ]
node_templates:
  vm:
    type: cloudify.nodes.Compute
    properties: { agent_config: { user: ubuntu, key: /nowhere/key } }
  app:
    type: cloudify.nodes.SoftwareComponent
    interfaces: { cloudify.interfaces.lifecycle: { create: make.sh } }
    relationships: [ { type: cloudify.relationships.contained_in, target: vm } ]
"""


def test_a_host_without_an_address_is_not_this_machine(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(WAY_IN, encoding="utf-8")
    (tmp_path / "make.sh").write_text(f"touch {tmp_path}/ran\n", encoding="utf-8")
    done = ordito(tmp_path, "deploy", tmp_path / "blueprint.yaml", "-e", tmp_path / "e", "--yes")
    assert done.code == 4, done.both
    assert "has no address: give it the property ip" in done.both
    assert not (tmp_path / "ran").exists()
