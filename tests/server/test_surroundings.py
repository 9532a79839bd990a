"""What documents on a server may reach: their package and their ensemble, and nothing else of its machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.conftest import SERVICE, deployed
from tests.server.test_packages import send
from tests.support.packages import META, packed
from tests.support.serving import MANY_REQUESTS, Answer, Client, Served

PRIVATE = "private-9217"
"""What no answer may hold: it stands in files and variables of the server's machine."""

OWN = "own-3350"
"""What may be read."""

ENSEMBLE = "projects/default/ensembles/shop"


class Machine:
    """A server with an ensemble, and private files beside it."""

    def __init__(self, place: Path, server: Served, client: Client) -> None:
        self.place = place
        self.shop = place / "shop"
        self.server = server
        self.client = client
        self._manifest = (self.shop / "ensemble.yaml").read_text()

    def with_input(self, value: str) -> Answer:
        """What the spec of the ensemble comes to when an input is this."""
        return self.with_spec(f"  service: service.yaml\n  inputs:\n    motto: {value}\n")

    def with_spec(self, spec: str) -> Answer:
        """What a spec comes to."""
        own = self._manifest[self._manifest.index("\n# ", self._manifest.index("spec:")) :]
        (self.shop / "ensemble.yaml").write_text(f"spec:\n{spec}{own}")
        return self.client.ask("GET", f"{ENSEMBLE}/spec/evaluated")

    def with_hosts(self, text: str) -> Answer:
        """The hosts of an inventory."""
        (self.shop / "hosts.yaml").write_text(text)
        try:
            return self.client.ask("GET", f"{ENSEMBLE}/hosts")
        finally:
            (self.shop / "hosts.yaml").unlink()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    place = tmp_path_factory.mktemp("machine")
    deployed(place, service=SERVICE.replace("inputs: {", "inputs: { motto: { type: string, default: none },"))
    for name in ("private.txt", "private.yaml", "hosts.yaml"):
        (place / name).write_text(f"hosts: {{ {PRIVATE}: {{ address: 192.0.2.1 }} }}\n")
    (place / "tosca.yaml").write_text(SERVICE.replace("Said", PRIVATE))
    (place / "shop" / "own.txt").write_text(OWN)
    for name in ("service.yaml", "say.sh"):
        (place / "shop" / name).write_bytes((place / name).read_bytes())
    (place / "shop" / "link.txt").symlink_to(place / "private.txt")
    (place / "shop" / "outside").symlink_to(place)
    # What it keeps for itself is read by no document either.
    (place / "shop" / ".ordito" / "key").write_text(PRIVATE)
    (place / "shop" / ".ordito" / "secrets.txt").write_text(f"a: {PRIVATE}\n")
    (place / "shop" / "key.txt").symlink_to(place / "shop" / ".ordito" / "key")
    # A working tree around it is no reason to read what is in it.
    (place / ".git").mkdir()
    before = dict(os.environ)
    os.environ.update(SECRET=PRIVATE, LISTED=OWN)
    try:
        with Served(place / "home", place / "shop", settings=f"{MANY_REQUESTS}variables: [ LISTED ]\n") as server:
            yield Machine(place, server, server.admin())
    finally:
        os.environ.clear()
        os.environ.update(before)


INSIDE = ["{ file: own.txt }", "{ file: ./own.txt }", "{ env: LISTED }", '"{{ env.LISTED }}"']


@pytest.mark.parametrize("value", INSIDE)
def test_what_belongs_to_the_ensemble_is_read(machine: Machine, value: str) -> None:
    found = machine.with_input(value)
    assert found.status == 200, found
    assert OWN in found.body.decode()


