"""Fetches files from git repositories, with limits for size, time and protocols.

Git runs as a process that never asks questions, without hooks, submodules and redirects, and fetches one commit without
history. A credential goes only to the repository that it belongs to, in an environment that only this account can read.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from ordito.base.git_places import SCHEMES, GitPlace
from ordito.base.git_process import Git, GitFailed, WroteTooMuch
from ordito.source.credentials import Credential
from ordito.source.egress import addresses_of, git_to
from ordito.source.fetch import FetchFailed, FetchLimits

MOST_BYTES = 1 << 30
"""How many bytes the pack of a repository may have."""

SETTINGS = {
    "protocol.allow": "never",
    **{f"protocol.{scheme}.allow": "always" for scheme in SCHEMES},
    "http.followRedirects": "false",
    "core.hooksPath": "/dev/null",
    "core.symlinks": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "safe.bareRepository": "all",
}
"""Settings that override those of the user. The received objects stay one pack, so that its size can be limited."""

FILE_MODES = ("100644", "100755", "100664")


class GitFiles:
    """The repositories that a service names, each fetched once for each ref."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._credentials: dict[str, Credential] = {}
        self._commits: dict[tuple[str, str], tuple[Git, str] | FetchFailed] = {}

    def add_credential(self, place: GitPlace, credential: Credential) -> None:
        """Set the credential of a repository."""
        self._credentials[place.repository] = credential

    def read(self, place: GitPlace, limits: FetchLimits) -> bytes:
        """The content of a file. Raises ``FetchFailed``."""
        try:
            git, commit = self._commit(place, limits)
            words = ("ls-tree", "-z", "-l", commit, "--", place.path)
            listed = git.run(*words, limit=limits.seconds) if place.path else b""
            if not listed:
                raise _absent(place)
            mode, kind, _, size = listed.partition(b"\t")[0].decode("ascii").split()
            if kind != "blob" or mode not in FILE_MODES:
                what = "a folder" if kind == "tree" else "a link" if kind == "blob" else "another repository"
                raise FetchFailed(f"{place.path} is {what} in the git repository", "name a file")
            if int(size) > limits.most_bytes:
                raise FetchFailed(f"it is larger than {limits.most_bytes:,} bytes, the most that is fetched")
            return git.run("cat-file", "blob", f"{commit}:{place.path}", limit=limits.seconds)
        except GitFailed as failed:
            raise self._failure(place, failed) from None

    def _commit(self, place: GitPlace, limits: FetchLimits) -> tuple[Git, str]:
        """The repository as it was fetched, and the commit of a place's ref. Raises ``FetchFailed``, ``GitFailed``."""
        key = place.repository, place.ref
        known = self._commits.get(key)
        if known is None:
            try:
                known = self._fetched(place, limits)
            except GitFailed as failed:
                known = self._failure(place, failed)
            except FetchFailed as failure:
                known = failure
            self._commits[key] = known
        if isinstance(known, FetchFailed):
            raise known
        return known

    def _fetched(self, place: GitPlace, limits: FetchLimits) -> tuple[Git, str]:
        variables = self._variables(place)
        git = Git(self._own_folder() / str(len(self._commits)))
        git.directory.mkdir()
        git.run("init", "--quiet", "--bare", "--template=", more=variables)
        words = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph"]
        target = [place.repository, f"+{place.ref or 'HEAD'}:refs/ordito/fetched"]
        try:
            git.run(*words, *target, limit=limits.seconds, more=variables, most_written=MOST_BYTES)
        except GitFailed as failed:
            # Git does not say that a program of its own was not allowed to write more.
            packs = git.directory.glob("objects/pack/tmp_*")
            if isinstance(failed, WroteTooMuch) or any(file.stat().st_size >= MOST_BYTES for file in packs):
                message = f"the git repository is larger than {MOST_BYTES:,} bytes, the most that is fetched"
                raise FetchFailed(message) from None
            raise
        return git, git.line("rev-parse", "--verify", "refs/ordito/fetched^{commit}")

    def _variables(self, place: GitPlace) -> dict[str, str]:
        """What git is told in its environment, which nobody else sees: settings, and the credential."""
        addresses = addresses_of(place.repository)
        own, more = git_to(place.repository, addresses) if addresses is not None else ({}, {})
        # Without a proxy: the addresses are those to which this machine connects.
        settings = {**SETTINGS, **own} if addresses is None else {**SETTINGS, **own, "http.proxy": ""}
        credential = self._credentials.get(place.repository)
        if credential is not None:
            if not place.repository.startswith(("http://", "https://")):
                raise FetchFailed("a credential can be sent to a git repository over HTTP only", "use a key of ssh")
            try:
                settings["http.extraHeader"] = ": ".join(credential.header())
            except ValueError as error:
                raise FetchFailed(str(error)) from None
            settings["credential.helper"] = ""
        variables = {**more, "GIT_CONFIG_COUNT": str(len(settings))}
        for number, (name, value) in enumerate(settings.items()):
            variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return variables

    def _failure(self, place: GitPlace, failed: GitFailed) -> FetchFailed:
        message = failed.message
        credential = self._credentials.get(place.repository)
        for secret in credential.secrets() if credential is not None else ():
            message = message.replace(secret, "(sensitive)")
        hint = "check the address and the ref, and whether the repository needs a credential"
        return FetchFailed(f"git says: {message}", hint)

    def _own_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="ordito-git-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def _absent(place: GitPlace) -> FetchFailed:
    if not place.path:
        return FetchFailed("it names a git repository and no file in it", "write #REF:PATH after it")
    at = f" at {place.ref}" if place.ref else ""
    return FetchFailed(f"there is no {place.path} in the git repository{at}", "check the path")
