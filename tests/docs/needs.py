"""What a page needs to be there before its first block, as its comments ``<!-- needs: ... -->`` say."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from random import SystemRandom

from tests.support.real.hosts import SshHosts, User
from tests.support.real.moto import Moto
from tests.support.real.needs import ansible_playbook, lacking
from tests.support.real.podman import Podman
from tests.support.real.postgres import Postgres

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
PROGRAM = """\
#!{python}
import sys
sys.path.insert(0, {sources!r})
from ordito.cli.main import main
main()
"""
PIP = """\
#!/bin/sh
verb=$1
shift
[ "$verb" = install ] && set -- --offline --no-deps --no-build-isolation "$@"
exec {python} -m uv pip "$verb" --quiet --python {own} "$@"
"""
KEPT = ("PATH", "ORDITO_REQUIRED", "PYTHONDONTWRITEBYTECODE")
SSH_PORT = 22
CLOUD = "{ region: eu-central-1 }"
# Below those that a machine gives to connections, and as long as the ports in the pages, so that tables stay even.
PORTS = (15000, 32000)
# Several instances of a page take the ports behind the one that is named.
APART = 10
WHO = User("deploy", sudo="free")


class Prepared:
    """A reader's machine for one page: ``home``, ``environment``, where the shell begins (``work``), and what in the
    page is to be read as something else (``renamed``: what the page says, what is really there)."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.home = folder / "home"
        self.work = folder / "work"
        self.programs = folder / "bin"
        # Whether the program is this very one, so that a process which has imported it can stand for it.
        self.own_program = True
        # What is called so is shared by all who use this machine; a page has its own.
        self.renamed = {"/tmp/": f"{folder}/tmp/"}
        for place in (self.home, self.work, self.programs, folder / "tmp"):
            place.mkdir(parents=True, exist_ok=True)
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "TMPDIR": str(folder / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "USER": getpass.getuser(),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.install(SOURCES)

    def install(self, sources: Path, python: str | Path = sys.executable) -> None:
        """Put the program on the path, with the code that lies there, run by a Python."""
        program = self.programs / "ordito"
        program.write_text(PROGRAM.format(python=python, sources=str(sources)))
        program.chmod(0o755)

    def real(self, text: str) -> str:
        """What the page says, as it is here."""
        for said, real in self.renamed.items():
            text = text.replace(said, real)
        return text

    def said(self, text: str) -> str:
        """What is here, as the page says it."""
        for said, real in self.renamed.items():
            text = text.replace(real, said)
        return text


def provide(words: list[str], prepared: Prepared) -> None:
    """Let there be what a comment asks for. Skips the test, or fails it, where that cannot be had here."""
    NEEDS[words[0]](prepared, words[1:])


# ------------------------------------------------------------------------------------------------------ one by one


def _ssh_hosts(prepared: Prepared, addresses: list[str]) -> None:
    """Hosts at port 22 of addresses of their own; the user ``deploy`` may enter with ``~/.ssh/id_ed25519``."""
    if os.geteuid() != 0:
        lacking("sshd", "only root may listen at port 22")
    # Hosts have their own, and it is called so there.
    prepared.renamed.pop("/tmp/", None)
    hosts = prepared.stack.enter_context(SshHosts(prepared.folder / "hosts"))
    keys = prepared.home / ".ssh"
    keys.mkdir(mode=0o700)
    shutil.copy(hosts.key, keys / "id_ed25519")
    shutil.copy(hosts.key.with_name(f"{hosts.key.name}.pub"), keys / "id_ed25519.pub")
    for address in addresses:
        host = hosts.start(f"host-{address.rpartition('.')[2]}", user=WHO, port=SSH_PORT)
        prepared.renamed[address] = host.address


def _podman(prepared: Prepared, _: list[str]) -> None:
    prepared.environment.update(prepared.stack.enter_context(Podman()).environment)


def _ansible(prepared: Prepared, _: list[str]) -> None:
    program = ansible_playbook()
    for found in program.parent.glob("ansible*"):
        (prepared.programs / found.name).symlink_to(found)


def _moto(prepared: Prepared, _: list[str]) -> None:
    emulator = prepared.stack.enter_context(Moto(prepared.folder / "moto"))
    prepared.environment.update(emulator.environment)
    where = f"{{ region: {emulator.region}, host: {emulator.host}, port: {emulator.port}, secure: false }}"
    prepared.renamed[CLOUD] = where


def _environment(prepared: Prepared, _: list[str]) -> None:
    """An environment of Python with the program in it, its ``python``, and a ``pip`` that installs there what lies on
    this machine."""
    own = prepared.folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(own)], check=True)
    places = [str(SOURCES), sysconfig.get_path("purelib")]
    (folder,) = own.glob("lib/python*/site-packages")
    (folder / "program.pth").write_text("\n".join(places) + "\n")
    prepared.install(SOURCES, own / "bin/python")
    prepared.own_program = False
    pip = prepared.programs / "pip"
    pip.write_text(PIP.format(python=sys.executable, own=own / "bin/python"))
    pip.chmod(0o755)
    python = prepared.programs / "python"
    python.write_text(f'#!/bin/sh\nexec {own / "bin/python"} "$@"\n')
    python.chmod(0o755)


