"""Runs git as a process, limited in time, that never asks questions and looks only where it is told.

Git runs the hooks of the user, so a call may do anything; but it never gets this program's terminal.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import subprocess

LIMIT = 60.0
"""Seconds for calls that only read."""

GRACE = 5.0
"""Seconds that git has to clean up after it was told to end; then it is killed."""

MOST_SAID = 5
"""How many lines of git's output are repeated in messages."""

_KEPT = frozenset({
    "GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH", "GIT_PROXY_SSL_CAINFO", "GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY",
})  # fmt: skip
"""Variables of git that say who commits and how servers are reached. All others would lead git elsewhere, as those do
that git sets for its own hooks."""

_SET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
}


class GitFailed(Exception):
    """Git failed; ``message`` is what it said."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NoGit(GitFailed):
    """There is no git on this machine."""

    def __init__(self) -> None:
        super().__init__("git is not installed on this machine")


class WroteTooMuch(GitFailed):
    """Git itself was ended, since a file became larger than it may write."""

    def __init__(self) -> None:
        super().__init__("git was not allowed to write more")


class Git:
    """Git, called in one directory."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)

    def run(
        self,
        *arguments: str | Path,
        given: bytes = b"",
        limit: float = LIMIT,
        more: dict[str, str] | None = None,
        most_written: int = 0,
    ) -> bytes:
        """Run git and return what it prints. Raises ``GitFailed``, among them ``WroteTooMuch``.

        Args:
            given: Its standard input.
            limit: How many seconds it may take.
            more: Further variables of its environment.
            most_written: How many bytes any file that it writes may have, 0 for no limit.
        """
        code, printed, said = self.attempt(*arguments, given=given, limit=limit, more=more, most_written=most_written)
        if most_written and code == -signal.SIGXFSZ:
            raise WroteTooMuch
        if code != 0:
            raise GitFailed(_summary(said or printed) or f"git ended with exit code {code}")
        return printed

    def attempt(
        self,
        *arguments: str | Path,
        given: bytes = b"",
        limit: float = LIMIT,
        more: dict[str, str] | None = None,
        most_written: int = 0,
    ) -> tuple[int, bytes, bytes]:
        """Run git and return its exit code, standard output and standard error; arguments as for ``run``. Raises
        ``GitFailed`` where it cannot be run, or takes too long."""
        import subprocess

        # Files rather than pipes: what hooks leave running in the background would hold a pipe open for ever.
        with _memory() as source, _memory() as out, _memory() as err:
            source.write(given)
            source.flush()
            source.seek(0)
            try:
                process = subprocess.Popen(
                    ["git", *map(str, arguments)],
                    cwd=self.directory,
                    env=environment() | (more or {}),
                    stdin=source,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except FileNotFoundError:
                if self.directory.is_dir():
                    raise NoGit from None
                raise GitFailed(f"{self.directory} no longer exists") from None
            except OSError as error:
                raise GitFailed(f"git cannot be run: {error.strerror or error}") from error
            if most_written:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most_written, most_written))
            code = _awaited(process, limit)
            out.seek(0)
            err.seek(0)
            printed, said = out.read(), err.read()
        if code is None:
            raise GitFailed(f"git {arguments[0]} took longer than {limit:g} seconds and was ended: {_summary(said)}")
        return code, printed, said

    def line(self, *arguments: str | Path) -> str:
        """The one line that git prints. Raises ``GitFailed``."""
        return os.fsdecode(self.run(*arguments)).removesuffix("\n")

    def holds(self, *arguments: str | Path) -> bool:
        """Whether git's exit code is 0. Raises ``GitFailed`` where git cannot be run."""
        return self.attempt(*arguments)[0] == 0

    def paths(self, *arguments: str | Path, of: Sequence[str] = ()) -> list[str]:
        """The paths that git lists with ``-z``. The paths in ``of`` are passed as arguments, in as many calls as
        needed. Raises ``GitFailed``."""
        if not of:
            return split(self.run(*arguments))
        found: list[str] = []
        for part in portions(of):
            found += split(self.run(*arguments, "--", *part))
        return found


def _memory() -> BinaryIO:
    """A file that has no name and lies on no disk."""
    return os.fdopen(os.memfd_create("git", os.MFD_CLOEXEC), "w+b")


def portions(paths: Sequence[str]) -> list[Sequence[str]]:
    """The paths, cut into parts that fit on a command line."""
    return [paths[first : first + MOST_ARGUMENTS] for first in range(0, len(paths), MOST_ARGUMENTS)]


MOST_ARGUMENTS = 400


def split(listed: bytes) -> list[str]:
    """The paths in output of git that was listed with ``-z``."""
    return [os.fsdecode(item) for item in listed.split(b"\0") if item]


def joined(paths: Sequence[str]) -> bytes:
    """The paths as git reads them with ``-z``."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def environment() -> dict[str, str]:
    """The environment in which git runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _is_kept(name)}
    for name in ("SSH_ASKPASS", "EDITOR", "VISUAL"):
        kept.pop(name, None)
    return kept | _SET


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))


def _awaited(process: subprocess.Popen[bytes], limit: float) -> int | None:
    """The exit code; None where the process had to be ended."""
    import subprocess

    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        # Told to end, git removes its lock files.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return None


def _summary(said: bytes) -> str:
    """What git or a hook said, as one line: its errors, else the last lines."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line and not line.startswith("hint:")]
    told = [line for line in told if line.startswith(("fatal:", "error:"))] or told
    return "; ".join(told[-MOST_SAID:])
