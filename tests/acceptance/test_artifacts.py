"""Artifacts of nodes: put in place, filled, and taken by processors, with the real program and a real plug-in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordito.executors import processors
from tests.acceptance.program import files_of, ordito, status_of
from tests.support.plugins import install

TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:tosca_non_normative_1_3 ]
artifact_types:
  acme.artifacts.Package:
    derived_from: tosca.artifacts.Deployment
    properties: { store: { type: string }, port: { type: integer } }
  acme.artifacts.Recipe: { derived_from: tosca.artifacts.Implementation }
"""
SERVICE = """
node_types:
  App:
    derived_from: tosca.nodes.SoftwareComponent
    properties:
      port: { type: integer, default: 80 }
      key: { type: string }
    attributes: { served: { type: string } }
topology_template:
  inputs:
    key: { type: string, metadata: { sensitive: 'true' } }
  node_templates:
    machine:
      type: tosca.nodes.Compute
      artifacts:
        motd: { type: tosca.artifacts.File, file: files/motd, deploy_path: PLACE/motd }
    app:
      type: App
      properties: { key: { get_input: key } }
      requirements: [ host: machine ]
      artifacts:
        plain: { type: tosca.artifacts.File, file: files/plain }
        conf: { type: tosca.artifacts.File, file: files/motd, deploy_path: PLACE/etc/ }
        pages: { type: tosca.artifacts.File, file: files/pages, deploy_path: PLACE/www }
        settings:
          type: tosca.artifacts.template.Jinja2
          file: files/settings.j2
          deploy_path: PLACE/
        package:
          type: acme.artifacts.Package
          file: files/package
          artifact_version: VERSION
          properties: { store: PLACE, port: { get_property: [ SELF, port ] } }
      interfaces:
        Standard:
          operations:
            create: look.sh
            configure:
              inputs: { name: wine }
              implementation: { primary: { type: acme.artifacts.Recipe, file: files/recipe } }
              outputs: { dish: [ SELF, served ] }
"""
CANARY = "canary-of-artifacts-77"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("packages", tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where things are deployed to; what lies there belongs to others."""
    place = tmp_path / "place"
    (place / "etc").mkdir(parents=True)
    (place / "etc/other").write_text("other")
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "files/pages/deep").mkdir(parents=True)
    (project / "files/motd").write_text("welcome")
    (project / "files/plain").write_text("plain")
    (project / "files/pages/deep/index").write_text("index")
    (project / "files/settings.j2").write_text("port={{ port }}\nkey={{ key }}\n")
    (project / "files/package").write_text("package")
    (project / "files/recipe").write_text("dish name\n")
    return project


def write(project: Path, place: Path, text: str = SERVICE, version: str = "2.4") -> None:
    text = (TYPES + text).replace("PLACE", str(place)).replace("VERSION", f"'{version}'")
    (project / "service.yaml").write_text(text)
    # What is deployed is there when create runs, and the machine's own files are.
    look = f"ls {place}/etc/motd {place}/www/deep/index {place}/settings {place}/package.json {place}/motd >/dev/null\n"
    (project / "look.sh").write_text(look + f"[ ! -e {place}/plain ]\n")


def with_plugin(plugin: Path) -> str:
    return f"import sys; sys.path.insert(0, {str(plugin)!r})"


def there(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


def test_artifacts_are_deployed_before_create_and_removed_with_delete(project: Path, place: Path, plugin: Path) -> None:
    """R-3.6.7-5, R-5.4-1, R-5.4-5, R-14.4-2, R-3.7.4-3, R-13.4.3-1, R-13.4.7-1, R-13.2.8-1: each at its place, filled
    or handed to its processor; a plain file without a place triggers nothing."""
    write(project, place)
    done = ordito(project, "deploy", "service.yaml", "--yes", "-i", f"key={CANARY}", code=with_plugin(plugin))
    assert done.code == 0, done.both
    assert there(place) == ["etc/motd", "etc/other", "motd", "package.json", "settings", "www/deep/index"]
    assert (place / "settings").read_text() == f"port=80\nkey={CANARY}\n"
    assert (place / "settings").stat().st_mode & 0o777 == 0o600
    assert status_of(project)["instances"]["app_1"]["attributes"]["served"] == "wine"
    call = json.loads((place / "package.json").read_text())
    assert (call["format"], call["verb"], call["by"], call["content"]) == (
        "ordito.artifact-call/1",
        "deploy",
        "second",
        "package",
    )
    assert call["artifact"]["properties"] == {"store": str(place), "port": 80}
    assert (call["artifact"]["version"], call["instance"], call["target"]) == ("2.4", "app_1", None)
    assert CANARY.encode() not in b"".join(files_of(project).values())
    again = ordito(project, "deploy", "service.yaml", "--yes", "-i", f"key={CANARY}", code=with_plugin(plugin))
    assert "nothing to do" in again.both.lower(), again.both
    gone = ordito(project, "undeploy", "--yes", code=with_plugin(plugin))
    assert gone.code == 0, gone.both
    assert there(place) == ["etc/other"]


@pytest.mark.parametrize(("version", "by"), [("", "any"), ("2.4.1", "second"), ("10", "tenth"), ("3", "any")])
def test_the_processor_of_the_version_takes_it(
    plugin: Path, version: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-13.2.1-2, R-3.6.7-7: the nearest one that is offered for it."""
    monkeypatch.syspath_prepend(str(plugin))
    processors.artifact_processors.cache_clear()
    found = processors.processor_for(f"artifact:acme.artifacts.Package@{version}")
    processors.artifact_processors.cache_clear()
    expected = {"any": "install", "second": "install_second", "tenth": "install_tenth"}
    assert found == f"acme_packages.processor:{expected[by]}"


def test_what_nothing_takes_is_said_before_anything_runs(project: Path, place: Path) -> None:
    """R-5.4-4, R-13.4.5-1: packages and images without a processor, and templates in other languages."""
    text = SERVICE.replace("create: look.sh", "start: look.sh")
    text += """\
    image:
      type: tosca.nodes.Compute
      artifacts: { disk: { type: tosca.artifacts.Deployment.Image.VM.ISO, file: files/package } }
    twig:
      type: App
      properties: { key: none }
      requirements: [ host: machine ]
      artifacts: { page: { type: tosca.artifacts.template.Twig, file: files/settings.j2 } }
      interfaces:
        Standard: { operations: { start: { implementation: { primary: look.sh, dependencies: [ page ] } } } }
"""
    write(project, place, text)
    for verb in ("plan", "deploy"):
        done = ordito(project, verb, "service.yaml", "-i", "key=x", *(("--yes",) if verb == "deploy" else ()))
        assert done.code == 3, done.both
        for said in (
            'no processor for artifact "package" of node "app", which is of type acme.artifacts.Package, version 2.4',
            'no processor for artifact "disk" of node "image"',
            'no processor for the template "files/settings.j2"',
            "acme.artifacts.Recipe",
        ):
            assert said in done.both, said
    assert there(place) == ["etc/other"]


def test_create_may_do_it_itself(project: Path, place: Path, plugin: Path) -> None:
    """What a template's own create is for needs no processor; one that fails is the node's failure."""
    text = SERVICE.replace("acme.artifacts.Package\n          file", "tosca.artifacts.Deployment.Image\n          file")
    text = text.replace("properties: { store: PLACE, port: { get_property: [ SELF, port ] } }", "")
    write(project, place, text.replace("{ name: wine }", "{ spoiled: true }"))
    (project / "look.sh").write_text('cat "$package"')
    done = ordito(project, "deploy", "service.yaml", "--yes", "-i", f"key={CANARY}", code=with_plugin(plugin))
    assert done.code == 1, done.both
    assert "RuntimeError: the recipe is spoiled" in done.both


def test_a_folder_in_the_way_is_said(project: Path, place: Path, plugin: Path) -> None:
    write(project, place)
    (place / "motd").mkdir()
    done = ordito(project, "deploy", "service.yaml", "--yes", "-i", f"key={CANARY}", code=with_plugin(plugin))
    assert done.code == 1
    assert f"{place}/motd is a folder: end deploy_path with a slash" in done.both


def test_an_interpreter_that_is_not_there_is_said_by_the_plan(project: Path) -> None:
    """R-3.6.7-7, R-13.2.1-2, R-13.2.4-1: before anything runs, with the place in the template."""
    text = """
topology_template:
  node_templates:
    app:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create: { implementation: { primary: { type: Python, file: look.py, artifact_version: '3.99' } } }
            start: { implementation: { primary: { type: Bash, file: look.sh, artifact_version: '3' } } }
"""
    (project / "service.yaml").write_text(TYPES + text)
    (project / "look.py").write_text("")
    (project / "look.sh").write_text(f"touch {project}/ran")
    done = ordito(project, "deploy", "service.yaml", "--yes")
    assert done.code == 3, done.both
    assert '"look.py" cannot be run: it needs Python 3.99, which is not installed on this machine' in done.both
    assert "service.yaml:1" in done.both
    assert "look.sh" not in done.both
    assert not (project / "ran").exists()


SCALED = """
topology_template:
  inputs: { apps: { type: integer, default: 2 } }
  node_templates:
    machine: { type: tosca.nodes.Compute }
    app:
      type: tosca.nodes.SoftwareComponent
      occurrences: [ 0, 3 ]
      instance_count: { get_input: apps }
      requirements: [ { host: machine } ]
      artifacts: { conf: { type: tosca.artifacts.File, file: files/motd, deploy_path: PLACE/conf } }
"""


def test_the_last_instance_removes_what_they_share(project: Path, place: Path) -> None:
    """What an instance of the same node still has at its place stays there."""
    write(project, place, SCALED)
    assert ordito(project, "deploy", "service.yaml", "--yes").code == 0
    scaled = ordito(project, "scale", "app=1", "--no-scale-compute", "--yes", "-v")
    assert scaled.code == 0, scaled.both
    assert "another instance needs it" in scaled.both
    assert there(place) == ["conf", "etc/other"]
    done = ordito(project, "undeploy", "--yes")
    assert done.code == 0, done.both
    assert there(place) == ["etc/other"]


def test_what_the_template_has_lost_is_removed_as_well(project: Path, place: Path) -> None:
    """From the files that it was deployed with."""
    write(project, place, SCALED)
    assert ordito(project, "deploy", "service.yaml", "--yes").code == 0
    write(project, place, SCALED[: SCALED.index("    app:")])
    (project / "files/motd").unlink()
    assert ordito(project, "deploy", "service.yaml", "--yes").code == 0
    assert there(place) == ["conf", "etc/other"]
    done = ordito(project, "undeploy", "--yes")
    assert done.code == 0, done.both
    assert there(place) == ["etc/other"]
