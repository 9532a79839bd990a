"""Names in an ensemble's files, for completing words of a command line.

They are found by indentation, in the way in which the program and people usually write these files, and not by reading
YAML, which would take too long after a key press. A file in another style gives no names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST_BYTES = 8_000_000
_KEY = re.compile(r'^( *)("(?:[^"\\]|\\.)*"|[^\s#"\'{\[][^:]*):(?:\s|$)')
_PART_LINE = re.compile(r'^("(?:[^"\\]|\\.)*"|[^\s:"]+): \{')
_TYPE = re.compile(r"^(?:    |      )(?:\S+: \{ ?)?type: ([\w.:-]+)")
_VALUE = re.compile(r'^  (\w+): "?([^"\s]+)"?$')
_OF_INTERFACES = frozenset({"type", "inputs", "notifications", "derived_from", "description"})
_BLOCK = re.compile(r"^  \S+@v\d+#(\w+):$", re.MULTILINE)


def instances(directory: str) -> Iterator[str]:
    """The ids of the instances of an ensemble."""
    yield from _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "instances"))
    for part in sorted(Path(directory, "status").rglob("*.yaml")):
        yield from (_plain(found[1]) for line in _lines(part) if (found := _PART_LINE.match(line)) is not None)


def nodes(directory: str) -> Iterator[str]:
    """The nodes of which an ensemble has or had instances."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "counts"))


def outputs(directory: str) -> Iterator[str]:
    """The outputs of what is deployed."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "outputs"))


def inputs(directory: str) -> Iterator[str]:
    """The inputs with which the service was deployed."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "inputs"))


def given(directory: str) -> Iterator[str]:
    """The inputs that an ensemble remembers from commands."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "given"))


def revisions(directory: str) -> Iterator[str]:
    """The numbers of the revisions, the newest first."""
    number = next(iter(_values(directory, "revision")), "")
    yield from map(str, range(int(number) if number.isdecimal() else 0, 0, -1))


def types(directory: str) -> Iterator[str]:
    """The types of the nodes in the template, as it was deployed last."""
    found = (match[1] for line in _deployed(directory) if (match := _TYPE.search(line)) is not None)
    return iter(dict.fromkeys(name for name in found if "." in name or ":" in name or not name.islower()))


def operations(directory: str) -> Iterator[str]:
    """The operations that the service declares, as it was deployed last, and those of TOSCA's standard interface."""
    found = dict.fromkeys(f"Standard.{name}" for name in ("create", "configure", "start", "stop", "delete"))
    for path in _paths(_deployed(directory)):
        at = path.index("interfaces") + 1 if "interfaces" in path else len(path)
        rest = [name for name in path[at:] if name != "operations"]
        if len(rest) == 2 and rest[1] not in _OF_INTERFACES:
            found[".".join(rest)] = None
    return iter(found)


def environments(directory: str) -> Iterator[str]:
    """The environments of an ensemble."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("spec", "environments"))


def jobs(directory: str) -> Iterator[str]:
    """The ids of all jobs."""
    try:
        names = os.listdir(Path(directory, "jobs"))  # noqa: PTH208  (plain names, of which there may be many)
    except OSError:
        return
    yield from (name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def hosts(inventory: str) -> Iterator[str]:
    """The hosts of an inventory."""
    return _keys(_lines(Path(inventory)), ("hosts",))


def secrets(directory: str) -> Iterator[str]:
    """The secrets that an ensemble keeps."""
    return _keys(_lines(Path(directory, "secrets.yaml")), ())


def blocks() -> Iterator[str]:
    """The short names of the blocks that come with the program."""
    text = (Path(__file__).parent.parent / "catalogue" / "blocks.yaml").read_text(encoding="utf-8")
    yield from dict.fromkeys(found[1] for found in _BLOCK.finditer(text))


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return []


def _values(directory: str, name: str) -> Iterator[str]:
    """The value of a name in the status."""
    lines = iter(_lines(Path(directory, "ensemble.yaml")))
    for line in lines:
        if line == "status:":
            break
    for line in lines:
        if (found := _VALUE.match(line)) is not None and found[1] == name:
            yield found[2]


def _deployed(directory: str) -> list[str]:
    """The lines of the entry file of the service that was deployed last."""
    service, main = (next(iter(_values(directory, name)), "") for name in ("service", "main"))
    artifacts = Path(directory, "artifacts")
    path = artifacts / service / main
    return _lines(path) if service and main and path.resolve().is_relative_to(artifacts.resolve()) else []


def _keys(lines: Iterable[str], path: tuple[str, ...]) -> Iterator[str]:
    """The keys of the map at a path of keys."""
    return (found[-1] for found in _paths(lines) if found[:-1] == path)


def _paths(lines: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Each key with its parent keys, by indentation."""
    above: list[tuple[int, str]] = []
    for line in lines:
        found = _KEY.match(line)
        if found is None:
            continue
        indentation = len(found[1])
        while above and above[-1][0] >= indentation:
            above.pop()
        above.append((indentation, _plain(found[2])))
        yield tuple(name for _, name in above)


def _plain(key: str) -> str:
    try:
        return str(json.loads(key)) if key.startswith('"') else key
    except ValueError:
        return key
