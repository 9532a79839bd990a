"""Services with lifecycle steps that are packed into an archive and deployed elsewhere."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.support.leaving import FQN, catalogue

SERVICE = """tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: leaving, template_version: 1.0.0 }
topology_template:
  node_templates:
    api: { type: tosca.nodes.Root }
"""
STEPS = f"""module:
  install:
    after: [ {{ fqn: "{FQN}", config: {{ text: hello, like: notes/model.txt }} }} ]
  delete:
    after: [ {{ fqn: "{FQN}", config: {{ text: bye }} }} ]
"""


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "service"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "model.txt").write_text("as this\n")
    (folder / "service.yaml").write_text(SERVICE)
    (folder / "lifecycle.yaml").write_text(STEPS)
    return folder


def packed(run: Run, service: Path, *words: str) -> list[str]:
    """Pack the service, take away all that it was made from, and deploy the archive; gives the names in it."""
    archive = service.parent / "packed.csar"
    done = run("package", str(service), "--out", str(archive), *words)
    assert done.code == 0, done.err
    for folder in service.parent.iterdir():
        if folder.is_dir():
            folder.rename(folder.with_name(f"{folder.name}.gone"))
    ensemble = str(service.parent / "ensemble")
    deployed = run("-e", ensemble, "deploy", str(archive), "--yes")
    assert deployed.code == 0, deployed.err
    archived = zipfile.ZipFile(archive).namelist()
    archive.unlink()
    assert run("-e", ensemble, "undeploy", "--yes").code == 0
    logged = run("-e", ensemble, "jobs", "logs").out
    assert "left bye" in logged
    return archived


@pytest.mark.parametrize("only", [[], ["--only-named"]])
def test_a_catalogue_of_the_service_is_packed_where_it_is(run: Run, service: Path, only: list[str]) -> None:
    catalogue(service / "catalog" / "ours")
    names = packed(run, service, *only)
    assert {"lifecycle.yaml", "notes/model.txt", "catalog/ours/blocks.yaml", "catalog/ours/scripts/lib.sh"} <= {*names}
    assert len([n for n in names if n.endswith("blocks.yaml")]) == 1
    assert not [n for n in names if n.startswith(".")]


def test_an_archive_of_blocks_is_packed_unpacked(run: Run, service: Path, tmp_path: Path) -> None:
    folder = catalogue(tmp_path / "blocks")
    made = service / "catalog" / "ours.csar"
    made.parent.mkdir()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("TOSCA-Metadata/TOSCA.meta", META)
        for file in folder.rglob("*"):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    names = packed(run, service)
    assert len([n for n in names if n.startswith("catalog/") and n.endswith("scripts/leave.sh")]) == 1


META = """TOSCA-Meta-File-Version: 1.1
CSAR-Version: 1.1
Created-By: nobody
Entry-Definitions: blocks.yaml
"""


def test_catalogues_and_steps_from_elsewhere_are_packed(run: Run, service: Path, tmp_path: Path) -> None:
    (service / "lifecycle.yaml").rename(tmp_path / "steps.yaml")
    (service / "lifecycle.json").write_text("{}")
    given = catalogue(tmp_path / "given")
    names = packed(run, service, "--catalog", str(given), "--lifecycle", str(tmp_path / "steps.yaml"))
    assert "lifecycle.yaml" in names
    assert "lifecycle.json" not in names
    assert len([n for n in names if n.startswith("catalog/") and n.endswith("scripts/leave.sh")]) == 1


def test_blocks_that_come_with_the_program_are_packed_once(run: Run, service: Path) -> None:
    (service / "lifecycle.yaml").unlink()
    wait = "ordito.dev/lifecycle/health@v1#WaitForTcp"
    policy = f"""  policies:
    - wait:
        type: {wait}
        properties: {{ phase: upgrade.before, config: {{ host: 127.0.0.1, port: 80 }} }}
"""
    text = SERVICE.replace("topology_template", 'imports: [ "profile:blocks" ]\ntopology_template') + policy
    (service / "service.yaml").write_text(text)
    archive = service.parent / "packed.csar"
    assert run("package", str(service), "--out", str(archive)).code == 0
    names = zipfile.ZipFile(archive).namelist()
    assert len([n for n in names if n.endswith("/wait_for_tcp.py")]) == 1
    assert run("validate", str(archive)).code == 0


def test_a_job_with_steps_from_elsewhere_is_retried_without_them_being_there(
    run: Run, service: Path, tmp_path: Path
) -> None:
    """What the command named is in the pin."""
    steps = tmp_path / "steps.yaml"
    (service / "lifecycle.yaml").rename(steps)
    given = catalogue(tmp_path / "given")
    flag = tmp_path / "flag"
    script = given / "scripts" / "leave.sh"
    script.write_text(f"[ -e {flag} ] || exit 1\n{script.read_text()}")
    ensemble = ["-e", str(tmp_path / "ensemble")]
    words = ["deploy", str(service), "--yes", "--catalog", str(given), "--lifecycle", str(steps)]
    failed = run(*ensemble, *words)
    assert failed.code == 1
    assert f"deploy --catalog {given} --lifecycle {steps}" in failed.err
    given.rename(tmp_path / "gone")
    steps.unlink()
    flag.touch()
    retried = run(*ensemble, "jobs", "retry", "--yes")
    assert retried.code == 0, retried.err
    assert "left hello" in run(*ensemble, "jobs", "logs").out
