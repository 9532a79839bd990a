"""Which block is taken of those that catalogues have."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.services.read import ReadService, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.model.resolve import AS_WRITTEN
from ordito.source.remote import Network

FQN = "example.org/lifecycle/data@v1#Export"
BLOCKS = """tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
policy_types:
  {fqn}:
    derived_from: ordito.policies.LifecycleStep
    version: {version}
node_types:
  {fqn}:
    derived_from: ordito.nodes.LifecycleBlock
    version: {version}
    interfaces: {{ Block: {{ operations: {{ execute: scripts/export.sh }} }} }}
"""
SERVICE = """tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ own/blocks.yaml ]
topology_template:
  policies:
    - export: { type: %s, properties: { phase: delete.before } }
"""


def catalogue(folder: Path, version: str, script: str = "echo exported") -> None:
    (folder / "scripts").mkdir(parents=True)
    (folder / "blocks.yaml").write_text(BLOCKS.format(fqn=FQN, version=version))
    (folder / "scripts" / "export.sh").write_text(script)


def read(folder: Path, *given: Path) -> ReadService:
    (folder / "service.yaml").write_text(SERVICE % FQN)
    sources = StepSources(given=tuple(map(str, given)))
    return read_service(str(folder / "service.yaml"), Diagnostics(), Network.REFUSED, AS_WRITTEN, sources)


def test_of_one_major_version_the_newest_is_taken_wherever_it_is(tmp_path: Path) -> None:
    service = tmp_path / "service"
    catalogue(service / "own", "1.2.0")
    catalogue(service / "catalog" / "ours", "1.10.0")
    catalogue(tmp_path / "given", "1.9.0")
    block = read(service, tmp_path / "given").steps.blocks["export"]
    assert (block.version, block.folder.split("/")[0]) == ("1.10.0", ".lifecycle")


def test_blocks_of_the_service_itself_lie_where_they_are(tmp_path: Path) -> None:
    catalogue(tmp_path / "own", "1.2.0")
    found = read(tmp_path)
    block = found.steps.blocks["export"]
    assert (block.folder, block.execute and block.execute.artifact) == (".", "own/scripts/export.sh")
    assert found.steps.scripts == ("own/scripts/export.sh",)


def test_the_same_block_may_be_in_several_catalogues(tmp_path: Path) -> None:
    catalogue(tmp_path / "own", "1.2.0")
    catalogue(tmp_path / "given", "1.2.0")
    first = read(tmp_path).steps.blocks["export"]
    assert read(tmp_path, tmp_path / "given").steps.blocks["export"].digest == first.digest


def test_two_different_blocks_of_one_version_are_refused(tmp_path: Path) -> None:
    catalogue(tmp_path / "own", "1.2.0")
    catalogue(tmp_path / "given", "1.2.0", "echo something else")
    with pytest.raises(InvalidDocument) as refused:
        read(tmp_path, tmp_path / "given")
    (found,) = refused.value.diagnostics
    assert found.code == "two-blocks"
    assert "own/blocks.yaml" in found.message
    assert "given" in found.message
    assert str(found.span).endswith("service.yaml:5:23")


def test_a_folder_of_scripts_lies_in_the_catalogue(tmp_path: Path) -> None:
    """All of it comes into the pin, so a link must not lead to what is not the catalogue's."""
    catalogue(tmp_path / "own", "1.2.0")
    catalogue(tmp_path / "given", "1.3.0")
    (tmp_path / "given" / "scripts").rename(tmp_path / "elsewhere")
    (tmp_path / "given" / "other").symlink_to(tmp_path / "elsewhere")
    file = tmp_path / "given" / "blocks.yaml"
    file.write_text(file.read_text().replace("scripts/", "other/"))
    with pytest.raises(InvalidDocument, match=r"runs other/export\.sh, where a link leads out of .*given"):
        read(tmp_path, tmp_path / "given")


def test_a_catalogue_with_errors_says_them(tmp_path: Path) -> None:
    catalogue(tmp_path / "own", "1.2.0")
    catalogue(tmp_path / "given", "1.3.0")
    file = tmp_path / "given" / "blocks.yaml"
    file.write_text(file.read_text().replace("ordito.policies.LifecycleStep", "ordito.policies.Step"))
    with pytest.raises(InvalidDocument, match=r"given/blocks\.yaml:5"):
        read(tmp_path, tmp_path / "given")


def test_the_version_of_a_block_is_of_the_major_version_that_its_name_says(tmp_path: Path) -> None:
    catalogue(tmp_path / "own", "2.0.0")
    with pytest.raises(InvalidDocument, match=r"is of version 2\.0\.0, and its name says 1"):
        read(tmp_path)
