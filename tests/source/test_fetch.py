"""Imports and artifacts from other machines and from repositories: fetched where that is allowed, within bounds."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ordito.app.services.files import check_files
from ordito.app.services.read import ReadService, read_service
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source import remote, transfer
from ordito.source.fetch import FetchLimits
from ordito.source.remote import Network
from tests.source.archives import EMPTY, with_meta
from tests.source.server import Server, give, send_on, serving

TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  App:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations:
          create: scripts/create.sh
"""
BASE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ nodes.yaml, ../lib/more.yaml ]
"""
MAIN = """\
tosca_definitions_version: tosca_simple_yaml_1_3
repositories:
  ours:
    url: URL/types
IMPORTS
topology_template:
  node_templates:
    app:
      type: TYPE
"""
SECRET = "s3cr3t-token"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server with types that import each other, and a script."""
    files = {
        "/types/base.yaml": BASE,
        "/types/nodes.yaml": TYPES,
        "/lib/more.yaml": EMPTY,
        "/types/scripts/create.sh": "echo\n",
    }
    with serving(files) as running:
        yield running


def written(folder: Path, text: str) -> Path:
    path = folder / "service.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def importing(folder: Path, server: Server, imports: str, type_name: str = "App", more: str = "") -> Path:
    """A service that imports something."""
    text = MAIN.replace("IMPORTS", f"imports:\n{imports}").replace("TYPE", type_name)
    return written(folder, text.replace("URL/types", f"URL/types{more}").replace("URL", server.url))


def read(path: Path, network: Network = Network.ALLOWED) -> tuple[ReadService | None, list[tuple[str, str]]]:
    """The service, and what was found as code and all that is said."""
    diagnostics = Diagnostics()
    try:
        service = read_service(str(path), diagnostics, network)
        check_files(service, diagnostics, required=True)
    except InvalidDocument:
        service = None
    return service, [(d.code, f"{d.message}; {d.hint}") for d in diagnostics]


@pytest.mark.parametrize(
    "imports",
    [
        "  - URL/types/base.yaml",
        "  - file: URL/types/base.yaml",
        "  - file: base.yaml\n    repository: ours",
        "  - file: /base.yaml\n    repository: ours",
        "  - URL/types/base.yaml\n  - file: base.yaml\n    repository: ours\n  - URL:PORT/types/./nodes.yaml#x",
    ],
)
def test_imports(tmp_path: Path, server: Server, imports: str) -> None:
    """R-3.6.8-1, R-3.6.8-2, R-3.6.8-4, R-3.6.6-2, R-3.6.6-3: by URL and by repository, each file once, relative to the
    document that names it."""
    imports = imports.replace(":PORT", "")
    service, found = read(importing(tmp_path, server, imports))
    assert found == []
    assert service is not None
    assert sorted(set(server.paths)) == sorted(server.paths)
    assert set(server.paths) >= {"/types/base.yaml", "/types/nodes.yaml", "/lib/more.yaml", "/types/scripts/create.sh"}
    create = service.service.nodes["app"].interfaces["Standard"].operations["create"].implementation
    assert create is not None
    assert service.package.shown(create.file) == f"{server.url}/types/scripts/create.sh"
    with service.package.tree.open(create.file) as stream:
        assert stream.read() == b"echo\n"


def test_nothing_is_fetched_unasked(tmp_path: Path, server: Server) -> None:
    """R-3.6.8-4: without permission the error names the URL and how to give it, and nobody is asked anything."""
    imports = "  - URL/types/base.yaml\n  - file: nodes.yaml\n    repository: ours".replace("URL", server.url)
    _, found = read(importing(tmp_path, server, imports), Network.REFUSED)
    assert [code for code, _ in found] == ["not-fetched", "not-fetched"]
    assert f"{server.url}/types/base.yaml" in found[0][1]
    assert "--fetch" in found[0][1]
    assert server.asked == []


