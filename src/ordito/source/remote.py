"""Files of a service that are on other machines, seen as if they were its own.

A file with a URL has a place in the service that depends on its URL alone: so a copy of the service that holds the
fetched files needs no network.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit, urlunsplit

from ordito.base.git_places import git_place, is_in_git
from ordito.base.paths import is_url
from ordito.source.credentials import Credential
from ordito.source.fetch import SCHEMES, FetchFailed, FetchLimits
from ordito.source.loader import MOST_BYTES
from ordito.source.tree import FileTree

if TYPE_CHECKING:
    from ordito.source.git_files import GitFiles
    from ordito.source.transfer import Fetched, Fetcher

FOLDER = ".fetched"
"""The folder of fetched files. No other hidden file of a service is part of a copy of it."""
PLAIN = re.compile(r"[^\w.+-]+")
MOST_NAME = 100

DEFINITIONS = FetchLimits(MOST_BYTES, 60.0)
ARTIFACTS = FetchLimits(1 << 30, 900.0)


class Network(Enum):
    """Whether files are fetched."""

    REFUSED = "refused"
    """No: the user has not allowed it."""
    ALLOWED = "allowed"
    """Yes: the user has allowed it."""
    KEPT = "kept"
    """No: this is a copy of a service that holds the files that were fetched."""


class RemoteFiles:
    """The files of a service, with those that it names by URLs at their places."""

    def __init__(self, tree: FileTree, network: Network = Network.REFUSED) -> None:
        self.local = tree
        self.root = tree.root
        self.is_archive = tree.is_archive
        self._network = network
        self._fetcher: Fetcher | None = None
        self._git: GitFiles | None = None
        self._credentials: list[tuple[str, Credential]] = []
        self._urls: dict[str, str] = {}
        self._fetched: dict[str, Fetched | FetchFailed] = {}

    def place(self, url: str) -> str:
        """The place of the file at a URL in the service."""
        import hashlib

        path = git_place(url).path if is_in_git(url) else unquote(urlsplit(url).path)
        name = PLAIN.sub("_", posixpath.basename(path))[-MOST_NAME:].lstrip(".") or "file"
        place = f"{FOLDER}/{hashlib.sha256(url.encode()).hexdigest()[:32]}/{name}"
        self._urls[place] = url
        return place

    def url(self, file: str) -> str:
        """The URL of a file that is fetched, "" for any other."""
        return file if is_url(file) else self._urls.get(file, "")

    def add_credential(self, base: str, credential: Credential) -> None:
        """Set the credential for everything below the URL of a repository."""
        self._credentials.append((base, credential))

    def get(self, url: str, limits: FetchLimits) -> Fetched | None:
        """Fetch a file, once; None where it is in this copy of the service. Raises ``FetchFailed``."""
        if self._network is Network.KEPT and self.local.is_file(self.place(url)):
            return None
        if self._network is not Network.ALLOWED:
            raise NotAllowed(url)
        from ordito.source.egress import check_host

        check_host(url)
        known = self._fetched.get(url)
        if known is None:
            try:
                known = self._out_of_git(url, limits) if is_in_git(url) else self._ready().fetch(url, limits)
            except FetchFailed as failure:
                known = failure
            self._fetched[url] = known
        if isinstance(known, FetchFailed):
            raise known
        return known

    def _out_of_git(self, url: str, limits: FetchLimits) -> Fetched:
        """A file of a git repository. Raises ``FetchFailed``."""
        from ordito.source.git_files import GitFiles
        from ordito.source.transfer import Fetched

        if self._git is None:
            self._git = GitFiles()
        for base, credential in self._credentials:
            if is_in_git(base):
                self._git.add_credential(git_place(base), credential)
        return Fetched([self._git.read(git_place(url), limits)], "")

    def _ready(self) -> Fetcher:
        """What fetches, which is loaded where something is fetched and not before."""
        from ordito.source.transfer import Fetcher

        if self._fetcher is None:
            self._fetcher = Fetcher()
        for base, credential in self._credentials:
            if not is_in_git(base):
                self._fetcher.add_credential(base, credential)
        return self._fetcher

    # ------------------------------------------------------------------------------------------- as files of a service

    def is_file(self, file: str) -> bool:
        url = self.url(file)
        if not url:
            return self.local.is_file(file)
        try:
            self.get(url, ARTIFACTS)
        except FetchFailed:
            return False
        return True

    def is_folder(self, file: str) -> bool:
        return not self.url(file) and self.local.is_folder(file)

    def exists(self, file: str) -> bool:
        return self.is_file(file) or self.is_folder(file) or (not self.url(file) and self.local.exists(file))

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        return self.local.entries(folder)

    def open(self, file: str) -> BinaryIO:
        url = self.url(file)
        if not url:
            return self.local.open(file)
        try:
            fetched = self.get(url, ARTIFACTS)
        except FetchFailed as failure:
            raise OSError(f"{url} cannot be fetched: {failure.message}") from None
        return self.local.open(self.place(url)) if fetched is None else fetched.open()

    def is_executable(self, file: str) -> bool:
        return not self.url(file) and self.local.is_executable(file)


class NotAllowed(FetchFailed):
    """The user has not allowed fetching."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} is not fetched without permission",
            "allow it with --fetch, each time, since the file may have changed; "
            "or put a copy beside the service template and name that",
        )


def normal_url(url: str) -> str:
    """The normal form of a URL, by which it is compared and fetched. Raises ``ValueError`` with the reason where it
    cannot be fetched; the reason shows no secret of the URL."""
    if is_in_git(url):
        return str(git_place(url))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("this is not a valid URL") from None
    if parts.scheme not in SCHEMES:
        raise ValueError(f"{parts.scheme or 'such'} addresses are not fetched: only http, https, file and git ones are")
    if parts.username or parts.password:
        raise ValueError("a user or a password in a URL would be shown: write a credential of a repository")
    if not host or re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("this is not a valid URL")
    where = f"[{host}]" if ":" in host else host
    where += f":{port}" if port is not None and port != {"http": 80, "https": 443}[parts.scheme] else ""
    # A fragment is never sent.
    return urlunsplit((parts.scheme, where, _quoted(_without_dots(parts.path or "/")), _quoted(parts.query), ""))


def _without_dots(path: str) -> str:
    """A path without ``.`` and ``..``, as a server is asked for it."""
    parts = path.split("/")
    kept: list[str] = []
    for part in parts:
        if part == "..":
            kept = kept[: max(len(kept) - 1, 1)]
        elif part != ".":
            kept.append(part)
    return "/".join([*kept, ""] if parts[-1] in {".", ".."} else kept) or "/"


def _quoted(text: str) -> str:
    """Letters beyond ASCII as they are sent."""
    return text if text.isascii() else "".join(c if c.isascii() else _percent(c) for c in text)


def _percent(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "replace"))


__all__ = ["ARTIFACTS", "DEFINITIONS", "FOLDER", "FetchFailed", "Network", "NotAllowed", "RemoteFiles", "normal_url"]
