"""Packing services into archives, and unpacking them."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

TINY = DATA / "tiny"
META = "TOSCA-Metadata/TOSCA.meta"


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """The tiny service, with files beside it that belong to it or not."""
    folder = tmp_path / "tiny"
    shutil.copytree(TINY, folder)
    others = {
        "README.md": "read",
        "scripts/lib/common.sh": "lib",
        ".git/config": "git",
        ".hidden": "x",
        "inputs.yaml": "log: secret",
        "old.csar": "PK",
        "deployed/ensemble.yaml": "x",
        "deployed/jobs.tsv": "x",
        "deployed/status/a.yaml": "x",
        "scripts/__pycache__/a.pyc": "x",
    }
    for name, text in others.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "scripts" / "log.sh").chmod(0o755)
    return folder


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def test_round_trip(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2: what is packed is valid, holds all that belongs to the service, and gives it back as it was."""
    done = run("package", service, "--out", "x.csar", "-o", "json")
    assert done.code == 0, done.err
    expected = [META, "README.md", "scripts/lib/common.sh", "scripts/log.sh", "service.yaml"]
    assert done.json["files"] == expected
    assert done.json["entry"] == "service.yaml"
    assert names(tmp_path / "x.csar") == expected
    assert run("validate", "x.csar").code == 0
    assert run("unpackage", "x.csar", "--out", "again").code == 0
    again = tmp_path / "again"
    assert sorted(p.relative_to(again).as_posix() for p in again.rglob("*") if p.is_file()) == sorted(expected)
    assert (again / "scripts/lib/common.sh").read_text() == "lib"
    assert os.access(again / "scripts/log.sh", os.X_OK)
    assert not os.access(again / "README.md", os.X_OK)
    assert run("package", "again", "--out", "y.csar").code == 0
    assert (tmp_path / "y.csar").read_bytes() == (tmp_path / "x.csar").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["again", "tiny", "x.csar", "y.csar"]  # noqa: PTH208