def _ports(prepared: Prepared, ports: list[str]) -> None:
    """Ports that nobody listens on: the page says which it means, and stands for all who read it at the same time."""
    chance = SystemRandom()
    taken: list[int] = []
    for port in ports:
        free = chance.randint(*PORTS)
        while any(abs(free - other) < APART for other in taken) or not _is_free(free):
            free = chance.randint(*PORTS)
        taken.append(free)
        prepared.renamed[port] = str(free)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def _postgresql(prepared: Prepared, _: list[str]) -> None:
    """A server whose addresses ``localhost:5432`` stands for; its database and user are called ``shop``."""
    server = prepared.stack.enter_context(Postgres())
    server.ask("postgres", "CREATE DATABASE shop STRATEGY file_copy")
    prepared.renamed["localhost:5432"] = f"127.0.0.1:{server.port}"


def _repository(prepared: Prepared, _: list[str]) -> None:
    """A clone of the repository with its `.venv` ready, as after the first call of ``./run``."""
    for name in _files_of_the_repository():
        target = prepared.work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
        if name.startswith("examples/") and not target.is_symlink():
            # What examples listen on, and where they keep their files, is the page's alone as well.
            target.write_text(prepared.real(target.read_text()))
    own, programs = prepared.work / ".venv", prepared.work / ".venv/bin"
    programs.mkdir(parents=True)
    real = Path(sys.prefix)
    shutil.copy(real / "pyvenv.cfg", own)
    (own / "lib").symlink_to(real / "lib")
    for found in (real / "bin").iterdir():
        (programs / found.name).symlink_to(found if "python" not in found.name else found.resolve())
    prepared.install(prepared.work / "src")
    prepared.own_program = False
    (programs / "ordito").unlink()
    (programs / "ordito").symlink_to(prepared.programs / "ordito")
    subprocess.run(
        [getattr(sys, "_base_executable", sys.executable), "-c", _loading(prepared.work / "run")],
        cwd=prepared.work,
        check=True,
    )


def _loading(program: Path) -> str:
    """Code that says of an environment that it is as ``./run`` wants it."""
    return (
        "import runpy; run = runpy.run_path(" + repr(str(program)) + ", run_name='run');"
        "run['write_stamp'](*run['wanted_stamp']())"
    )


def _files_of_the_repository() -> list[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0") if done.returncode == 0 else []
    return [name for name in names if name and (ROOT / name).is_file() and not name.startswith(".venv")]


NEEDS: Mapping[str, Callable[[Prepared, list[str]], None]] = {
    "ansible": _ansible,
    "environment": _environment,
    "moto": _moto,
    "podman": _podman,
    "ports": _ports,
    "postgresql": _postgresql,
    "repository": _repository,
    "ssh-hosts": _ssh_hosts,
}
