"""Podman for tests: settings and a storage of its own, images that are made here, and nothing left behind.

On a machine whose cgroups are hybrid podman needs `runc` and the old way of cgroups, and limits that the machine
permits; what works is found by trying, once. Everything that the program under test needs for the same is in the
``environment``.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from tests.support.real.needs import lacking, need, program

SMALL = "localhost/ordito-small"
"""Busybox, and `sh` as what runs if nothing else is said."""
LARGE = "localhost/ordito-large"
"""Bash, Python and all else that this machine has, if it is run with ``LARGE_VOLUMES``."""

APPLETS = (
    *("sh", "cat", "echo", "ls", "mkdir", "rm", "mv", "cp", "ln", "touch", "chmod", "mkfifo", "mktemp", "tar"),
    *("true", "false", "test", "env", "id", "hostname", "sleep", "kill", "ps", "nohup", "setsid", "timeout", "stat"),
    *("httpd", "wget", "nc", "tee", "grep", "sed", "awk", "head", "tail", "wc", "sort", "cut", "tr", "sha256sum"),
)
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
RUNTIMES: tuple[dict[str, str], ...] = (
    {},
    {"runtime": '"runc"', "cgroup_manager": '"cgroupfs"'},
    {"runtime": '"runc"', "cgroup_manager": '"cgroupfs"', "cgroups": '"disabled"'},
)
CONTAINERS_CONF = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
netns = "host"
{containers}
[engine]
events_logger = "file"
tmp_dir = "{folder}/run/libpod"
{engine}
"""
# It waits until its input ends, however the process of the tests came to end. Podman may leave its directory mounted,
# and, where it has not all rights of root, a process that keeps its namespaces.
REMOVE = """\
cat >/dev/null
"$1" rm --all --force --time 0
for place in overlay ''; do umount -l "$2/storage/$place" 2>/dev/null; done
pause=$(cat "$2/run/libpod/pause.pid" 2>/dev/null) && kill "$pause" 2>/dev/null
rm -rf "$2/storage" "$2/run"
"""
REMOVE_ALL = f'{REMOVE}rm -rf "$2"\n'
STORAGE_CONF = """\
[storage]
driver = "{driver}"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""


def large_volumes() -> tuple[str, ...]:
    """What a container of the large image has of this machine, in the words of `podman run -v`."""
    folders = [f"/{name}" for name in SYSTEM if (Path("/") / name).is_dir() and not (Path("/") / name).is_symlink()]
    alternatives = ["/etc/alternatives"] if Path("/etc/alternatives").is_dir() else []
    return tuple(f"{folder}:{folder}:ro" for folder in [*folders, *alternatives])


class Podman:
    """Podman with the two images. ``environment`` is what a program must see to use the same settings and storage."""

    def __init__(self) -> None:
        need("podman", "podman", "busybox")
        # Podman makes sockets deep below it, whose paths must not be long: with a long one each start waits 20 seconds.
        folder = self.folder = Path(tempfile.mkdtemp(prefix="podman-"))
        self._remover: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }
        self._choose()
        self._import(LARGE, large_root())
        self._remover = subprocess.Popen(
            ["sh", "-c", REMOVE_ALL, "remove", str(program("podman")), str(folder)],
            env={**os.environ, **self.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def _choose(self) -> None:
        """Take the first settings under which the small image runs."""
        said = ""
        for driver in ("overlay", "vfs"):
            (self.folder / "storage.conf").write_text(STORAGE_CONF.format(driver=driver, folder=self.folder))
            for runtime in RUNTIMES:
                self._configure(runtime)
                try:
                    self._import(SMALL, small_root())
                    self.run("run", "--rm", SMALL, "true")
                except subprocess.CalledProcessError as error:
                    said = error.stderr.strip()
                else:
                    return
            self._remove_storage()
        lacking("podman", f"`podman run` of a small image fails: {said}")

    def _configure(self, runtime: Mapping[str, str]) -> None:
        lines = {name: f"{name} = {value}\n" for name, value in runtime.items()}
        text = CONTAINERS_CONF.format(
            containers=lines.pop("cgroups", ""),
            engine="".join(lines.values()),
            folder=self.folder,
        )
        (self.folder / "containers.conf").write_text(text)

    def _import(self, name: str, root: bytes) -> None:
        self.run("import", "--quiet", "--change", 'CMD ["sh"]', "-", name, given=root)

    def run(self, *words: str, given: bytes = b"") -> str:
        """Run podman; gives what it printed. Raises ``CalledProcessError``."""
        command = [str(program("podman")), *words]
        environment = {**os.environ, **self.environment}
        done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr.decode())
        return done.stdout.decode()

    def archive(self, place: Path, image: str = SMALL) -> Path:
        """Write an image as the file of an archive."""
        self.run("save", "--quiet", "--output", str(place), image)
        return place

    def containers(self) -> list[str]:
        """The names of all containers that there are, those that have ended included."""
        return self.run("ps", "--all", "--format", "{{.Names}}").split()

    def close(self) -> None:
        """Stop and remove everything."""
        if self._remover is not None and self._remover.stdin is not None:
            self._remover.stdin.close()
            self._remover.wait()

    def _remove_storage(self) -> None:
        subprocess.run(["sh", "-c", REMOVE, "remove", "true", str(self.folder)], input=b"", check=False)

    def __enter__(self) -> Podman:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


# ------------------------------------------------------------------------------------------------------ the images


def small_root() -> bytes:
    """The root of the small image, as a tar archive."""
    busybox = program("busybox")
    assert busybox is not None
    return _archive({"bin/busybox": busybox.read_bytes()}, {f"bin/{name}": "busybox" for name in APPLETS})


def large_root() -> bytes:
    """The root of the large image: what is bound into it later is empty."""
    links = {name: str((Path("/") / name).readlink()) for name in SYSTEM if (Path("/") / name).is_symlink()}
    copied = {
        f"etc/{name}": (Path("/etc") / name).read_bytes()
        for name in ("ld.so.cache", "os-release", "nsswitch.conf", "services", "protocols")
        if (Path("/etc") / name).is_file()
    }
    return _archive(copied, links, folders=["usr", "etc/alternatives"])


def _archive(files: Mapping[str, bytes], links: Mapping[str, str], folders: Iterable[str] = ()) -> bytes:
    made = io.BytesIO()
    users = {"etc/passwd": b"root:x:0:0:root:/root:/bin/sh\n", "etc/group": b"root:x:0:\n"}
    with tarfile.open(fileobj=made, mode="w") as archive:
        for folder in ("tmp", "root", "var", "run", "opt", "etc", "bin" if not links.get("bin") else "srv", *folders):
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
        for name, content in {**users, **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755
            archive.addfile(entry, io.BytesIO(content))
        for name, target in links.items():
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.SYMTYPE
            entry.linkname = target
            archive.addfile(entry)
    return made.getvalue()