def test_artifacts_are_not_fetched_unasked(tmp_path: Path, server: Server) -> None:
    """R-3.6.7-4: a warning where a bare file is validated, an error where the file is needed."""
    text = f"{TYPES.replace('scripts/create.sh', f'{server.url}/types/scripts/create.sh')}topology_template:\n"
    path = written(tmp_path, f"{text}  node_templates:\n    app: {{ type: App }}\n")
    assert [code for code, _ in read(path, Network.REFUSED)[1]] == ["missing-artifact"]
    assert server.asked == []
    assert read(path)[1] == []
    assert server.paths == ["/types/scripts/create.sh"]


def test_what_was_fetched_is_kept(tmp_path: Path, server: Server) -> None:
    """R-3.6.8-4: a copy of a service holds what was fetched for it, and needs no network."""
    service, _ = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert service is not None
    package = service.package
    for file in [*service.service.files, f"{server.url}/types/scripts/create.sh"]:
        place = tmp_path / package.stored(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        with package.tree.open(package.stored(file)) as stream:
            place.write_bytes(stream.read())
    server.asked.clear()
    again, found = read(tmp_path / "service.yaml", Network.KEPT)
    assert found == []
    assert again is not None
    assert again.service.files == service.service.files
    operations = [s.service.nodes["app"].interfaces["Standard"].operations["create"] for s in (service, again)]
    assert [o.implementation.file for o in operations if o.implementation] == [
        package.stored(f"{server.url}/types/scripts/create.sh")
    ] * 2
    assert server.asked == []


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00 nothing like HTTP\r\n\r\n")


def short(handler: BaseHTTPRequestHandler) -> None:
    give("tosca", Content_Length="900")(handler)


FAILURES = [
    (None, "404", "check the address"),
    (give("no", 500), "500", ""),
    (give("no", 401), "401", "credential"),
    (give("<html>", Content_Type="text/html; charset=utf-8"), "a web page", "raw"),
    (garbage, "", ""),
    (short, "broke off after 5 of 900 bytes", ""),
    (send_on("file:///etc/passwd"), "address that is not HTTP", ""),
    (send_on("ftp://127.0.0.1/x"), "address that is not HTTP", ""),
    (send_on("/types/base.yaml"), "redirects more than 5 times", ""),
    (give("x" * 5000), "larger than 4,000 bytes", ""),
    (give("x" * 5000, Content_Length=""), "larger than 4,000 bytes", ""),
]


@pytest.mark.parametrize(("answer", "message", "hint"), FAILURES)
def test_failures(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, answer: object, message: str, hint: str
) -> None:
    """R-3.6.8-4, R-3.6.8-6: what cannot be fetched is an error that names the URL and the reason."""
    monkeypatch.setattr("ordito.source.package.DEFINITIONS", FetchLimits(4000, 20))
    server.files.pop("/types/base.yaml")
    if answer is not None:
        server.files["/types/base.yaml"] = answer  # type: ignore[assignment]
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found] == ["fetch-failed"]
    assert f"{server.url}/types/base.yaml" in found[0][1]
    assert message in found[0][1]
    assert hint in found[0][1]


@pytest.mark.parametrize("part", ["nothing", "head", "body"])
def test_a_server_that_takes_its_time(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """R-3.6.8-4: fetching ends when its time is over, whatever the server does, or does not do."""

    def slow(handler: BaseHTTPRequestHandler) -> None:
        if part == "head":
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-")
        elif part == "body":
            handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\ntosca")
        with contextlib.suppress(OSError):
            while not server.released.wait(0.05):
                handler.wfile.write(b"" if part == "nothing" else b"x")

    monkeypatch.setattr("ordito.source.package.DEFINITIONS", FetchLimits(4000, 0.4))
    server.files["/types/base.yaml"] = slow
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found] == ["fetch-failed"]
    assert "within 0.4 seconds" in found[0][1]


