"""Real hosts for tests: each has its own `sshd` on an address of its own on loopback, its own root, users, processes
and host name, and ends with the tests, however these end.

    with SshHosts(folder) as hosts:
        web = hosts.start("web", user=User("ops", sudo="free"))
        web.address, web.port, web.user, web.key, web.known_hosts_line
        web.cut()

All share the network of this machine, so that a service that one binds to its ``address`` is reached by the others.
Where namespaces are not permitted (``SshHosts.isolated``) a host is a directory, HOME, and an address, and everything
runs as the user of the tests.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import SystemRandom
from types import TracebackType

from tests.support.real.host_files import AT_HOME, CONFIG, User, make_key, make_root, sftp_server
from tests.support.real.needs import lacking, need, program

__all__ = ["OPS", "SshHost", "SshHosts", "User", "silent_host"]

INIT = Path(__file__).with_name("host_init.py")
OPS = User("ops")


def free_place(port: int = 0) -> tuple[str, int]:
    """An address on loopback that is nobody else's, and a port that is free there, or the one that is asked for."""
    chance = SystemRandom()
    address = f"127.{chance.randint(1, 254)}.{chance.randint(0, 255)}.{chance.randint(1, 254)}"
    with socket.socket() as probe:
        probe.bind((address, port))
        return address, probe.getsockname()[1]