OUTSIDE = [
    "{ file: /etc/passwd }",
    "{ file: PLACE/private.txt }",
    "{ file: ../private.txt }",
    "{ file: link.txt }",
    "{ file: outside/private.txt }",
    "{ file: /proc/self/environ }",
    "{ file: .ordito/key }",
    "{ file: own/../.ordito/key }",
    "{ file: key.txt }",
    "{ +.ordito/secrets.txt: }",
    "{ file: ../private.txt, default: none }",
    "{ file: ../private.yaml, format: yaml }",
    "{ env: SECRET }",
    "{ env: SECRE }",
    "{ env: HOME }",
    '"{{ env.SECRET }}"',
    '"{{ env }}"',
    "{ +../private.yaml: }",
    "{ +PLACE/private.yaml: }",
    "{ +link.txt: }",
]


@pytest.mark.parametrize("value", OUTSIDE)
def test_nothing_else_of_the_machine_is_shown(machine: Machine, value: str) -> None:
    found = machine.with_input(value.replace("PLACE", str(machine.place)))
    text = found.body.decode()
    assert PRIVATE not in text
    assert "root:" not in text
    assert str(Path.home()) not in text or str(machine.place).startswith(str(Path.home()))
    assert found.status == 422 or '"motto":{"value":"none"' not in text, found
    assert PRIVATE not in machine.server.log.read_text()


@pytest.mark.parametrize(
    ("value", "says", "names"),
    [
        ("{ env: SECRET }", 'variable "SECRET" is not set', "`variables` of server.yaml"),
        ("{ file: /etc/passwd }", "cannot read", "`reads` of server.yaml"),
        ("{ file: ../../../private.txt }", "leads out of the ensemble's directory", "`reads` of server.yaml"),
    ],
)
def test_what_can_be_done_about_it_is_said(machine: Machine, value: str, says: str, names: str) -> None:
    """At a server nobody sets a variable before a command, and no path of its machine is shown."""
    [found] = machine.with_input(value).data["diagnostics"]
    assert says in found["message"]
    assert names in found["hint"]
    assert "{ secret: NAME }" in found["hint"]
    assert "before you call ordito" not in found["hint"]
    assert str(machine.place) not in found["message"] + found["hint"]


def test_whether_a_file_exists_is_not_told(machine: Machine) -> None:
    there = machine.with_input(f"{{ file: {machine.place}/private.txt }}").data
    not_there = machine.with_input(f"{{ file: {machine.place}/privatd.txt }}").data
    [first], [second] = there["diagnostics"], not_there["diagnostics"]
    assert first["message"].replace("private", "") == second["message"].replace("privatd", "")


def test_inventories_are_those_of_the_ensemble(machine: Machine) -> None:
    machine.with_spec("  service: service.yaml\n  environment: e\n  environments: { e: { hosts: ../hosts.yaml } }\n")
    found = machine.client.ask("GET", f"{ENSEMBLE}/hosts", environment="e")
    assert found.status == 422, found
    assert PRIVATE not in found.body.decode()
    assert "there is no inventory" in found.body.decode()


HOSTS = [
    "hosts: { a: { address: 192.0.2.1, password: { file: ../private.txt } } }\n",
    "hosts: { a: { address: 192.0.2.1, identity: { file: /etc/passwd } } }\n",
    "hosts: { a: { address: { env: SECRET } } }\n",
    "hosts: { a: { address: { file: PLACE/private.txt } } }\n",
]


@pytest.mark.parametrize("text", HOSTS)
def test_an_inventory_shows_nothing_else_either(machine: Machine, text: str) -> None:
    machine.with_spec("  service: service.yaml\n")
    found = machine.with_hosts(text.replace("PLACE", str(machine.place)))
    assert PRIVATE not in found.body.decode()
    assert "root:" not in found.body.decode()


# ------------------------------------------------------------------------------------------------------------ packages

IMPORTS = ["/etc/passwd", "../../private.yaml", "PLACE/tosca.yaml", "file:///etc/passwd", "http://127.0.0.1:9/x.yaml"]