def test_the_meta_file(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2: versions 1.1, the entry, the author; one that is there is kept as it is."""
    assert run("package", service, "--created-by", "A. Author").code == 0
    with zipfile.ZipFile(tmp_path / "tiny.csar") as archive:
        text = archive.read(META).decode()
    assert text.splitlines() == [
        "TOSCA-Meta-File-Version: 1.1",
        "CSAR-Version: 1.1",
        "Created-By: A. Author",
        "Entry-Definitions: service.yaml",
    ]
    kept = text + "\nMy-Key: my value\n"
    (service / "TOSCA-Metadata").mkdir()
    (service / META).write_text(kept)
    assert run("package", service).code == 0
    with zipfile.ZipFile(tmp_path / "tiny.csar") as archive:
        assert archive.read(META).decode() == kept


def test_other_definitions(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6.2-7: further definitions are listed, names with blanks in quotes."""
    for name in ("a b.yaml", "c.yaml"):
        (service / name).write_text("tosca_definitions_version: tosca_simple_yaml_1_3\n")
    entry = service / "service.yaml"
    assert run("package", entry, "--only-named", "--other", "a b.yaml", "--other", "./c.yaml").code == 0
    assert names(tmp_path / "tiny.csar") == [META, "a b.yaml", "c.yaml", "scripts/log.sh", "service.yaml"]
    with zipfile.ZipFile(tmp_path / "tiny.csar") as archive:
        assert archive.read(META).decode().endswith('\nOther-Definitions: "a b.yaml"\n c.yaml\n')
    assert run("package", entry, "--other", "none.yaml").code == 3


def test_what_is_not_valid_is_not_packed(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2: a missing artifact, a mistake in a template, and a file outside of the folder."""
    (service / "scripts/log.sh").rename(service / "log.sh")
    refused = run("package", service, "--out", "x.csar")
    assert refused.code == 3
    assert "error[missing-artifact]" in refused.err
    assert refused.err.count("error[") == 1, "one missing file is one finding"
    text = (service / "service.yaml").read_text()
    (service / "service.yaml").write_text(text.replace("scripts/log.sh", "../out.sh"))
    (tmp_path / "out.sh").write_text("x")
    refused = run("package", service, "--out", "x.csar")
    assert refused.code == 3
    assert "error[outside-package]" in refused.err
    (service / "service.yaml").write_text(text.replace("node_types", "node_type"))
    assert run("package", service, "--out", "x.csar").code == 3
    assert sorted(os.listdir(tmp_path)) == ["out.sh", "tiny"]  # noqa: PTH208


def test_names_that_do_not_travel(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2, R-6.1-4: what would be refused when it is read is refused when it is packed."""
    (service / "readme.MD").write_text("other")
    refused = run("package", service, "--out", "x.csar")
    assert refused.code == 3
    assert "error[unsafe-archive]" in refused.err
    assert "x.csar" in refused.err
    assert sorted(os.listdir(tmp_path)) == ["tiny"]  # noqa: PTH208


WHERE = (("x.csar", 0), ("x.csar", 0), ("x.zip", 0), ("x.tar", 3), ("tiny/service.yaml", 3), ("a/x.csar", 3))


def test_where_the_archive_goes(run: Run, service: Path, tmp_path: Path) -> None:
    """An archive takes the place of an archive, and of nothing else."""
    for name, code in WHERE:
        assert run("package", service, "--out", name).code == code
    (tmp_path / "mine.csar").write_text("precious")
    assert run("package", service, "--out", "mine.csar").code == 3
    assert (tmp_path / "mine.csar").read_text() == "precious"
    assert run("package", "x.csar").code == 3
    inside = run("package", service, "--out", "tiny/tiny.zip")
    assert inside.code == 0
    assert "tiny.zip" not in names(service / "tiny.zip")


def test_nothing_is_overwritten(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6.1-4: unpacking makes a folder of its own, whole or not at all."""
    assert run("package", service, "--out", "x.csar").code == 0
    assert run("unpackage", "x.csar").code == 0
    refused = run("unpackage", "x.csar")
    assert refused.code == 3
    assert "nothing is overwritten" in refused.err
    (tmp_path / "empty").mkdir()
    assert run("unpackage", "x.csar", "--out", "empty").code == 0
    assert run("unpackage", "x.csar", "--out", "a/deep/one").code == 0
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert run("unpackage", "x.csar", "--out", "link").code == 3
    with zipfile.ZipFile(tmp_path / "x.csar", "a") as archive:
        archive.writestr("../evil", "x")
    assert run("unpackage", "x.csar", "--out", "evil").code == 3
    assert not (tmp_path / "evil").exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]  # noqa: PTH208
    assert run("unpackage", "none.csar").code == 3
    assert run("unpackage", service).code == 3


def test_links_that_leave_the_folder(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2: what lies elsewhere on this machine is not packed, also where a link leads to it."""
    (tmp_path / "key").write_text("secret")
    (service / "scripts/lib/key").symlink_to(tmp_path / "key")
    refused = run("package", service, "--out", "x.csar")
    assert refused.code == 3
    assert "error[outside-package]: tiny/scripts/lib/key is a link that leads out" in refused.err.replace(
        f"{tmp_path}/", ""
    )
    assert not (tmp_path / "x.csar").exists()
    (service / "scripts/lib/key").unlink()
    (service / "scripts/log.sh").rename(tmp_path / "log.sh")
    (service / "scripts/log.sh").symlink_to("../../log.sh")
    assert run("package", service, "--only-named").code == 3


def test_links_and_special_files(run: Run, service: Path, tmp_path: Path) -> None:
    """R-6-2: links within the folder are packed as what they lead to; of all others a warning tells."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("x")
    (service / "inside.md").symlink_to("README.md")
    (service / "libs").symlink_to("scripts/lib")
    odd = {"nowhere": "none", "outside": "../elsewhere", "scripts/up": "..", "loop": "loop"}
    for name, target in odd.items():
        (service / name).symlink_to(target)
    os.mkfifo(service / "pipe")
    done = run("package", service, "--out", "x.csar")
    assert done.code == 0, done.err
    packed = names(tmp_path / "x.csar")
    assert "libs/common.sh" in packed
    assert "inside.md" in packed
    for name in (*odd, "pipe"):
        assert f"/{name} is not packed" in done.err
        assert not any(file.startswith(name) for file in packed)
    assert done.err.count("warning[left-out]") == 6


def test_a_name_that_is_not_utf_8(run: Run, service: Path) -> None:
    """R-6-2: a file whose name no archive can hold is named."""
    Path(os.fsdecode(os.fsencode(service) + b"/scripts/a\xff.sh")).write_text("x")
    refused = run("package", service)
    assert refused.code == 3
    assert "error[unsafe-archive]" in refused.err
    assert "has a name that is not UTF-8" in refused.err
    refused.err.encode()


@pytest.mark.parametrize("name", [".git/config", "a/.GIT/hooks/pre-commit", ".git", ".hg/hgrc", "b/.svn/x"])
def test_version_control_is_not_unpacked(run: Run, service: Path, tmp_path: Path, name: str) -> None:
    """R-6.1-4: what would run in the next `git status` is refused."""
    assert run("package", service, "--out", "x.csar").code == 0
    with zipfile.ZipFile(tmp_path / "x.csar", "a") as archive:
        archive.writestr(name, "[core]\nfsmonitor = ./evil\n")
    refused = run("unpackage", "x.csar", "--out", "y")
    assert refused.code == 3
    assert "error[unsafe-archive]" in refused.err
    assert "version control" in refused.err
    assert not (tmp_path / "y").exists()


def test_a_link_in_a_circle_in_a_folder(run: Run, service: Path) -> None:
    """A folder is read whatever else lies in it, and a misspelt name in it still has its suggestion."""
    (service / "loop").symlink_to("loop")
    assert run("validate", service).code == 0
    assert "did you mean" in run("validate", service / "servce.yaml").err


CHOICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ one.yaml, two.yaml ]
topology_template:
  node_templates:
    edge: { type: my.Edge, directives: [ substitute ] }
"""
TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Edge: { derived_from: tosca.nodes.Root }
"""
TOPOLOGY = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  substitution_mappings: { node_type: my.Edge }
  node_templates:
    inner: { type: tosca.nodes.Root }
"""


def test_choices_between_topologies(run: Run, tmp_path: Path) -> None:
    """R-2.12-2: whoever is told to choose a topology can."""
    folder = tmp_path / "choice"
    folder.mkdir()
    for name, text in {"service": CHOICE, "types": TYPES, "one": TOPOLOGY, "two": TOPOLOGY}.items():
        (folder / f"{name}.yaml").write_text(text)
    for verb in ("graph", "package", "compile"):
        refused = run(verb, folder)
        assert refused.code == 3
        assert "--substitute edge=one" in refused.err
        assert run(verb, folder, "--substitute", "edge=two").code == 0
    assert run("fmt", folder, "--check").code == 0
    unknown = run("validate", folder, "--substitute", "edge=two", "--substitute", "nope=two")
    assert unknown.code == 3
    assert 'no node template named "nope"' in unknown.err


def test_a_folder_called_status_belongs_to_the_service(run: Run, service: Path, tmp_path: Path) -> None:
    """Also where the service is deployed in its own directory."""
    for name in ("ensemble.yaml", "status/check.sh", "status/page.yaml"):
        (service / name).parent.mkdir(exist_ok=True)
        (service / name).write_text("# mine\n")
    assert run("package", service, "--out", "x.csar").code == 0
    assert {"status/check.sh", "status/page.yaml"} <= set(names(tmp_path / "x.csar"))
    assert "ensemble.yaml" not in names(tmp_path / "x.csar")


def test_profiles_that_are_imported_come_along(tmp_path: Path, run: Run) -> None:
    """Others have no bundled profiles: what is imported lies in the archive, beside what is called so already."""
    folder = tmp_path / "made"
    (folder / "parts").mkdir(parents=True)
    (folder / "profiles").mkdir()
    (folder / "profiles" / "cloudify.yaml").write_text("mine: true\n")
    (folder / "service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "imports: [ 'profile:ordito', parts/types.yaml ]\n"
        "topology_template: { node_templates: { a: { type: mine } } }\n"
    )
    (folder / "parts" / "types.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "imports:\n"
        "  - file: profile:cloudify # all of it\n"
        "node_types: { mine: { derived_from: cloudify.nodes.Root } }\n"
    )
    out = tmp_path / "made.csar"
    assert run("package", folder, "--out", out).code == 0
    with zipfile.ZipFile(out) as archive:
        assert "imports: [ profiles/ordito.yaml, parts/types.yaml ]" in archive.read("service.yaml").decode()
        assert "  - file: ../profiles/cloudify-2.yaml # all of it" in archive.read("parts/types.yaml").decode()
        assert archive.read("profiles/cloudify.yaml") == b"mine: true\n"
        assert b"cloudify.nodes.Root:" in archive.read("profiles/cloudify-2.yaml")
    assert run("validate", out).code == 0


def test_profiles_that_profiles_import_come_along(tmp_path: Path, run: Run) -> None:
    """The bundled blocks are made of types of another profile, and run scripts: all of that lies in the archive then,
    beside what is called so already."""
    folder = tmp_path / "shop"
    (folder / "profiles" / "blocks" / "scripts").mkdir(parents=True)
    (folder / "profiles" / "blocks" / "scripts" / "slack.py").write_text("mine")
    step = "{type: ordito.dev/lifecycle/notify@v1#Slack, properties: {phase: install.after, config: {url: 'http://x'}}}"
    (folder / "service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [ 'profile:blocks' ]\n"
        f"topology_template: {{policies: [{{tell: {step}}}]}}\n"
    )
    out = tmp_path / "shop.csar"
    assert run("package", folder, "--out", out).code == 0
    with zipfile.ZipFile(out) as archive:
        assert "imports: [ profiles/blocks-2/blocks.yaml ]" in archive.read("service.yaml").decode()
        assert "  - ../ordito.yaml\n" in archive.read("profiles/blocks-2/blocks.yaml").decode()
        assert {"profiles/blocks-2/scripts/slack.py", "profiles/blocks-2/scripts/ordito_block.py"} <= set(names(out))
        assert b"ordito.policies.LifecycleStep:" in archive.read("profiles/ordito.yaml")
    assert run("validate", out).code == 0


def canaries(folder: Path) -> None:
    """A service whose folder is an ensemble, too, and holds what nobody else may see."""
    pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY\n"
    job = "A6BN0e2P0000"
    for name, text in {
        "secrets.yaml": "CANARY",
        "deep/secrets.yaml": "CANARY",
        "ensemble.yaml": "CANARY",
        "deep/ensemble.yaml": "CANARY",
        "jobs.tsv": "CANARY",
        "jobs/" + job + ".yaml": "CANARY",
        "deep/jobs/" + job + ".yaml": "CANARY",
        "artifacts/" + "a" * 64 + "/x.sh": "CANARY",
        "hosts.yaml": "CANARY",
        "inputs.yaml": "where: CANARY",
        ".ordito/key": "CANARY",
        "id_ed25519": pem,
        "deep/server.pem": pem.replace("OPENSSH ", ""),
        "deep/fine.txt": "fine",
        "certificate.pem": "-----BEGIN CERTIFICATE-----\nfine\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "link.txt").symlink_to("secrets.yaml")


TEMPLATE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app:
      type: tosca.nodes.Root
      artifacts: { thing: { type: tosca.artifacts.File, file: FILE } }
"""


def test_nothing_of_a_deployment_is_packed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    canaries(folder)
    (folder / "service.yaml").write_text(TEMPLATE.replace("FILE", "deep"))
    done = run("package", "shop", "--out", "x.csar")
    assert done.code == 0, done.err
    with zipfile.ZipFile(tmp_path / "x.csar") as archive:
        assert all(b"CANARY" not in archive.read(name) for name in archive.namelist())
    assert names(tmp_path / "x.csar") == [META, "certificate.pem", "deep/fine.txt", "service.yaml"]
    for name in ("secrets.yaml", "deep/server.pem", "id_ed25519", "hosts.yaml", "link.txt"):
        assert f"{name} is not packed" in done.err


@pytest.mark.parametrize("file", ["secrets.yaml", "link.txt", "deep/server.pem", "deep/ensemble.yaml"])
def test_what_is_never_packed_is_refused_where_the_service_names_it(run: Run, tmp_path: Path, file: str) -> None:
    folder = tmp_path / "shop"
    canaries(folder)
    (folder / "service.yaml").write_text(TEMPLATE.replace("FILE", file))
    for more in ((), ("--only-named",)):
        done = run("package", "shop", "--out", "x.csar", *more)
        assert done.code == 3, done.err
        assert "never-packed" in done.err
        assert not (tmp_path / "x.csar").exists()
