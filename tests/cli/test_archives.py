"""CSARs through the command: every verb that takes a service takes one."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run
from tests.source.server import serving

META = """\
TOSCA-Meta-File-Version: 1.1
CSAR-Version: 1.1
Created-By: A. Author
Entry-Definitions: definitions/deep/service.yaml
Other-Definitions: definitions/other.yaml
"""
OTHER = "tosca_definitions_version: tosca_simple_yaml_1_3\n"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The tiny service as an archive, its definitions deep in it."""
    path = tmp_path / "tiny.csar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("TOSCA-Metadata/TOSCA.meta", META)
        archive.writestr("definitions/other.yaml", OTHER)
        for file in sorted((DATA / "tiny").rglob("*")):
            if file.is_file():
                text = file.read_text(encoding="utf-8")
                name = file.relative_to(DATA / "tiny").as_posix()
                if name == "service.yaml":
                    name, text = "definitions/deep/service.yaml", text.replace("scripts/", "../../scripts/")
                archive.writestr(name, text)
    return path


def test_validate(run: Run, tiny: Path) -> None:
    """R-6.1-1, R-13.1-1: an archive is validated by itself."""
    assert run("validate", tiny).code == 0
    with zipfile.ZipFile(tiny, "a") as archive:
        archive.writestr("../evil", "x")
    refused = run("validate", tiny)
    assert refused.code == 3
    assert "error[unsafe-archive]" in refused.err


def test_the_whole_way(run: Run, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-6.2-5, R-6.2-6: an archive is deployed, and undeployed when it is gone; nothing is left beside the ensemble."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert run("plan", tiny, "-i", "log=log").code == 0
    done = run("deploy", tiny, "--yes", "-i", f"log={tmp_path / 'log'}")
    assert done.code == 0, done.err
    assert "said = hello from base_1" in done.out
    assert "Nothing to do" in run("deploy", "--yes").err
    tiny.unlink()
    gone = run("undeploy", "--yes")
    assert gone.code == 0, gone.err
    assert list(temporary.iterdir()) == []
    (pinned,) = (tmp_path / "artifacts").iterdir()
    assert (pinned / "TOSCA-Metadata/TOSCA.meta").is_file()
    assert (pinned / "definitions/other.yaml").is_file()


def test_a_folder_laid_out_as_an_archive(run: Run, tiny: Path, tmp_path: Path) -> None:
    """R-6-1: a folder that holds what an archive holds is taken for one."""
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(tiny) as archive:
        archive.extractall(folder)
    done = run("deploy", folder, "--yes", "-i", f"log={tmp_path / 'log'}")
    assert done.code == 0, done.err
    shutil.rmtree(folder)
    assert run("undeploy", "--yes").code == 0


def test_fetched_and_deployed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.6.6-3, R-3.6.8-4: what was fetched is kept with the deployment; undeploying asks nobody, and no file of the
    ensemble but the template itself holds the credential."""
    monkeypatch.setenv("no_proxy", "*")
    text = (DATA / "tiny" / "service.yaml").read_text(encoding="utf-8")
    head, _, topology = text.partition("topology_template:")
    script = (DATA / "tiny/scripts/log.sh").read_bytes()
    with serving({"/lib/types.yaml": head, "/lib/scripts/log.sh": script}) as server:
        main = (
            "tosca_definitions_version: tosca_simple_yaml_1_3\n"
            "repositories:\n"
            f"  lib: {{ url: {server.url}/lib, credential: {{ token: s3cr3t, token_type: bearer }} }}\n"
            "imports:\n"
            "  - { file: types.yaml, repository: lib }\n"
            "topology_template:"
        )
        topology = topology.replace("implementation: scripts/log.sh", "implementation: { primary: PRIMARY }")
        primary = "{ file: scripts/log.sh, type: Bash, repository: lib }"
        (tmp_path / "service.yaml").write_text(main + topology.replace("PRIMARY", primary), encoding="utf-8")
        refused = run("deploy", "service.yaml", "--yes", "-i", f"log={tmp_path / 'log'}")
        assert refused.code == 3
        assert "--fetch" in refused.err
        assert server.asked == []
        done = run("deploy", "service.yaml", "--fetch", "--yes", "-i", f"log={tmp_path / 'log'}", "-v")
        assert done.code == 0, done.err
        assert "said = hello from base_1" in done.out
        assert {headers["Authorization"] for _, headers in server.asked} == {"Bearer s3cr3t"}
        assert "s3cr3t" not in done.out + done.err
    gone = run("undeploy", "--yes")
    assert gone.code == 0, gone.err
    holders = {p.name for p in tmp_path.rglob("*") if p.is_file() and b"s3cr3t" in p.read_bytes()}
    assert holders == {"service.yaml"}


def test_what_a_service_from_an_archive_is_called(run: Run, tiny: Path, tmp_path: Path) -> None:
    """R-6.2-5: by the name of its archive, not by that of the copy that is kept."""
    assert run("deploy", tiny, "--yes", "-e", "e", "-i", f"log={tmp_path / 'log'}").code == 0
    for words in (("status", "-e", "e"), ("plan", "undeploy", "-e", "e")):
        assert run(*words).out.startswith("tiny ")
    assert run("undeploy", "--yes", "-e", "e").code == 0
