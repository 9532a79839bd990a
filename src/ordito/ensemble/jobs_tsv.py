"""`jobs.tsv`: one line for each job and task, only ever appended to, so that git can join the lines of two clones.

The columns, with tabs between them: changeId, kind (``job`` or ``task``), parent (the job of a task), workflow or
operation, target, outcome, changed (``yes``, ``no`` or nothing), start, seconds, summary. Tabs, newlines, backslashes
and control characters in them are escaped as in C.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ordito.base.change_ids import LENGTH
from ordito.ensemble.errors import explained
from ordito.ensemble.files import sync_directory, write_all
from ordito.ensemble.job_record import Ended, JobRecord, moment, operation_of
from ordito.source.regular import read_regular
from ordito.work.plan import Plan

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def lines_of(record: JobRecord) -> list[bytes]:
    """The lines of a job: its own, then one for each task that has a changeId."""
    header, closing, plan = record.job.header, record.closing, record.job.plan
    job = _line(
        *(header.id, "job", "", header.workflow, "", closing.status, ""),
        *(moment(header.began), record.seconds, record.summary),
    )
    return [job, *(_task(header.id, plan, task) for task in record.ended() if task.ended.change)]


def _task(job: str, plan: Plan, task: Ended) -> bytes:
    outcome = task.ended.outcome
    changed = "" if outcome.changed is None else "yes" if outcome.changed else "no"
    return _line(
        *(task.ended.change, "task", job, operation_of(plan, task.step), task.target, outcome.ending, changed),
        *(moment(task.start), round(outcome.seconds, 3), outcome.message),
    )


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append those lines that the file does not have yet, durably, after mending a line that was cut off by a crash.

    Lines are told apart by their changeId. Raises ``EnsembleError``.
    """
    wanted = {line[:LENGTH]: line for line in lines}
    with explained("write", path):
        created = not path.exists()
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            content = read_regular(path)
            whole = content.rfind(b"\n") + 1
            torn = content[whole:]
            if torn and any(line.startswith(torn) for line in wanted.values()):
                os.ftruncate(handle, whole)
                torn = b""
            present = {line[:LENGTH] for line in content[:whole].splitlines()} & wanted.keys()
            missing = [line for change, line in wanted.items() if change not in present]
            if missing:
                write_all(handle, b"".join([b"\n" if torn else b"", *missing]))
            os.fsync(handle)
        finally:
            os.close(handle)
        if created:
            sync_directory(path.parent)


def escape(value: object) -> str:
    """A value as it stands in a column."""
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


def _line(*columns: object) -> bytes:
    return "\t".join(escape(column) for column in columns).encode() + b"\n"