class SshHost:
    """A host that runs. ``root`` is its root directory as seen from outside, without the ``disks`` of its own."""

    def __init__(
        self,
        folder: Path,
        name: str,
        key: Path,
        *,
        user: User,
        disks: Mapping[str, str],
        config: str,
        isolated: bool,
        port: int,
    ) -> None:
        folder.mkdir(parents=True)
        self.name = name
        self.key = key
        self.isolated = isolated
        self.user = user.name if isolated else getpass.getuser()
        self.root = folder / "root"
        self.root.mkdir()
        self.address, self.port = free_place(port)
        self._folder = folder
        self._user = user
        self._disks = dict(disks)
        self._own = self.root / "etc/ssh" if isolated else folder / "ssh"
        self._process: subprocess.Popen[str] | None = None
        self._first = 0
        if isolated:
            make_root(self.root, name, user)
        elif os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self._own.mkdir()
        (self._own / "authorized_keys").write_text(key.with_name(f"{key.name}.pub").read_text())
        (self._own / "sshd_config").write_text(self._configured() + config)
        self._public = make_key(self._own / "host_key", name)

    def _configured(self) -> str:
        text = CONFIG.format(
            address=self.address,
            port=self.port,
            own=self._seen(self._own),
            passwords="yes" if self._user.password else "no",
            sftp=sftp_server(),
        )
        return text if self.isolated else text + AT_HOME.format(home=self.root)

    def _seen(self, place: Path) -> Path:
        """A place as the host sees it."""
        return Path("/") / place.relative_to(self.root) if self.isolated else place

    @property
    def home(self) -> Path:
        """The directory of the user, as the host sees it."""
        return Path(self._user.home) if self.isolated else self.root

    @property
    def home_outside(self) -> Path:
        """The directory of the user, as seen from outside."""
        return Path(f"{self.root}{self._user.home}") if self.isolated else self.root

    @property
    def hostname(self) -> str:
        """What it calls itself."""
        return self.name if self.isolated else socket.gethostname()

    @property
    def known_hosts_line(self) -> str:
        """What `known_hosts` must say about it."""
        return f"[{self.address}]:{self.port} {self._public}"

    @property
    def log(self) -> str:
        """What its `sshd` wrote."""
        return (self._own / "log").read_text()

    # -------------------------------------------------------------------------------------------- what happens to it

    def start_again(self) -> None:
        """Start it, with the files that it had, at its address."""
        assert self._process is None, f"{self.name} runs"
        configured = f"{self._seen(self._own)}/sshd_config"
        settings = {
            "name": self.name,
            "isolated": self.isolated,
            "root": str(self.root),
            "disks": self._disks,
            "address": self.address,
            "port": self.port,
            "sshd": [str(program("sshd")), "-D", "-E", f"{self._seen(self._own)}/log", "-f", configured],
        }
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        with (self._folder / "init.log").open("a") as log:
            self._process = subprocess.Popen(
                [interpreter, "-I", "-S", str(INIT), json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd="/",
                start_new_session=True,
            )
        self._first = int(self._answer() or "0")
        self._tell("start")

    def stop(self) -> None:
        """Let it go away at once, with everything that runs on it."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Killed, as a power cut does it; without a namespace its first process has to end the others.
        if self.isolated and self._first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._first, 9)
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process = None

    def cut(self) -> None:
        """Break all connections to it; what was started over them goes on."""
        self._tell("cut")

    def refuse(self) -> None:
        """Let nothing listen any more: new connections are refused, open ones live on."""
        self._tell("stop")

    def listen(self) -> None:
        """Let `sshd` listen again."""
        self._tell("start")

    def freeze(self) -> None:
        """Let it hang: connections are accepted and stay open, and nothing answers."""
        self._tell("freeze")

    def thaw(self) -> None:
        """Let it go on after it hung."""
        self._tell("thaw")

    def set_host_key(self) -> None:
        """Give it another host key, as a machine has that was installed again."""
        self._tell("stop")
        self._public = make_key(self._own / "host_key", self.name)
        self._tell("start")

    def resize_disk(self, place: str, size: str) -> None:
        """Give one of its own ``disks`` another size."""
        self.run("mount", "-o", f"remount,size={size}", place)

    def run(self, *words: str) -> str:
        """Run a command on it as root, past `sshd`; gives what it printed."""
        into = ["nsenter", "-t", str(self._first), "-m", "-p", "-u", "-r", "-w"] if self.isolated else []
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.home)}
        done = subprocess.run([*into, *words], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def files(self) -> set[str]:
        """The files and links that somebody made in the places where users of a host make them."""
        found = set()
        for top in ("home", "root", "tmp", "var/tmp", "opt", "srv") if self.isolated else ("",):
            for folder, _, names in os.walk(self.root / top):
                found |= {f"/{(Path(folder) / name).relative_to(self.root)}" for name in names}
        return found

    def _tell(self, word: str) -> None:
        assert self._process is not None, f"{self.name} does not run"
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._answer() == "done", f"{self.name} failed:\n{(self._folder / 'init.log').read_text()}"

    def _answer(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class SshHosts:
    """Hosts below a folder, all with one key that opens them; they end with the ``with``."""

    def __init__(self, folder: Path, *, isolated: bool | None = None) -> None:
        need("sshd", "sshd", "ssh-keygen", "perl")
        self.folder = folder
        self.isolated = can_isolate() if isolated is None else isolated
        self.key = folder / "id_ed25519"
        self._all: list[SshHost] = []
        self._shared: dict[str, SshHost] = {}
        self._lists = 0
        folder.mkdir(parents=True, exist_ok=True)
        make_key(self.key, "tests")

    def __enter__(self) -> SshHosts:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for host in self._all:
            host.stop()

    def start(
        self,
        name: str,
        *,
        user: User = OPS,
        disks: Mapping[str, str] | None = None,
        config: str = "",
        port: int = 0,
    ) -> SshHost:
        """Start a new host. ``disks`` are directories on a disk of their own, of so many bytes (``64k``); ``config``
        are lines of `sshd_config` for all that is asked beyond the usual; without ``port`` it is any that is free."""
        folder = self.folder / f"{len(self._all)}-{name}"
        host = SshHost(
            folder, name, self.key, user=user, disks=disks or {}, config=config, isolated=self.isolated, port=port
        )
        self._all.append(host)
        host.start_again()
        return host

    def stop(self, host: SshHost) -> None:
        """Stop a host for good, and remove its files."""
        host.stop()
        shutil.rmtree(host.root.parent, ignore_errors=True)

    @contextlib.contextmanager
    def some(self, *names: str, user: User = OPS) -> Iterator[list[SshHost]]:
        """New hosts that are there for a while."""
        started = [self.start(name, user=user) for name in names]
        try:
            yield started
        finally:
            for host in started:
                self.stop(host)

    def shared(self, name: str = "shared") -> SshHost:
        """A host that all tests of this process use, each in directories of its own and without harm to it."""
        if name not in self._shared:
            self._shared[name] = self.start(name)
        return self._shared[name]

    def known_hosts(self, hosts: Sequence[SshHost]) -> Path:
        """A file that knows the keys that these hosts have now."""
        self._lists += 1
        place = self.folder / f"known_hosts-{self._lists}"
        place.write_text("".join(f"{host.known_hosts_line}\n" for host in hosts))
        return place

    def need_isolation(self) -> None:
        """Skip the test that runs where a host is no more than a directory."""
        if not self.isolated:
            lacking("namespaces", "hosts with a root of their own need the rights of root, and namespaces")


def can_isolate() -> bool:
    """Are namespaces permitted, and mounts within?"""
    if os.geteuid() != 0 or program("nsenter") is None:
        return False
    command = ["unshare", "--mount", "--pid", "--uts", "--fork", "mount", "-t", "proc", "proc", "/proc"]
    return program("unshare") is not None and subprocess.run(command, check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def silent_host() -> Iterator[tuple[str, int]]:
    """An address and port where connections are accepted, and nobody ever says a word."""
    with socket.socket() as listener:
        listener.bind(free_place())
        listener.listen()
        address, port = listener.getsockname()
        yield address, port
