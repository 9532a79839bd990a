"""Files in git repositories, as URLs: ``git+https://host/repository.git#ref:path``.

A user may leave out ``git+`` where the path of the URL ends with ``.git``; the ref (a branch, a tag or a commit), which
then is what the repository checks out by default; and, to name a whole repository, the path.
"""

from __future__ import annotations

import posixpath
import re
from urllib.parse import urlsplit

PREFIX = "git+"
SCHEMES = ("https", "http", "ssh", "file")
REF = re.compile(r"[A-Za-z0-9._/+@-]*", re.ASCII)


def is_in_git(url: str) -> bool:
    """Whether a URL is that of a git repository, or of a file in one."""
    return url.startswith(PREFIX) or ("://" in url and url.partition("#")[0].rstrip("/").endswith(".git"))


class GitPlace:
    """A file or a folder in a git repository; ``repository`` is its URL as git gets it, ``ref`` is "" for its HEAD."""

    __slots__ = ("path", "ref", "repository")

    def __init__(self, repository: str, ref: str, path: str) -> None:
        self.repository = repository
        self.ref = ref
        self.path = path

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}#{self.ref}:{self.path}"

    @property
    def is_local(self) -> bool:
        """Whether the repository is on this machine."""
        return self.repository.startswith("file:")

    def at(self, path: str) -> GitPlace:
        """Another file of the same repository, at the same ref."""
        return GitPlace(self.repository, self.ref, posixpath.normpath(path))


def git_place(url: str) -> GitPlace:
    """The place that a URL names. Raises ``ValueError`` with the reason where nothing can be fetched from it; the
    reason shows no secret of the URL."""
    written, _, fragment = url.removeprefix(PREFIX).partition("#")
    ref, _, path = fragment.partition(":")
    try:
        parts = urlsplit(written)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("this is not a valid URL") from None
    if parts.scheme not in SCHEMES:
        raise ValueError(f"git repositories are fetched by {', '.join(SCHEMES)}, not by {parts.scheme or 'this'}")
    if parts.password or (parts.username and parts.scheme != "ssh"):
        raise ValueError("a user or a password in a URL would be shown: write a credential of a repository")
    if parts.scheme == "file" and (host not in {"", "localhost"} or not parts.path.startswith("/")):
        raise ValueError("a file URL names an absolute path of this machine: write it as in file:///srv/types.git")
    if (not host and parts.scheme != "file") or host.startswith("-") or re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("this is not a valid URL")
    if not REF.fullmatch(ref) or ref.startswith("-") or ".." in ref:
        raise ValueError("after the # of a git repository comes a branch, a tag or a commit, and after a colon a path")
    found = posixpath.normpath(path) if path else ""
    if found.startswith(("/", "../")) or found == "..":
        raise ValueError("the path leads out of the git repository")
    return GitPlace(written.rstrip("/"), ref, "" if found == "." else found)


def below_git(base: str, path: str) -> str:
    """The URL of a file below a repository, or below a folder in one."""
    place = git_place(base)
    return str(place.at(posixpath.join(place.path, path.lstrip("/"))))


def beside_git(file: str, path: str) -> str:
    """The URL of a path that is written in a file of a repository, relative to that file."""
    place = git_place(file)
    return str(place.at(posixpath.join(posixpath.dirname(place.path), path)))
