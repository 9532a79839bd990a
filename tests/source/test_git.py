"""Files out of git repositories: definitions and scripts, over HTTP with a credential, and from this machine."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ordito.app.services.files import check_files
from ordito.app.services.read import ReadService, read_service
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source import git_files, package
from ordito.source.fetch import FetchLimits
from ordito.source.remote import Network
from tests.source.server import Server, give, serving

EMPTY = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
TYPES = f"""{EMPTY}imports: [ lib/more.yaml ]
node_types:
  App:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard: {{ operations: {{ create: ../scripts/create.sh }} }}
"""
TOKEN = "s3cr3t-token-of-git"


def git(folder: Path, *words: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two versions of a script, a link out of it, and hooks that must not run."""
    folder = tmp_path_factory.mktemp("git") / "types.git"
    (folder / "types/lib").mkdir(parents=True)
    (folder / "scripts").mkdir()
    (folder / "types/base.yaml").write_text(TYPES)
    (folder / "types/lib/more.yaml").write_text(EMPTY)
    (folder / "scripts/create.sh").write_text("echo first\n")
    (folder / "link.sh").symlink_to("/etc/passwd")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "tag", "v1")
    (folder / "scripts/create.sh").write_text("echo second\n")
    git(folder, "commit", "-q", "-a", "-m", "second")
    return folder


@pytest.fixture
def served(repository: Path) -> Iterator[Server]:
    """The repository over HTTP, for who shows the token."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        expected = base64.b64encode(f"me:{TOKEN}".encode()).decode()
        if handler.headers.get("Authorization") != f"Basic {expected}":
            give("", 401, WWW_Authenticate="Basic")(handler)
            return
        path, _, query = handler.path.partition("?")
        length = int(handler.headers.get("Content-Length", 0))
        done = subprocess.run(
            ["git", "http-backend"],
            input=handler.rfile.read(length),
            capture_output=True,
            check=True,
            env={
                "PATH": "/usr/bin:/bin",
                "GIT_PROJECT_ROOT": str(repository.parent),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": handler.command,
                "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
                "REMOTE_USER": "me",
            },
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        named = (line.partition(": ") for line in head.decode().splitlines())
        headers = {name.replace("-", "_"): value for name, _, value in named if name != "Status"}
        give(body, 200, **headers)(handler)

    with serving() as server:
        for path in ("info/refs", "git-upload-pack"):
            server.files[f"/types.git/.git/{path}"] = answer
        yield server


def read(folder: Path, text: str, allowed: Network = Network.ALLOWED) -> tuple[ReadService | None, list[str]]:
    """A service whose text is written to a file; and what was found, each with its code."""
    (folder / "service.yaml").write_text(EMPTY + text)
    diagnostics = Diagnostics()
    try:
        service = read_service(str(folder / "service.yaml"), diagnostics, allowed)
        check_files(service, diagnostics, required=True)
    except InvalidDocument as invalid:
        return None, [f"{d.code}: {d.message} {d.hint}" for d in invalid.diagnostics]
    return service, [f"{d.code}: {d.message} {d.hint}" for d in diagnostics]


def script_of(read: ReadService) -> str:
    implementation = read.service.nodes["app"].interfaces["Standard"].operations["create"].implementation
    assert implementation is not None
    with read.package.tree.open(implementation.file) as stream:
        return stream.read().decode()


IMPORTING = """\
repositories:
  ours: { url: "URL"CREDENTIAL }
imports: [ { file: types/base.yaml, repository: ours } ]
topology_template:
  node_templates:
    app: { type: App }
