"""What blocks share: how they read their config, say what went wrong, and hand back outputs.

A block is a process. Its config is in the variables ``CONFIG_<key>``, what it is about in ``ORDITO_*``; it ends with 0
if it did its work, with 1 if it could not, and with 2 if its config is wrong. The same script undoes: it does so where
``ORDITO_EXECUTE_RESULT`` names the record of what it did. Only the standard library is used here, since a block runs by
whatever Python there is.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

FAILED, WRONG_CONFIG = 1, 2

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|us|ns|d|h|m|s)")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_OLD_NOTE = 90 * 86_400.0


class Failed(Exception):
    """The block cannot do its work: what went wrong, what can be done about it, and how the process ends."""

    def __init__(self, message: str, hint: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


Outputs = Mapping[str, object]

UNCHANGED: Outputs = {"ordito.changed": False}
"""Says that nothing was changed. Of an undo: that what the step did is still there, or that it did nothing."""


def run(execute: Callable[[], Outputs], undo: Callable[[Outputs], Outputs]) -> NoReturn:
    """Be the block: ``execute``, or ``undo`` what was done, given its outputs; either gives the outputs of its own."""
    # Of what ends the process nothing half-made shall be left, so the blocks of `finally` must run.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    try:
        outputs = undo(_recorded_outputs()) if os.environ.get("ORDITO_EXECUTE_RESULT") else execute()
    except Failed as failure:
        _end(failure)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _end(Failed(f"{where}{error.strerror or error}"))
    if outputs and (place := os.environ.get("ORDITO_OUTPUTS")):
        Path(place).write_text(json.dumps(dict(outputs)), encoding="utf-8")
    sys.exit(0)


def _end(failure: Failed) -> NoReturn:
    name = os.environ.get("ORDITO_FQN", "").rpartition("#")[2] or Path(sys.argv[0]).stem
    tell(f"{name}: {failure.message}")
    if failure.hint:
        tell(f"{name}: {failure.hint}")
    sys.exit(failure.code)


def nothing_to_undo(_outputs: Outputs) -> Outputs:
    """The undo of a block that has only looked."""
    say("nothing to undo: it has changed nothing")
    return UNCHANGED


def say(text: str) -> None:
    """Tell what is being done."""
    print(text, flush=True)


def tell(text: str) -> None:
    """Tell what is wrong."""
    print(text, file=sys.stderr, flush=True)


def misconfigured(key: str, problem: str, hint: str = "") -> Failed:
    """The failure of a config that the block cannot work with."""
    return Failed(f"config, {key}: {problem}", hint, WRONG_CONFIG)


# ------------------------------------------------------------------------------------------------------- the config


def given(key: str) -> str | None:
    """A key of the config as text; None where it is not set. One that is too long for the environment of a process is
    a global of the script that was started."""
    name = f"CONFIG_{key}"
    found = os.environ.get(name)
    return found if found is not None else vars(sys.modules["__main__"]).get(name)


def text(key: str, default: str | None = None) -> str:
    """A key of the config. Without a default it must be there, and not be empty."""
    value = given(key)
    if value:
        return value
    if default is None:
        raise misconfigured(key, "it is missing")
    return default


def number(key: str, default: int | None = None) -> int:
    """A whole number of the config."""
    value = given(key)
    if value is None and default is not None:
        return default
    try:
        return int(text(key))
    except ValueError:
        raise misconfigured(key, f"{value} is no whole number") from None


def flag(key: str, *, default: bool) -> bool:
    """Whether something is so, by the config."""
    value = given(key)
    if value is None:
        return default
    if value.lower() not in ("true", "false"):
        raise misconfigured(key, f"{value} is neither true nor false")
    return value.lower() == "true"


def seconds(key: str, default: float) -> float:
    """A time of the config, such as ``500 ms``, ``30s`` or ``1h30m``, in seconds: more than none."""
    value = given(key)
    if value is None:
        return default
    total, at = 0.0, 0
    while match := _PART.match(value, at):
        total, at = total + float(match[1]) * _UNITS[match[2]], match.end()
    if at == 0 or value[at:].strip() or total <= 0:
        raise misconfigured(key, f"{value} is no time above zero", "write it as in 500 ms, 30 s or 5 m")
    return total


def texts(key: str) -> list[str]:
    """A list of texts; empty where the config has none."""
    value = _plain(key, "[]")
    if not isinstance(value, list) or not all(isinstance(item, (str, int, float)) for item in value):
        raise misconfigured(key, "it is no list of texts")
    return [str(item) for item in value]


def records(key: str) -> list[dict[str, object]]:
    """A list of maps."""
    value = _plain(key, "[]")
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise misconfigured(key, "it is no list of maps")
    return value


def mapping(key: str) -> dict[str, str]:
    """A map of texts; empty where the config has none."""
    value = _plain(key, "{}")
    if not isinstance(value, dict):
        raise misconfigured(key, "it is no map")
    return {name: item if isinstance(item, str) else json.dumps(item) for name, item in value.items()}


def _plain(key: str, default: str) -> object:
    try:
        return json.loads(given(key) or default)
    except ValueError:
        raise misconfigured(key, "it is not written as JSON") from None


def absolute(key: str, value: str) -> Path:
    """A path of the config, which must be absolute: where the block runs has no meaning to anybody."""
    if not value.startswith("/"):
        raise misconfigured(key, f"{value} is no absolute path", "write where it is from the root on, as in /var/lib")
    return Path(value)


# ------------------------------------------------------------------------------------------------- what it is about


def context() -> dict[str, object]:
    """What conditions know as well: values, resources, outputs, and names."""
    place = os.environ.get("ORDITO_CONTEXT")
    if not place:
        return {}
    found = json.loads(Path(place).read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def subject() -> str:
    """What the step is about: the component, or the service by its name."""
    if component := os.environ.get("ORDITO_COMPONENT"):
        return component
    module = context().get("module")
    return str(module.get("name") or "") if isinstance(module, dict) else ""


def execution() -> str:
    """What tells this execution of the step from all others, and stays the same when it is tried again: its job and its
    step. Empty where nobody says so."""
    job, step = os.environ.get("ORDITO_JOB", ""), os.environ.get("ORDITO_STEP", "")
    return f"{job}/{step}" if job else ""


def execution_name() -> str:
    """The beginning of the names of files that this execution makes: executions of one step sort by their time."""
    stamp = os.environ.get("ORDITO_JOB") or time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return f"{step_name()}{stamp}"


def step() -> str:
    """The lifecycle step that is carried out, or undone. Empty where nobody says so."""
    return os.environ.get("ORDITO_HOOK") or os.environ.get("ORDITO_STEP", "")


def step_name(named: str = "") -> str:
    """The beginning of the names of files that a step makes, this one unless another is named."""
    return _NOT_IN_NAMES.sub("-", named or step() or "step").strip("-") + "--"


def _recorded_outputs() -> Outputs:
    place = Path(os.environ["ORDITO_EXECUTE_RESULT"])
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        outputs = record.get("outputs") or {}
    except (ValueError, AttributeError):
        raise Failed(f"{place}, the record of what is to be undone, cannot be read") from None
    for key, value in (record.get("config") or {}).items():
        plain = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        os.environ.setdefault(f"CONFIG_{key}", plain)
    return dict(outputs)


# ------------------------------------------------------------------------------------------------------------ files


@contextmanager
def replacing(place: Path, *, suffix: str = ".part") -> Iterator[Path]:
    """A file beside ``place`` that takes its place, whole and safe on disk, when the block ends well; else it goes.
    What an attempt that was killed has left goes too, so nobody else may be about the same place."""
    for left in place.parent.glob(f".{glob.escape(place.name)}.*{suffix}"):
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=suffix, dir=place.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(place)
        synchronise(place.parent)
    finally:
        part.unlink(missing_ok=True)


def synchronise(folder: Path) -> None:
    """Make sure that the names in a folder are safe on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(place: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    found = hashlib.sha256()
    with place.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


# ------------------------------------------------------------------------------------------------------------ notes


def noted(find: Callable[[], object]) -> object:
    """What was there before this execution changed anything, found once: who is cut off and tried again would find what
    it has made itself. It is kept below the home folder until that is long past."""
    place = _note()
    if place is None:
        return find()
    if place.exists():
        return json.loads(place.read_text(encoding="utf-8"))
    found = find()
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _forget_old(place.parent)
    with replacing(place) as part:
        part.write_text(json.dumps(found), encoding="utf-8")
    return found


def _note() -> Path | None:
    if not execution():
        return None
    try:
        home = Path.home()
    except RuntimeError:
        raise Failed("there is no home folder for notes of what was there before", "set HOME") from None
    name = hashlib.sha256(execution().encode()).hexdigest()[:32]
    return home / ".local" / "state" / "ordito" / "blocks" / f"{name}.json"


def _forget_old(folder: Path) -> None:
    for place in folder.glob("*.json"):
        try:
            if place.stat().st_mtime < time.time() - _OLD_NOTE:
                place.unlink(missing_ok=True)
        except FileNotFoundError:
            continue  # Somebody else was faster.