def test_nobody_listens(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.6.8-4: a refused connection, a host that does not exist, and too many files."""
    with serving() as gone:
        pass
    _, found = read(importing(tmp_path, server, f"  - {gone.url}/x.yaml"))
    assert found[0][0] == "fetch-failed"
    assert "refused" in found[0][1]
    _, found = read(importing(tmp_path, server, "  - http://nothing.invalid/x.yaml"))
    assert found[0][0] == "fetch-failed"
    monkeypatch.setattr(transfer, "MOST_REQUESTS", 2)
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert "2 files at most" in found[0][1]


def test_what_is_no_service_template(tmp_path: Path, server: Server) -> None:
    """R-3.6.8-9: what was fetched is checked like any file, and named by its URL."""
    server.files["/types/base.yaml"] = "node_types: {}\n"
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found] == ["missing-keyname"]
    server.files["/types/base.yaml"] = "token: of the server's neighbour\n"
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found] == ["no-service-template"]
    server.files["/types/base.yaml"] = f"{EMPTY}a: [ b\n"
    diagnostics = Diagnostics()
    path = importing(tmp_path, server, f"  - {server.url}/types/base.yaml")
    with pytest.raises(InvalidDocument):
        read_service(str(path), diagnostics, Network.ALLOWED)
    assert f"{server.url}/types/base.yaml:2:7" in {str(d.span) for d in diagnostics}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("git+https://me:s3cr3t-token@example.org/types.git", "would be shown"),
        ("git+ftp://example.org/types.git", "git repositories are fetched by"),
        ("https://example.org/types.git#--upload-pack=x", "a branch, a tag or a commit"),
        ("https://example.org/types.git#main:../../x", "leads out of the git repository"),
        ("git+https://-oProxyCommand=x/types.git", "not a valid URL"),
        ("git@github.com:someone/types", ""),
        ("ftp://example.org/types", "ftp addresses are not fetched"),
        ("http://me:s3cr3t-token@example.org/types", "would be shown"),
        ("http://[::1/types", "not a valid URL"),
        ("http:///types", "not a valid URL"),
        ("http://host:99999999/types", "not a valid URL"),
        ("file://server/types", "absolute path of this machine"),
    ],
)
def test_urls_that_are_not_fetched(tmp_path: Path, url: str, said: str) -> None:
    """R-3.6.6-1: what is no HTTP URL is refused with what to do; what may be secret in it is not shown."""
    text = f"{EMPTY}repositories:\n  r: {url}\nimports:\n  - {{ file: a.yaml, repository: r }}\n"
    _, found = read(written(tmp_path, text))
    assert [code for code, _ in found] == ["unsupported-url" if said else "import-not-found"]
    assert said in found[0][1]
    assert SECRET not in found[0][1]


def test_repositories_in_folders(tmp_path: Path) -> None:
    """R-3.6.6-3: a repository may be a folder, beside the file that declares it or anywhere on this machine."""
    folder = tmp_path / "elsewhere" / "my types"
    (folder / "scripts").mkdir(parents=True)
    (folder / "nodes.yaml").write_text(TYPES)
    (folder / "scripts" / "create.sh").write_text("echo\n")
    (tmp_path / "svc").mkdir()
    for url in ("../elsewhere/my types", f"{folder}/", f"file://{str(folder).replace(' ', '%20')}"):
        text = f"{EMPTY}repositories:\n  r: '{url}'\nimports:\n  - {{ file: nodes.yaml, repository: r }}\n"
        service, found = read(
            written(tmp_path / "svc", f"{text}topology_template:\n  node_templates:\n    a: {{type: App}}\n")
        )
        assert found == []
        assert service is not None
        create = service.service.nodes["a"].interfaces["Standard"].operations["create"].implementation
        assert create is not None
        assert create.file == "../elsewhere/my types/scripts/create.sh"


@pytest.mark.parametrize("url", ["file:///srv/types", "/srv/types", "../types"])
def test_an_archive_names_nothing_outside(tmp_path: Path, url: str) -> None:
    """R-3.6.8-5: neither do its repositories."""
    text = f"{EMPTY}repositories:\n  r: {url}\nimports:\n  - {{ file: a.yaml, repository: r }}\n"
    _, found = read(with_meta(tmp_path / "x.csar", "a.yaml", files={"a.yaml": text}))
    assert [code for code, _ in found] == ["outside-package"]


@pytest.mark.parametrize("name", ["file:///etc/passwd", "file:../../x.yaml"])
def test_what_was_fetched_names_nothing_here(tmp_path: Path, server: Server, name: str) -> None:
    """R-3.6.8-4: a document of another machine reads no files of this one; an absolute path is one of its server."""
    server.files["/types/base.yaml"] = f"{EMPTY}imports: [ '{name}' ]\n"
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found if code != "unknown-type"] == ["outside-package"]
    server.files["/types/base.yaml"] = f"{EMPTY}imports: [ /types/nodes.yaml, ../../../../lib/more.yaml ]\n"
    assert read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))[1] == []


def basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("credential", "header", "value"),
    [
        ("token: s3cr3t-token, user: me", "Authorization", basic(f"me:{SECRET}")),
        ("token: s3cr3t-token, token_type: password, user: me", "Authorization", basic(f"me:{SECRET}")),
        ("token: 'me:s3cr3t-token', protocol: http, token_type: basic_auth", "Authorization", basic(f"me:{SECRET}")),
        ("token: s3cr3t-token, token_type: bearer, protocol: oauth2", "Authorization", f"Bearer {SECRET}"),
        ("token: s3cr3t-token, token_type: X-Auth-Token, protocol: xauth", "X-Auth-Token", SECRET),
    ],
)
def test_credentials(tmp_path: Path, server: Server, credential: str, header: str, value: str) -> None:
    """R-3.6.6-3, R-5.3.6-3: what a repository's credential holds is shown to its server, for everything below its URL,
    and to no other; also not to one that it sends on to."""
    with serving({"/create.sh": "echo\n", "/more.yaml": EMPTY}) as other:
        server.files["/types/scripts/create.sh"] = send_on(f"{other.url}/create.sh")
        server.files["/types/base.yaml"] = BASE.replace("../lib/more.yaml", f"{other.url}/more.yaml")
        path = importing(
            tmp_path,
            server,
            "  - file: base.yaml\n    repository: ours",
            more=f"\n    credential: {{ {credential} }}",
        )
        _, found = read(path)
        assert found == []
        assert [headers.get(header) for _, headers in server.asked] == [value] * 3
        assert other.paths == ["/more.yaml", "/create.sh"]
        assert not any(SECRET in str(headers) or header in headers for _, headers in other.asked)


@pytest.mark.parametrize(
    ("credential", "said"),
    [
        ("token: s3cr3t-token, token_type: identifier", "cannot be sent to an HTTP server"),
        ('token: "s3cr3t-token\\r\\nX-Evil: y"', "characters that cannot be sent"),
        ("token: s3cr3t-token, token_type: basic_auth", "403"),
    ],
)
def test_secrets_are_not_shown(tmp_path: Path, server: Server, credential: str, said: str) -> None:
    """R-3.6.6-3: whatever goes wrong with a credential, no message holds it."""
    server.files["/types/base.yaml"] = give("no", 403)
    imports = "  - file: base.yaml\n    repository: ours"
    path = importing(tmp_path, server, imports, more=f"\n    credential: {{ {credential} }}")
    _, found = read(path)
    assert found[0][0] == "fetch-failed"
    assert said in found[0][1]
    assert SECRET not in str(found)
    assert not any("X-Evil" in headers for _, headers in server.asked)


def test_large_files_are_not_kept_in_memory(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.6.7-4: a large artifact is kept in a file without a name, and can be read more than once."""
    monkeypatch.setattr(transfer, "MOST_IN_MEMORY", 1000)
    content = bytes(range(256)) * 900
    server.files["/types/scripts/create.sh"] = content
    service, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert found == []
    assert service is not None
    place = service.package.stored(f"{server.url}/types/scripts/create.sh")
    with service.package.tree.open(place) as one, service.package.tree.open(place) as other:
        assert (one.read(), other.read()) == (content, content)
    monkeypatch.setattr("ordito.app.services.files.ARTIFACTS", FetchLimits(1000, 20))
    assert remote.ARTIFACTS.most_bytes > 1000
    _, found = read(importing(tmp_path, server, f"  - {server.url}/types/base.yaml"))
    assert [code for code, _ in found] == ["missing-artifact"]
    assert "larger than 1,000 bytes" in found[0][1]
