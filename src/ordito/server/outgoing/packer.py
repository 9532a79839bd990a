"""A process of its own that fetches a commit of a repository and packs a folder of it, and ends.

It gets what is asked as JSON on its standard input, and writes the answer to its standard output. Git runs without
hooks, filters, submodules and redirects, and connects to the addresses that the server has looked at. Files are written
from the objects themselves; what is read of them afterwards is confined to the folder of this process.
"""

from __future__ import annotations

import os
import posixpath
import resource
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ordito.app.surroundings import Surroundings, enter
from ordito.authoring.package import PackageRequest, package
from ordito.base.diagnostics import InvalidDocument
from ordito.base.git_process import Git, GitFailed
from ordito.results.failure import EXPECTED, Failure, Trouble, failure_of
from ordito.results.findings import findings_data
from ordito.server.outgoing.packing import ARCHIVE, NotPacked, PackAnswer, PackAsked, PackedCommit, Unchanged
from ordito.source.egress import git_to

MOST_FILES = 20_000
AT_ONCE = 16 << 20
"""How many bytes of files are taken out of the repository at once."""

FETCHED = "refs/ordito/fetched"
SETTINGS: Mapping[str, str] = {
    "protocol.allow": "never",
    "http.followRedirects": "false",
    "http.proxy": "",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
    "core.hooksPath": "/dev/null",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "transfer.fsckObjects": "true",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "safe.bareRepository": "all",
}
"""Settings of git that override those of the account. The received objects stay one pack, whose size is limited."""


class _NotPackable(Exception):
    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.failure = Failure("source-failed", message, hint)