@pytest.mark.parametrize("path", IMPORTS)
def test_a_package_imports_only_what_is_in_it(machine: Machine, path: str) -> None:
    named = path.replace("PLACE", str(machine.place))
    service = SERVICE.replace("node_types:", f'imports: [ "{named}" ]\nnode_types:')
    found = send(machine.client, packed({"TOSCA-Metadata/TOSCA.meta": META, "service.yaml": service, "say.sh": ""}))
    assert (found.status, found.data["code"]) == (422, "invalid"), found
    assert PRIVATE not in found.body.decode()
    assert "root:" not in found.body.decode()


ARTIFACTS = ["/etc/passwd", "../../../private.txt", "PLACE/private.txt", "outside/private.txt"]


@pytest.mark.parametrize("path", ARTIFACTS)
def test_a_package_has_no_artifacts_elsewhere(machine: Machine, path: str) -> None:
    named = path.replace("PLACE", str(machine.place))
    service = SERVICE.replace("start: say.sh", f'start: "{named}"')
    found = send(machine.client, packed({"TOSCA-Metadata/TOSCA.meta": META, "service.yaml": service, "say.sh": ""}))
    assert (found.status, found.data["code"]) == (422, "invalid"), found


# ------------------------------------------------------------------------------------------------------ whole processes


def confined(place: Path, code: str) -> subprocess.CompletedProcess[str]:
    """The end of a process that is confined to a folder and then does something."""
    begin = f"from ordito.app.surroundings import *\nenter(Surroundings(({str(place)!r},)))"
    return subprocess.run([sys.executable, "-c", f"{begin}\n{code}"], capture_output=True, text=True, check=False)


READ = """
from ordito.app.services.read import read_service
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source.remote import Network
try:
    read_service(PATH, Diagnostics(), Network.ALLOWED)
except InvalidDocument as error:
    print(*(f"{d.code}: {d.message} {d.hint}" for d in error.diagnostics), sep="\\n")
"""


def test_services_in_folders_name_nothing_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "types.yaml").write_text(SERVICE.partition("topology_template")[0])
    (inside / "link.yaml").symlink_to(tmp_path / "types.yaml")
    for name in ("../types.yaml", "link.yaml", "../typos.yaml", "/etc/passwd"):
        (inside / "service.yaml").write_text(
            f"tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [ {name} ]\ntopology_template: {{}}\n"
        )
        found = confined(inside, READ.replace("PATH", repr(str(inside / "service.yaml"))))
        assert found.returncode == 0, found.stderr
        assert "outside of the package" in found.stdout or "absolute-import" in found.stdout, (name, found.stdout)
        assert "types.yaml?" not in found.stdout
    alone = confined(inside, READ.replace("PATH", repr(str(tmp_path / "types.yaml"))))
    assert "outside of the package" in alone.stdout


def test_a_process_is_confined_once(tmp_path: Path) -> None:
    code = "from ordito.source.reach import confine\nconfine(('/',), (), ())"
    found = confined(tmp_path, code)
    assert found.returncode == 1
    assert "RuntimeError" in found.stderr


FETCH = """
import http.server, threading
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/on":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/there")
        else:
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
from ordito.source.remote import DEFINITIONS, FetchFailed, Network, RemoteFiles
from ordito.source.tree import Folder
import ordito.source.reach as reach
reach._PROCESS.reach = reach.Reachable(("/",), (), frozenset({f"127.0.0.1:{server.server_port}"}))
files = RemoteFiles(Folder("."), Network.ALLOWED)
for url in (f"http://127.0.0.1:{server.server_port}/here", f"http://127.0.0.1:{server.server_port}/on",
            "http://169.254.169.254/latest", "git+file:///srv/a.git#:a", "git+ssh://git@example.org/a.git#:a"):
    try:
        files.get(url, DEFINITIONS)
        print("fetched")
    except FetchFailed as failure:
        print(failure.message)
"""


