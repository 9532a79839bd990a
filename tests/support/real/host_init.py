"""A program of its own, not a module of tests: the first process of a host, which makes the host and ends with it.

Its argument is a JSON object, which `hosts.py` writes. It goes into namespaces of its own
(mounts, processes, host name), makes the host's root its root, and starts `sshd`. Then it does what it is told, a word
per line of its standard input, and answers each with a line; its first line is the number of the process itself. When
its input ends, however its parent came to end, it ends too, and with it everything that runs in the host.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

NEW_MOUNTS, NEW_NAME, NEW_PROCESSES = 0x00020000, 0x04000000, 0x20000000
READ_ONLY, NO_SUID, REMOUNT, BIND, RECURSIVE, PRIVATE = 0x1, 0x2, 0x20, 0x1000, 0x4000, 0x40000
DEATH_SIGNAL, SUBREAPER = 1, 36
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str, target: Path, kind: str, flags: int = 0, options: str = "") -> None:
    target.mkdir(parents=True, exist_ok=True)
    mount_on(source, target, kind, flags, options)


def mount_on(source: str, target: Path, kind: str, flags: int = 0, options: str = "") -> None:
    words = (source.encode(), bytes(target), kind.encode(), flags, options.encode())
    must(libc.mount(*words), f"mounting {source} on {target}")


def bind_read_only(source: Path, target: Path) -> None:
    mount(str(source), target, "none", BIND | RECURSIVE)
    mount(str(source), target, "none", BIND | REMOUNT | READ_ONLY)


# ------------------------------------------------------------------------------------------------------ making it


def make_root(root: Path, disks: dict[str, str]) -> None:
    """Mount what the host has of this machine, and what is its own, below its root; make that the root."""
    mount_on("none", Path("/"), "none", RECURSIVE | PRIVATE)
    for name in SYSTEM:
        there = Path("/") / name
        if there.is_symlink():
            (root / name).unlink(missing_ok=True)
            (root / name).symlink_to(there.readlink())
        elif there.is_dir():
            bind_read_only(there, root / name)
    if Path("/etc/alternatives").is_dir():
        bind_read_only(Path("/etc/alternatives"), root / "etc/alternatives")
    mount("proc", root / "proc", "proc")
    bind_read_only(Path("/sys"), root / "sys")
    make_devices(root / "dev")
    for place, size in disks.items():
        owner = Path(f"{root}{place}").stat()
        options = f"size={size},mode=0755,uid={owner.st_uid},gid={owner.st_gid}"
        mount("tmpfs", Path(f"{root}{place}"), "tmpfs", 0, options)
    os.chroot(root)
    os.chdir("/")


def make_devices(place: Path) -> None:
    mount("tmpfs", place, "tmpfs", NO_SUID, "mode=0755")
    for name in DEVICES:
        (place / name).touch()
        mount_on(f"/dev/{name}", place / name, "none", BIND)
    mount("devpts", place / "pts", "devpts", NO_SUID, "newinstance,ptmxmode=0666,mode=0620")
    mount("tmpfs", place / "shm", "tmpfs", NO_SUID, "mode=1777")
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1")):
        (place / name).symlink_to(target)
    (place / "stderr").symlink_to("fd/2")


# ------------------------------------------------------------------------------------------------- what runs in it


def status_of(process: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def processes() -> Iterator[tuple[int, dict[str, str]]]:
    """All processes that can be seen, but this one."""
    for entry in Path("/proc").iterdir():
        number = entry.name
        if number.isdigit() and int(number) != os.getpid() and (status := status_of(int(number))):
            yield int(number), status


def descendants() -> list[tuple[int, dict[str, str]]]:
    """What runs in the host, parents first."""
    seen = dict(processes())
    inside = [os.getpid()]
    for parent in inside:
        inside += [number for number, status in seen.items() if status["PPid"] == str(parent)]
    return [(number, seen[number]) for number in inside[1:]]


def send(numbers: list[int], signal_number: int) -> None:
    for number in numbers:
        try:
            os.kill(number, signal_number)
        except ProcessLookupError:
            continue


class Host:
    """The host from within: its `sshd`, and what can be done to it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._listener = 0
        self.words = {
            "start": self.start,
            "stop": self.stop,
            "cut": self.cut,
            "freeze": self.freeze,
            "thaw": self.thaw,
        }
        signal.signal(signal.SIGCHLD, self._reap)

    def _reap(self, *_: object) -> None:
        while True:
            try:
                ended, _status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not ended:
                return
            if ended == self._listener:
                self._listener = 0

    def start(self) -> None:
        """Start `sshd`, and wait until it listens."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        command = self._settings["sshd"]
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        nothing = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1)]
        self._listener = os.posix_spawn(command[0], command, environment, file_actions=nothing, setsigmask=[])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        while self._listener:
            if self._is_listened():
                return
            time.sleep(0.002)
        raise SystemExit("sshd has ended at once")

    def stop(self) -> None:
        """End the `sshd` that listens; connections that are open live on."""
        while listener := self._listener:
            send([listener], signal.SIGKILL)
            time.sleep(0.001)
        # The process of a connection that had only just begun holds the socket a moment longer: an `sshd` started
        # meanwhile finds the port taken and ends, although connections are still accepted there.
        while self._is_listened():
            time.sleep(0.001)

    def _is_listened(self) -> bool:
        with socket.socket() as attempt:
            return attempt.connect_ex((self._settings["address"], self._settings["port"])) == 0

    def cut(self) -> None:
        """End the processes of all connections, and nothing that was started over them."""
        while sessions := self._sessions():
            send(sessions, signal.SIGKILL)
            time.sleep(0.001)

    def _sessions(self) -> list[int]:
        inside = descendants()
        of_sshd = {number for number, status in inside if status["Name"].startswith("sshd")}
        return [
            number
            for number, status in inside
            if number in of_sshd and number != self._listener and not status["State"].startswith("Z")
        ]

    def freeze(self) -> None:
        """Stop everything, as a machine does that hangs: connections stay open, and nobody answers."""
        send([number for number, _ in descendants()], signal.SIGSTOP)

    def thaw(self) -> None:
        """Let everything go on."""
        send([number for number, _ in descendants()], signal.SIGCONT)

    def end(self) -> None:
        """End everything; in a namespace of its own the kernel does that when the first process ends."""
        self._listener = 0
        while left := [number for number, status in descendants() if not status["State"].startswith("Z")]:
            send(left, signal.SIGKILL)
            time.sleep(0.001)


# ------------------------------------------------------------------------------------------------------- the program


def serve(settings: dict[str, Any]) -> None:
    host = Host(settings)
    try:
        for line in sys.stdin:
            host.words[line.strip()]()
            print("done", flush=True)
    finally:
        host.end()


def isolated(settings: dict[str, Any]) -> NoReturn:
    must(libc.unshare(NEW_MOUNTS | NEW_NAME | NEW_PROCESSES), "making namespaces")
    if first := os.fork():
        print(first, flush=True)
        os.close(0)
        os.close(1)
        os.waitpid(first, 0)
        os._exit(0)
    must(libc.prctl(DEATH_SIGNAL, signal.SIGKILL), "asking to end with the parent")
    make_root(Path(settings["root"]), settings["disks"])
    socket.sethostname(settings["name"])
    serve(settings)
    raise SystemExit


def main() -> None:
    settings = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o022)
    if settings["isolated"]:
        isolated(settings)
    print(os.getpid(), flush=True)
    must(libc.prctl(SUBREAPER, 1), "asking for the orphans")
    serve(settings)


if __name__ == "__main__":
    main()
