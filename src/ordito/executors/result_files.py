r"""The files in which an operation leaves its results: the result file of its wrapper, and ``$ORDITO_OUTPUTS``.

A result file is a sequence of fields that end with NUL, so that any text survives:

    ordito-result/1  job  step  attempt
    name  text  value
    name  json  value as JSON
    name  list  n  n elements
    name  map   n  n times key and value
    ""  exit status  end | unsure | a sentence that begins with "!"  job  step  attempt

It is complete, and its status is reliable, if the mark is ``end``. With ``unsure`` the variables are reliable and the
status is not (something else may have ended the operation). A sentence tells what the operation did wrong at its very
end, for example a variable that cannot be written as JSON.

The file is written over that of the step that used the work directory before, without truncating it first, because that
costs more than everything else. So what follows the last field has no meaning, and the repeated identity distinguishes
the end of this result from that of an old one.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence

import msgspec

from ordito.base.suggest import nearest
from ordito.source.new_files import kind_of

FORMAT = "ordito-result/1"
TEXT = "text"
JSON = "json"
LIST = "list"
MAP = "map"
END = "end"
UNSURE = "unsure"
PROBLEM = "!"

REPORT = "ordito."
"""Keys of ``$ORDITO_OUTPUTS`` with this prefix are reports to the orchestrator, all others are outputs."""

STATUSES = ("unknown", "pending", "ok", "degraded", "error", "absent")
_ATTRIBUTES, _AGAIN, _NEVER = "ordito.attributes", "ordito.again", "ordito.never"
_REPORTS = ("ordito.changed", "ordito.status", "ordito.done", _ATTRIBUTES, _AGAIN, _NEVER)
_ENTITIES = frozenset({"SELF", "SOURCE", "TARGET"})
_AT_BYTE = re.compile(r"\s*\(byte (\d+)\)")


class ResultFile(msgspec.Struct, frozen=True):
    """The content of a result file. ``status`` is the exit status, None if it is not reliable; ``problem`` tells what
    the operation did wrong at its end."""

    outputs: dict[str, object]
    status: int | None = None
    problem: str = ""


class Reported(msgspec.Struct, frozen=True):
    """The content of ``$ORDITO_OUTPUTS``: outputs and reports; ``problem`` says what is wrong with it, and where."""

    outputs: dict[str, object] = {}
    changed: bool | None = None
    status: str = ""
    done: bool | None = None
    problem: str = ""
    attributes: Mapping[str, Mapping[str, object]] = {}
    again: float | None = None
    """After how many seconds it asks to be tried again, negative for the usual time; None where it does not ask."""
    final: bool = False
    """Whether it is not to be tried again."""
    why: str = ""
    """Why it is, or is not, to be tried again."""


class _Damaged(Exception):
    """The result file does not follow its format."""


def header(job: str, step: str, attempt: str) -> tuple[str, str, str, str]:
    """The first fields of a result file."""
    return (FORMAT, job, step, attempt)


def read_result(data: bytes, job: str, step: str, attempt: int | None = None) -> ResultFile | None:
    """The result in the bytes of a result file; None if it is that of another step or attempt, or incomplete."""
    fields = data.decode(errors="replace").split("\0")
    if fields[:3] != [FORMAT, job, step] or (attempt is not None and fields[3:4] != [str(attempt)]):
        return None
    try:
        return _Fields(fields).result()
    except (IndexError, ValueError, _Damaged):
        return None


class _Fields:
    """Reads the fields of a result file one after the other."""

    def __init__(self, fields: list[str]) -> None:
        # What follows the last NUL is no field.
        self._fields = fields[:-1]
        self._at = 4

    def result(self) -> ResultFile:
        outputs: dict[str, object] = {}
        while name := self._next():
            outputs[name] = self._value()
        status, mark = int(self._next()), self._next()
        if [self._next(), self._next(), self._next()] != self._fields[1:4]:
            raise _Damaged("the end is that of another result")
        if mark == END:
            return ResultFile(outputs, status)
        if mark.startswith(PROBLEM):
            return ResultFile(outputs, status, mark.removeprefix(PROBLEM))
        if mark == UNSURE:
            return ResultFile(outputs)
        raise _Damaged(mark)

    def _value(self) -> object:
        kind = self._next()
        if kind == TEXT:
            return self._next()
        if kind == JSON:
            return msgspec.json.decode(self._next())
        if kind == LIST:
            return [self._next() for _ in range(int(self._next()))]
        if kind == MAP:
            return {self._next(): self._next() for _ in range(int(self._next()))}
        raise _Damaged(kind)

    def _next(self) -> str:
        field = self._fields[self._at]
        self._at += 1
        return field


LONGEST_SHOWN = 200
"""An invalid line with more characters is not shown in messages."""


def read_reported(left: LeftFile, path: str) -> Reported:
    """Read the file at ``$ORDITO_OUTPUTS``; ``path`` is its name for messages. No file means no outputs."""
    data = left.data
    if left.problem:
        needed = "outputs are written into a regular file, as one JSON object"
        return Reported(problem=f"{path} ($ORDITO_OUTPUTS) {left.problem}; {needed}")
    if not data.strip():
        return Reported()
    if len(data) > LARGEST_FILE:
        return Reported(problem=f"{path} ($ORDITO_OUTPUTS) is larger than {LARGEST_FILE >> 20} MiB")
    try:
        values = msgspec.json.decode(data)
    except RecursionError:
        return Reported(problem=f"{path} ($ORDITO_OUTPUTS) is nested too deeply")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Reported(problem=_malformed(data, path, str(error)))
    if not isinstance(values, dict):
        return Reported(problem=f'{path}:1:1: $ORDITO_OUTPUTS must hold one JSON object, {{"name": value}}')
    reports = {name: value for name, value in values.items() if name.startswith(REPORT)}
    outputs = {name: value for name, value in values.items() if name not in reports}
    if problem := next((p for n, v in reports.items() if (p := _wrong_report(n, v))), ""):
        return Reported(outputs=outputs, problem=f"{path} ($ORDITO_OUTPUTS): {problem}")
    again, never = reports.get(_AGAIN), reports.get(_NEVER)
    after = None if again is None else again.get("after")
    return Reported(
        outputs,
        reports.get("ordito.changed"),
        reports.get("ordito.status", ""),
        reports.get("ordito.done"),
        attributes=reports.get(_ATTRIBUTES, {}),
        again=None if again is None else float(-1 if after is None else after),
        final=never is not None,
        why=never or ("" if again is None else again.get("message") or "it asks to be tried again"),
    )


def _wrong_report(name: str, value: object) -> str:
    """What is wrong with one report; "" if nothing is."""
    if name not in _REPORTS:
        near = nearest(name, _REPORTS)
        return f'there is no report named "{name}"; ' + (
            f'did you mean "{near[0]}"?' if near else f"reports are {', '.join(_REPORTS)}"
        )
    if name == "ordito.status":
        return "" if value in STATUSES else f'"{name}" must be one of {", ".join(STATUSES)}'
    if name == _ATTRIBUTES:
        fits = isinstance(value, dict) and all(isinstance(v, dict) for v in value.values())
        is_known = isinstance(value, dict) and _ENTITIES.issuperset(value)
        return "" if fits and is_known else f'"{name}" must map SELF, SOURCE or TARGET to attributes'
    if name == _AGAIN:
        return "" if _is_asking(value) else f'"{name}" must be {{"after": seconds or null, "message": text}}'
    if name == _NEVER:
        return "" if isinstance(value, str) and value else f'"{name}" must say why'
    return "" if isinstance(value, bool) else f'"{name}" must be true or false'


def _is_asking(value: object) -> bool:
    if not isinstance(value, dict) or not {"after", "message"}.issuperset(value):
        return False
    after = value.get("after")
    fits = after is None or (isinstance(after, int | float) and not isinstance(after, bool) and after >= 0)
    return fits and isinstance(value.get("message", ""), str)


def _malformed(data: bytes, path: str, error: str) -> str:
    """The message about malformed JSON, with line and column."""
    at = _AT_BYTE.search(error)
    before = data[: int(at[1])] if at else data
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1
    what = _AT_BYTE.sub("", error).removeprefix("JSON is malformed: ")
    return f"{path}:{line}:{column}: $ORDITO_OUTPUTS is not valid JSON: {what}{_shown_line(data, line)}"


def _shown_line(data: bytes, line: int) -> str:
    """The text of a line, as the end of a message; "" if it is long. It is never cut, because a part of a secret would
    not be masked."""
    text = data.split(b"\n")[line - 1].decode(errors="replace").rstrip("\r")
    return f"; the line is: {text}" if text.strip() and len(text) <= LONGEST_SHOWN else ""


def merge(result: ResultFile | None, reported: Reported, wanted: Sequence[str]) -> dict[str, object]:
    """The outputs of an operation: values in ``$ORDITO_OUTPUTS`` override its variables."""
    variables = {n: v for n, v in result.outputs.items() if n in wanted} if result else {}
    return {**variables, **reported.outputs}


# Files that an operation has left, or could have put in the place of ours: reading them never waits.
#
# An operation may leave what it likes where its outputs are looked for, and beside it. A named pipe would hold up who
# opens it, a device whoever reads it, and a link may lead to what is none of the operation's. So nothing is read here
# but a regular file that lies at its place itself, and no more of it than is asked for, however fast it grows.

LARGEST_FILE = 64 * 1024 * 1024
"""The most bytes of a file that are accepted: it is read into memory and recorded in the journal."""

_LOOKING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 1024 * 1024


class LeftFile(msgspec.Struct, frozen=True):
    """What is at a path: the bytes of a file (if it is too large, one byte more than the limit), or none if nothing is
    there. ``problem`` says why it cannot be read, in words that follow its name."""

    data: bytes = b""
    problem: str = ""


NOTHING = LeftFile()


def look_at(path: str, most: int = LARGEST_FILE) -> LeftFile:
    """Read what an operation has left at a path."""
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        return LeftFile(problem=_problem(path, error))
    try:
        return LeftFile(_read(descriptor, most + 1))
    except OSError as error:
        return LeftFile(problem=f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)


def open_regular(path: str, flags: int) -> int:
    """Open the regular file at this path, or create it if the flags say so. Raises ``OSError`` for everything else,
    without opening it: opening a device may have an effect."""
    if not flags & os.O_CREAT or os.path.lexists(path):
        _only_regular(os.lstat(path).st_mode, path)
    descriptor = os.open(path, flags | _LOOKING, 0o600)
    try:
        _only_regular(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _only_regular(mode: int, path: str) -> None:
    if kind := kind_of(mode):
        raise OSError(errno.EINVAL, f"it is {kind}", path)


def _read(descriptor: int, most: int) -> bytes:
    data = os.read(descriptor, min(most, _PIECE))
    if len(data) < min(os.fstat(descriptor).st_size, most):
        pieces, size = [data], len(data)
        while size < most and (piece := os.read(descriptor, min(most - size, _PIECE))):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)
    return data


def _problem(path: str, error: OSError) -> str:
    """Why a path could not be opened: what it is, if that is the reason."""
    try:
        kind = kind_of(os.lstat(path).st_mode)
    except OSError:
        kind = ""
    return f"is {kind}" if kind else f"cannot be read: {error.strerror}"