def test_files_are_fetched_from_listed_hosts_only(tmp_path: Path) -> None:
    done = confined(tmp_path, FETCH)
    assert not done.stderr, done.stderr
    found = done.stdout.splitlines()
    assert found[0] == "fetched"
    assert found[1].startswith("this server fetches nothing from localhost:")
    assert found[2:] == [
        "this server fetches nothing from 169.254.169.254",
        "a server fetches nothing from its own machine",
        "this server fetches nothing from example.org",
    ]


ADDRESSES = """
import http.server, socket, threading
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server, asked = http.server.HTTPServer(("127.0.0.1", 0), Answers), []
threading.Thread(target=server.serve_forever, daemon=True).start()
port = server.server_port
leads = {"inside.test": ["127.0.0.1"], "moves.test": ["127.0.0.1", "169.254.169.254"]}
leads |= {"cloud.test": ["169.254.169.254"], "git.test": ["127.0.0.1"]}
real = socket.getaddrinfo
def resolve(host, *more, **named):
    if host in leads:
        host = leads[host].pop(0) if len(leads[host]) > 1 else leads[host][0]
    return real(host, *more, **named)
socket.getaddrinfo = resolve
from ordito.source.remote import DEFINITIONS, FetchFailed, Network, RemoteFiles
from ordito.source.tree import Folder
import ordito.source.reach as reach
egress = (f"inside.test:{port}", f"moves.test:{port}:private", f"cloud.test:{port}:private", f"git.test:{port}:private")
reach._PROCESS.reach = reach.Reachable(("/",), (), frozenset(egress))
files = RemoteFiles(Folder("."), Network.ALLOWED)
for url in ("http://inside.test:PORT/a", "git+http://inside.test:PORT/a.git#:a", "http://moves.test:PORT/b",
            "http://cloud.test:PORT/c", "git+http://git.test:PORT/d.git#:a"):
    try:
        files.get(url.replace("PORT", str(port)), DEFINITIONS)
        print("fetched")
    except FetchFailed as failure:
        print(failure.message, failure.hint, sep=": ")
print(asked)
import os
os.environ["http_proxy"] = f"http://127.0.0.1:{port}"
files.get(f"http://inside.test:{port}/e", DEFINITIONS)
print(asked[-1].replace(str(port), "PORT"))
"""


def test_a_listed_name_leads_only_to_addresses_that_were_looked_at(tmp_path: Path) -> None:
    """Over HTTP and for git: not to private networks without ``:private``, not where clouds keep credentials, and not
    elsewhere when it is resolved again. A proxy that the server's machine has to use resolves names itself."""
    done = confined(tmp_path, ADDRESSES)
    assert not done.stderr, done.stderr
    inside, by_git, moves, cloud, git, asked, by_proxy = done.stdout.splitlines()
    for refused in (inside, by_git):
        assert refused.startswith("inside.test has the address 127.0.0.1, which is one of a private network: ")
        assert ":private" in refused
    assert moves == "fetched"
    assert cloud.startswith("cloud.test has the address 169.254.169.254, which no name may lead to")
    # It was connected to: no resolver of this machine knows the name.
    assert git.startswith("git says: ")
    assert asked.startswith("['/b', '/d.git/info/refs")
    assert by_proxy == "http://inside.test:PORT/e"


KEYS = """
from pathlib import Path
from ordito.base.diagnostics import Diagnostics
from ordito.providers.shapes import InventorySection, NoValue
folder, found = Path(PLACE), Diagnostics()
section = InventorySection("pool", None, found, folder, "hosts.yaml", lambda _: False, lambda n: (n, False))
for name in ("keys/own", "/etc/ssh/ssh_host_rsa_key", "~/.ssh/id_ed25519", "../key"):
    try:
        print(section.path(name))
    except NoValue as problem:
        print(problem)
"""


def test_keys_of_hosts_lie_in_the_ensemble(tmp_path: Path) -> None:
    found = confined(tmp_path, KEYS.replace("PLACE", repr(str(tmp_path)))).stdout.splitlines()
    assert found[0] == str(tmp_path / "keys/own")
    assert len(found) == 4
    assert all("outside" in line for line in found[1:])
