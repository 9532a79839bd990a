"""How the files of a deployed service are called: as their author knows them, never as the copies that are kept."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.cli.program import Finished, Run

COPY = re.compile(r"artifacts/[0-9a-f]{6}")

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shelf, template_author: me, template_version: 1.0.0 }
imports: [ ../shared/types.yaml ]
topology_template:
  node_templates:
    base:
      type: my.Thing
    books:
      type: my.Thing
      interfaces: { Standard: { operations: { stop: fail.sh } } }
      requirements: [ dependency: base ]
"""
BASE, BOOKS, STOP = "service.yaml:6:5", "service.yaml:8:5", "service.yaml:10:47"
TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Thing:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: ../my-app/put.sh, delete: ../my-app/put.sh } } }
"""
DELETE = "types.yaml:5:71"
STEPS = """\
module:
  delete:
    after:
      - { fqn: "ordito.dev/lifecycle/test@v1#SmokeTest", config: { endpoints: [ { url: "http://127.0.0.1:9/" } ] } }
"""
STEP = "lifecycle.yaml:4:9"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A service that imports a file above its folder, and has a lifecycle step."""
    folder = tmp_path / "my-app"
    folder.mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/types.yaml").write_text(TYPES)
    (folder / "service.yaml").write_text(SERVICE)
    (folder / "lifecycle.yaml").write_text(STEPS)
    for name, text in (("put.sh", "exit 0\n"), ("fail.sh", "exit 1\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def said(found: Finished) -> str:
    """All that a command has printed, in which no copy is named."""
    text = found.out + found.err
    assert not COPY.search(text), text
    return text


def test_files_that_are_as_they_were(run: Run, app: Path) -> None:
    """Each file is called by the way that leads to it from here: that of the service, and what it imports."""
    assert run("-e", "live", "deploy", "my-app/service.yaml", "--yes").code == 0
    plan = said(run("-e", "live", "plan", "undeploy"))
    assert f"my-app/{BOOKS}\n" in plan
    explained = said(run("-e", "live", "plan", "undeploy", "--explain"))
    assert f"my-app/{STOP}\n" in explained
    assert f"shared/{DELETE}\n" in explained
    assert f"my-app/{STEP}\n" in explained
    assert f"my-app/{BOOKS}\n" in said(run("-e", "live", "describe", "books"))
    assert f'"my-app/{BOOKS}"' in said(run("-e", "live", "describe", "books", "-o", "json"))
    failed = run("-e", "live", "undeploy", "--yes")
    assert failed.code == 1
    assert f"lifecycle step declared at my-app/{STEP}\n" in said(failed)
    said(run("-e", "live", "jobs", "show"))
    assert not COPY.search("".join(path.read_text() for path in Path("live/jobs").iterdir()))


def test_files_that_were_changed_or_are_gone(run: Run, app: Path) -> None:
    """Where a file holds something else now, places in it say which revision they are of; other files are as before."""
    assert run("-e", "live", "deploy", "my-app", "--yes").code == 0
    (app / "service.yaml").write_text("# Mine\n" + SERVICE)
    explained = said(run("-e", "live", "plan", "undeploy", "--explain"))
    assert f"my-app/{STOP} (as deployed, revision 1)\n" in explained
    assert f"shared/{DELETE}\n" in explained
    failed = said(run("-e", "live", "stop", "books", "--yes"))
    assert f"operation declared at my-app/{STOP} (as deployed, revision 1)\n" in failed
    (app / "service.yaml").unlink()
    (app / "lifecycle.yaml").unlink()
    gone = said(run("-e", "live", "plan", "undeploy", "--explain", "-o", "json"))
    assert f'"my-app/{BASE} (as deployed, revision 1)"' in gone
    assert f'"{STEP} (as deployed, revision 1)"' in gone
    said(run("-e", "live", "heal", "base_1", "--yes"))


def test_another_service_since(run: Run, app: Path) -> None:
    """What an earlier revision had is called as the service that it came from, and so is what was lost."""
    (app / "fail.sh").write_text("exit 0\n")
    assert run("-e", "live", "deploy", "my-app/service.yaml", "--yes").code == 0
    (app / "second.yaml").write_text(SERVICE[: SERVICE.index("    books:")])
    assert f"my-app/{BOOKS}\n" in said(run("-e", "live", "plan", "upgrade", "my-app/second.yaml"))
    upgraded = run("-e", "live", "upgrade", "my-app/second.yaml", "--yes")
    assert upgraded.code == 0, upgraded.err
    assert "my-app/second.yaml:6:5\n" in said(run("-e", "live", "describe", "base"))
    assert f"my-app/{BOOKS}\n" in said(run("-e", "live", "plan", "rollback"))


def test_a_service_that_nobody_knows_any_more(run: Run, app: Path) -> None:
    """Where the user's part names another service the file of that is not taken for the one that was deployed."""
    assert run("-e", "live", "deploy", "my-app/service.yaml", "--yes").code == 0
    manifest = Path("live/ensemble.yaml")
    manifest.write_text(manifest.read_text().replace("../my-app/service.yaml", "../my-app/other.yaml"))
    assert f"  {BOOKS} (as deployed, revision 1)\n" in said(run("-e", "live", "plan", "undeploy"))


def test_an_archive(run: Run, app: Path) -> None:
    """Files of an archive are called as in it, also when it was packed again or is gone."""
    text = SERVICE.replace("../shared/", "inner/")
    archive = Path("app.csar")
    for line, note in (("", ""), ("# Mine\n", " (as deployed, revision 1)")):
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("service.yaml", line + text)
            file.writestr("inner/types.yaml", TYPES.replace("my-app/", ""))
            for name in ("put.sh", "fail.sh"):
                file.write(app / name, name)
        if not line:
            deployed = run("-e", "live", "deploy", archive, "--yes")
            assert deployed.code == 0, deployed.err
        explained = said(run("-e", "live", "plan", "undeploy", "--explain"))
        assert f"app.csar:/{STOP}{note}\n" in explained
        assert "app.csar:/inner/types.yaml:5:64\n" in explained
    archive.unlink()
    assert f"app.csar:/{STOP} (as deployed, revision 1)\n" in said(run("-e", "live", "plan", "undeploy", "--explain"))


def test_the_names_of_pins_are_short_where_people_read_them(run: Run, app: Path) -> None:
    """Bash says where a script lies that it cannot run; a program gets the whole of it."""
    (app / "put.sh").write_text("not-there\n")
    failed = run("-e", "e", "deploy", str(app), "--yes")
    assert failed.code == 1
    assert re.search(r"e/artifacts/[0-9a-f]{12}\.\.\./my-app/put\.sh: line 1: not-there: command not found", failed.err)
    assert not re.search(r"[0-9a-f]{40}", failed.out + failed.err)
    assert re.search(r"artifacts/[0-9a-f]{64}/", run("-e", "e", "jobs", "show", "-o", "json").out)
    (pin,) = Path("e/artifacts").iterdir()
    shutil.rmtree(pin)
    lost = run("-e", "e", "undeploy", "--yes")
    assert f"e/artifacts/{pin.name[:12]}..." in lost.err
    assert pin.name not in lost.err