def main() -> None:
    """Do what is asked on the standard input."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=PackAsked)
    resource.setrlimit(resource.RLIMIT_AS, (asked.memory, asked.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, 2 * asked.seconds)
    sys.stdout.buffer.write(msgspec.json.encode(answer(asked)))


def answer(asked: PackAsked) -> PackAnswer:
    """Fetch and pack. This process is confined afterwards."""
    revision = ""
    try:
        more = variables(asked.repository, asked.addresses)
        git = Git(Path(asked.folder, "repository"))
        git.directory.mkdir()
        git.run("init", "--quiet", "--bare", "--template=", more=more)
        revision = _revision(git, asked, more)
        if revision == asked.known:
            return Unchanged(revision)
        _fetch(git, asked, more)
        revision = git.line("rev-parse", "--verify", f"{FETCHED}^{{commit}}")
        left_out = _write_files(git, asked, revision)
    except GitFailed as failed:
        hint = "check the address and the branch, and whether the server's account may read the repository"
        return NotPacked(revision, Trouble(Failure("source-failed", f"git says: {failed.message}", hint)))
    except _NotPackable as refused:
        return NotPacked(revision, Trouble(refused.failure))
    enter(Surroundings((asked.folder,)))
    os.chdir(Path(asked.folder, "tree"))
    try:
        found = package(PackageRequest(".", out=f"../{ARCHIVE}"))
    except EXPECTED as error:
        diagnostics = error.diagnostics if isinstance(error, InvalidDocument) else ()
        return NotPacked(revision, Trouble(failure_of(error), findings_data(diagnostics)))
    except MemoryError:
        failure = Failure("too-costly", f"packing it needs more than {asked.memory >> 20} MiB of memory")
        return NotPacked(revision, Trouble(failure))
    return PackedCommit(revision, found.sha256, Path(asked.folder, ARCHIVE).stat().st_size, left_out)


def variables(repository: str, addresses: Sequence[str]) -> dict[str, str]:
    """What git is told in its environment: settings, and where it connects to."""
    settings, more = git_to(repository, addresses)
    settings = {**SETTINGS, f"protocol.{urlsplit(repository).scheme}.allow": "always", **settings}
    more = {**more, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        more |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return more


def _revision(git: Git, asked: PackAsked, more: dict[str, str]) -> str:
    """The commit at which the branch is."""
    wanted = f"refs/heads/{asked.branch}"
    listed = git.run("ls-remote", "--", asked.repository, wanted, limit=asked.seconds, more=more).decode(
        "utf-8", "replace"
    )
    for line in listed.splitlines():
        commit, _, name = line.partition("\t")
        if name == wanted:
            return commit
    raise _NotPackable(f'the repository has no branch "{asked.branch}"', "name one that it has")


def _fetch(git: Git, asked: PackAsked, more: dict[str, str]) -> None:
    words = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph", "--")
    target = (asked.repository, f"+refs/heads/{asked.branch}:{FETCHED}")
    try:
        git.run(*words, *target, limit=asked.seconds, more=more, most_written=asked.most_bytes)
    except GitFailed:
        # Git does not say that it was not allowed to write more.
        if any(file.stat().st_size >= asked.most_bytes for file in git.directory.glob("objects/pack/tmp_*")):
            raise _too_large(asked) from None
        raise


def _too_large(asked: PackAsked) -> _NotPackable:
    hint = "leave out what is not needed, or let an administrator raise `limits: package` in server.yaml"
    return _NotPackable(f"the branch has more than {asked.most_bytes:,} bytes", hint)


class _Entry(msgspec.Struct, frozen=True):
    mode: str
    object: str
    size: int
    name: str
    """Relative to the folder."""


SYMLINK, SUBMODULE = "120000", "160000"


def _write_files(git: Git, asked: PackAsked, revision: str) -> tuple[str, ...]:
    """Write the files of the folder; returns the submodules in it."""
    entries = _entries(git, asked, revision)
    tree = Path(asked.folder, "tree")
    tree.mkdir()
    files = [entry for entry in entries if entry.mode != SUBMODULE]
    for part in _portions(files):
        contents = _contents(git, part, asked)
        for entry, content in zip(part, contents, strict=True):
            place = tree / entry.name
            place.parent.mkdir(parents=True, exist_ok=True)
            if entry.mode == SYMLINK:
                place.symlink_to(_target(entry, content))
            else:
                place.write_bytes(content)
                place.chmod(0o755 if entry.mode == "100755" else 0o644)
    return tuple(entry.name for entry in entries if entry.mode == SUBMODULE)


def _entries(git: Git, asked: PackAsked, revision: str) -> list[_Entry]:
    where = f"{revision}:{asked.path}" if asked.path else revision
    if asked.path:
        kind = git.attempt("cat-file", "-t", where)[1].strip()
        if kind != b"tree":
            what = "is no folder" if kind else "is not there"
            raise _NotPackable(f"{asked.path} {what} in the branch {asked.branch}", "name a folder of it")
    found = []
    total = 0
    for line in git.run("ls-tree", "-r", "-z", "-l", "--full-tree", where, limit=asked.seconds).split(b"\0"):
        if not line:
            continue
        head, _, name = line.partition(b"\t")
        mode, _, digest, size = head.decode("ascii").split()
        entry = _Entry(mode, digest, int(size) if size != "-" else 0, os.fsdecode(name))
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in entry.name.split("/")):
            raise _NotPackable(f"{entry.name!r} is no name for a file")
        found.append(entry)
        total += entry.size
        if len(found) > MOST_FILES:
            raise _NotPackable(f"the folder has more than {MOST_FILES:,} files", "leave out what is not needed")
    if total > asked.most_bytes:
        raise _too_large(asked)
    return found


def _portions(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    part: list[_Entry] = []
    size = 0
    for entry in entries:
        if part and size + entry.size > AT_ONCE:
            yield part
            part, size = [], 0
        part.append(entry)
        size += entry.size
    if part:
        yield part


def _contents(git: Git, entries: Sequence[_Entry], asked: PackAsked) -> Iterator[bytes]:
    given = "".join(f"{entry.object}\n" for entry in entries).encode()
    found = git.run("cat-file", "--batch", given=given, limit=asked.seconds)
    at = 0
    for entry in entries:
        at = found.index(b"\n", at) + 1
        yield found[at : at + entry.size]
        at += entry.size + 1


def _target(entry: _Entry, content: bytes) -> str:
    """Where a link leads to, which must be in the folder whatever other links there are."""
    target = os.fsdecode(content)
    parts = [part for part in target.split("/") if part not in ("", ".")]
    down = parts[next((i for i, part in enumerate(parts) if part != ".."), len(parts)) :]
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(entry.name), target))
    if target.startswith("/") or ".." in down or leads == ".." or leads.startswith("../"):
        hint = "put what it leads to into the folder"
        raise _NotPackable(f"{entry.name} is a link that leads out of the folder", hint)
    return target


if __name__ == "__main__":
    main()
