"""`jobs.tsv`: one line for each job and task. Lines are only appended, so that git can join those of two clones.

The columns, with tabs between them: changeId, kind (``job`` or ``task``), parent (the job of a task), workflow or
operation, target, outcome, changed (``yes``, ``no`` or nothing), start, seconds, summary. Tabs, newlines, backslashes
and control characters in them are escaped as in C.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from ordito.base.change_ids import LENGTH, MOMENT_LENGTH
from ordito.ensemble.errors import explained
from ordito.ensemble.files import BLOCK, own_handle, read, sync_directory, write_all, write_whole
from ordito.ensemble.job_format import ConfigChange, JobHead
from ordito.source.new_files import open_regular
from ordito.work.invocation import Outcome

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def job_line(job: str, workflow: str, status: str, start: str, seconds: float, summary: str) -> bytes:
    """The line of a job; ``start`` has the form of ``job_format.moment``."""
    return _line(job, "job", "", workflow, "", status, "", start, str(seconds), summary)


def task_line(job: str, change: str, operation: str, target: str, outcome: Outcome, start: str) -> bytes:
    """The line of a task."""
    changed = "" if outcome.changed is None else "yes" if outcome.changed else "no"
    seconds = str(round(outcome.seconds, 3))
    return _line(change, "task", job, operation, target, outcome.ending, changed, start, seconds, outcome.message)


def append_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Append those lines that the file does not have yet, durably, after repairing a line that was cut off by a crash.

    Lines are told apart by their changeId. Raises ``EnsembleError``.
    """
    with explained("write", path):
        created = not path.exists()
        handle = own_handle(path, os.O_RDWR | os.O_APPEND, 0o666)
        try:
            present, whole, torn = _look(path, {line[:MOMENT_LENGTH] for line in lines})
            if torn and any(line.startswith(torn) for line in lines):
                os.ftruncate(handle, whole)
                torn = b""
            missing = [line for line in lines if line[:LENGTH] not in present]
            if missing:
                write_all(handle, b"".join([b"\n" if torn else b"", *missing]))
            os.fsync(handle)
        finally:
            os.close(handle)
        if created:
            sync_directory(path.parent)


def lines_of(head: JobHead, changes: Iterable[ConfigChange]) -> Iterator[bytes]:
    """The lines of a job, by its record."""
    yield job_line(head.change_id, head.workflow, head.status, head.began, head.seconds, head.summary)
    for task in changes:
        if task.change_id:
            changed = "" if task.changed is None else "yes" if task.changed else "no"
            yield _line(
                *(task.change_id, "task", head.change_id, task.operation, task.target, task.outcome, changed),
                *(task.start, str(task.seconds or 0.0), task.summary),
            )


def mend_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Make the file hold exactly these lines: missing ones are appended; a file with other lines is written again.
    Raises ``EnsembleError``."""
    wanted = list(lines)
    found = (read(path) or b"").splitlines(keepends=True)
    if set(found) - set(wanted) or len(found) != len(set(found)):
        write_whole(path, wanted)
    else:
        append_lines(path, wanted)


def colliding_lines(path: Path) -> list[str]:
    """The changeIds of several lines with different contents, as after a merge. Raises ``EnsembleError``."""
    seen: dict[bytes, int] = {}
    colliding: dict[bytes, None] = {}
    for line in set((read(path) or b"").splitlines()):
        change = line[:LENGTH]
        if seen.setdefault(change, hash(line)) != hash(line) and _ID.fullmatch(change):
            colliding[change] = None
    return [change.decode() for change in sorted(colliding)]


def count_strange_lines(path: Path) -> int:
    """How many lines belong to no job or task: cut off, or left by a merge. Raises ``EnsembleError``."""
    with explained("read", path):
        if not path.exists():
            return 0
        with open_regular(path) as file:
            return sum(_WHOLE.match(line) is None for line in file)


_ID = re.compile(rb"[0-9A-Za-z]{8}[0-9a-f]{4}")
_WHOLE = re.compile(rb"A[0-9A-Za-z]{7}[0-9a-f]{4}\t(?:job|task)\t(?:[^\t\n]*\t){7}[^\t\n]*\n")


def _look(path: Path, moments: Set[bytes]) -> tuple[set[bytes], int, bytes]:
    """The changeIds of these moments that the file has, the length of its whole lines, and what is left of a torn one.

    The file grows with all jobs there ever were, so it is not held in memory."""
    pattern = re.compile(rb"^(?:%b)[0-9a-f]{4}(?=\t)" % b"|".join(map(re.escape, sorted(moments))), re.MULTILINE)
    present: set[bytes] = set()
    whole, torn = 0, b""
    with open_regular(path) as file:
        while block := file.read(BLOCK):
            lines, newline, torn = (torn + block).rpartition(b"\n")
            whole += len(lines) + len(newline)
            present.update(pattern.findall(lines))
    return present, whole, torn


def escape(value: object) -> str:
    """A value in the form of a column."""
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or _numeric(found[0]), str(value))


def unescape(text: str) -> str:
    """The value that a column holds."""
    return re.sub(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))", _unescaped, text)


def _numeric(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else {"t": "\t", "n": "\n", "r": "\r"}.get(found[3], found[3])


def _line(*columns: str) -> bytes:
    text = "".join(columns)
    if not (text.isascii() and text.isprintable()) or "\\" in text:
        columns = tuple(map(escape, columns))
    return "\t".join(columns).encode() + b"\n"