"""


@pytest.mark.parametrize(
    ("url", "said"), [("#v1", "first"), ("", "second"), ("#main", "second"), ("#COMMIT", "second")]
)
def test_definitions_and_what_lies_beside_them(tmp_path: Path, repository: Path, url: str, said: str) -> None:
    """R-3.6.6-1, R-3.6.7-4: at the ref that is named, and relative paths stay in the repository."""
    commit = git(repository, "rev-parse", "HEAD")
    text = IMPORTING.replace("URL", f"file://{repository}{url}").replace("COMMIT", commit)
    service, found = read(tmp_path, text.replace("CREDENTIAL", "").replace(commit, commit))
    assert service is not None, found
    assert found == []
    assert script_of(service) == f"echo {said}\n"
    assert not list(repository.glob(".git/hooks/ran"))


def test_a_credential_is_shown_to_its_repository_and_to_nobody_else(tmp_path: Path, served: Server) -> None:
    """R-3.6.6-2, R-13.5-1: without it the answer is said; with it nothing shows it."""
    text = IMPORTING.replace("URL", f"git+{served.url}/types.git/.git#v1")
    _, found = read(tmp_path, text.replace("CREDENTIAL", ""))
    assert found[0].startswith("fetch-failed: cannot fetch git+http://127.0.0.1")
    wrong = f", credential: {{ user: you, token: {TOKEN} }}"
    _, found = read(tmp_path, text.replace("CREDENTIAL", wrong))
    assert "fetch-failed" in found[0]
    assert TOKEN not in found[0]
    service, found = read(tmp_path, text.replace("CREDENTIAL", wrong.replace("you", "me")))
    assert service is not None, found
    assert script_of(service) == "echo first\n"


@pytest.mark.parametrize(
    ("url", "credential", "said"),
    [
        (
            "file://REPOSITORY#v1",
            f"user: me, token: {TOKEN}",
            "to a git repository over HTTP only use a key of ssh",
        ),
        ("git+http://127.0.0.1:1/types.git#v1", f"token_type: identifier, token: {TOKEN}", '"identifier" cannot be'),
    ],
)
def test_a_credential_that_cannot_be_shown(
    tmp_path: Path, repository: Path, url: str, credential: str, said: str
) -> None:
    text = IMPORTING.replace("URL", url.replace("REPOSITORY", str(repository)))
    _, found = read(tmp_path, text.replace("CREDENTIAL", f", credential: {{ {credential} }}"))
    assert said in found[0]
    assert TOKEN not in "".join(found)


def test_what_is_not_fetched_unasked(tmp_path: Path, repository: Path) -> None:
    text = IMPORTING.replace("URL", f"file://{repository}").replace("CREDENTIAL", "")
    _, found = read(tmp_path, text, Network.REFUSED)
    assert found[0].startswith("not-fetched: ")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("absent.sh", "there is no absent.sh in the git repository at v1"),
        ("scripts", "scripts is a folder in the git repository"),
        ("link.sh", "link.sh is a link in the git repository"),
    ],
)
def test_what_is_no_file_of_the_repository(tmp_path: Path, repository: Path, file: str, said: str) -> None:
    text = f"""topology_template:
  node_templates:
    app:
      type: tosca.nodes.Root
      artifacts: {{ it: {{ type: tosca.artifacts.File, file: 'file://{repository}#v1:{file}' }} }}
"""
    _, found = read(tmp_path, text)
    assert said in found[0]


def test_what_can_only_go_wrong(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ref that is not there, a repository without a file, and one that is larger than what is fetched."""
    for url, said in (
        (f"file://{repository}#v9", "git says: fatal: couldn't find remote ref v9"),
        (f"file://{repository}/nowhere.git", "git says: fatal: "),
    ):
        _, found = read(tmp_path, IMPORTING.replace("URL", url).replace("CREDENTIAL", ""))
        assert said in found[0]
    _, found = read(tmp_path, f"imports: [ 'file://{repository}' ]")
    assert "unsupported-url: this is a git repository, and names no file in it" in found[0]
    monkeypatch.setattr(package, "DEFINITIONS", FetchLimits(10, 60.0))
    _, found = read(tmp_path, f"imports: [ 'file://{repository}#v1:types/base.yaml' ]")
    assert "it is larger than 10 bytes, the most that is fetched" in found[0]
    monkeypatch.setattr(git_files, "MOST_BYTES", 100)
    _, found = read(tmp_path, IMPORTING.replace("URL", f"file://{repository}").replace("CREDENTIAL", ""))
    assert "larger than" in found[0]


def test_a_checksum_holds_for_what_is_fetched(tmp_path: Path, repository: Path) -> None:
    """R-13.5-1, R-3.6.7-6: a file of a repository that is another one than is meant is not used."""
    text = f"""topology_template:
  node_templates:
    app:
      type: tosca.nodes.Root
      artifacts:
        it:
          type: tosca.artifacts.File
          file: file://{repository}#v1:scripts/create.sh
          checksum: 00
          checksum_algorithm: sha256
"""
    _, found = read(tmp_path, text)
    assert found[0].startswith("wrong-checksum: ")
