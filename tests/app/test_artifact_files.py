"""The files of artifacts: whether they are there, and whether they are those that are meant."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ordito.app.plan import PlanRequest, plan
from ordito.app.requests import DeployRequest
from ordito.authoring.validate import ValidateRequest, validate
from ordito.base.diagnostics import InvalidDocument
from ordito.planning.refused import PlanRefused
from tests.source.archives import with_meta

CONTENT = b"echo hello\n"
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: a, template_version: 1.0.0 }
topology_template:
  node_templates:
    app:
      type: tosca.nodes.Root
      artifacts:
        script: { type: Bash, file: run.sh, checksum: SUM, checksum_algorithm: ALGORITHM }
        image: { type: tosca.artifacts.Deployment.Image.Container.Docker, file: nginx, repository: hub }
      interfaces:
        Standard:
          operations:
            create: script
repositories:
  hub: https://registry.hub.docker.com/
"""


def written(folder: Path, checksum: str, algorithm: str = "SHA-256") -> str:
    (folder / "run.sh").write_bytes(CONTENT)
    path = folder / "service.yaml"
    path.write_text(SERVICE.replace("SUM", checksum).replace("ALGORITHM", algorithm))
    return str(path)


def found(service: str) -> list[tuple[str, str]]:
    """What validating finds: severities and codes."""
    try:
        diagnostics = list(validate(ValidateRequest(service)).diagnostics)
    except InvalidDocument as error:
        diagnostics = error.diagnostics
    return [(str(d.severity), d.code) for d in diagnostics]


def planned(service: str, folder: Path) -> list[str]:
    """The codes for which planning is refused."""
    try:
        plan(PlanRequest(str(folder / "ensemble"), DeployRequest(service)))
    except InvalidDocument as error:
        return [d.code for d in error.diagnostics]
    return []


@pytest.mark.parametrize("algorithm", ["md5", "SHA1", "sha-224", "SHA-256", "sha384", "SHA_512"])
def test_checksums(tmp_path: Path, algorithm: str) -> None:
    """R-3.6.7-6, R-13.5-1: every algorithm, its name written in any way; upper case and blanks around do no harm."""
    name = algorithm.lower().replace("-", "").replace("_", "")
    right = hashlib.new(name, CONTENT).hexdigest()
    assert found(written(tmp_path, right, algorithm)) == []
    assert found(written(tmp_path, f"' {right.upper()} '", algorithm)) == []
    assert found(written(tmp_path, right[:-1], algorithm)) == [("warning", "wrong-checksum")]


def test_a_wrong_checksum(tmp_path: Path) -> None:
    """R-3.6.7-6, R-13.5-1: a warning where a bare file is validated; an archive and a plan are refused, so that no
    operation runs."""
    service = written(tmp_path, "00" * 32)
    assert found(service) == [("warning", "wrong-checksum")]
    assert planned(service, tmp_path) == ["wrong-checksum"]
    files = {"a.yaml": Path(service).read_bytes(), "run.sh": CONTENT}
    archive = str(with_meta(tmp_path / "x.csar", "a.yaml", files=files))
    assert found(archive) == [("error", "wrong-checksum")]
    assert planned(archive, tmp_path) == ["wrong-checksum"]


def test_an_empty_checksum(tmp_path: Path) -> None:
    """R-13.5-1: it is no checksum that every file has."""
    service = written(tmp_path, "''")
    assert found(service) == [("error", "bad-value")]
    assert planned(service, tmp_path) == ["bad-value"]


def test_a_missing_file(tmp_path: Path) -> None:
    """R-3.6.7-4: as for a wrong checksum; an image of a registry is no file."""
    service = written(tmp_path, "00" * 32)
    (tmp_path / "run.sh").unlink()
    assert found(service) == [("warning", "missing-artifact")]
    assert planned(service, tmp_path) == ["missing-artifact"]
    assert found(str(with_meta(tmp_path / "x.csar", "a.yaml", files={"a.yaml": Path(service).read_bytes()}))) == [
        ("error", "missing-artifact")
    ]


def test_an_import_that_is_no_service_template(tmp_path: Path) -> None:
    """R-3.6.8-9: an imported file is a service template itself."""
    (tmp_path / "types.yaml").write_text("node_types: {}\n")
    path = tmp_path / "service.yaml"
    path.write_text("tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [ types.yaml ]\n")
    assert found(str(path)) == [("error", "missing-keyname")]


@pytest.mark.parametrize("file", ["run", "run.xyz"])
def test_what_nothing_runs(tmp_path: Path, file: str) -> None:
    """R-5.4-3, R-5.4-4: a warning when a file is validated, and no plan."""
    (tmp_path / file).write_text("x")
    path = tmp_path / "service.yaml"
    text = SERVICE.partition("      artifacts")[0] + SERVICE[SERVICE.index("      interfaces") :]
    path.write_text(text.replace("create: script", f"create: {file}"))
    assert found(str(path)) == [("warning", "unknown-extension")]
    with pytest.raises(PlanRefused, match="no executor processes"):
        plan(PlanRequest(str(tmp_path / "ensemble"), DeployRequest(str(path))))


def test_a_plain_file_triggers_nothing(tmp_path: Path) -> None:
    """R-5.4-5: a file that no operation names is only there for who asks for it."""
    text = SERVICE.replace("create: script", "create: run.sh").replace("SUM", hashlib.sha256(CONTENT).hexdigest())
    text = text.replace("ALGORITHM", "SHA-256").replace("type: Bash", "type: tosca.artifacts.File")
    (tmp_path / "run.sh").write_bytes(CONTENT)
    path = tmp_path / "service.yaml"
    path.write_text(text)
    made = plan(PlanRequest(str(tmp_path / "ensemble"), DeployRequest(str(path)))).proposal
    assert made is not None
    assert [call.artifact for call in made.plan.calls if call.artifact] == ["run.sh"]
