"""Names that an ensemble's files hold, for completing words of a command line.

They are looked for by indentation, as the program and people usually write these files, and not read as YAML: whoever
presses a key does not wait for that. A file that is written otherwise gives no names.
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
_BLOCK = re.compile(r"^  \S+@v\d+#(\w+):$", re.MULTILINE)


def instances(directory: str) -> Iterator[str]:
    """The ids of the instances of an ensemble."""
    yield from _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "instances"))
    for part in sorted(Path(directory, "status").rglob("*.yaml")):
        yield from (_plain(found[1]) for line in _lines(part) if (found := _PART_LINE.match(line)) is not None)


def nodes(directory: str) -> Iterator[str]:
    """The nodes that an ensemble has instances of, or had."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "counts"))


def outputs(directory: str) -> Iterator[str]:
    """The outputs of what is deployed."""
    return _keys(_lines(Path(directory, "ensemble.yaml")), ("status", "outputs"))


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


def _keys(lines: Iterable[str], path: tuple[str, ...]) -> Iterator[str]:
    """The keys of the map at a path of keys, each of which stands further in than the one before it."""
    above: list[tuple[int, str]] = []
    for line in lines:
        found = _KEY.match(line)
        if found is None:
            continue
        indentation = len(found[1])
        while above and above[-1][0] >= indentation:
            above.pop()
        key = _plain(found[2])
        if tuple(name for _, name in above) == path:
            yield key
        above.append((indentation, key))


def _plain(key: str) -> str:
    try:
        return str(json.loads(key)) if key.startswith('"') else key
    except ValueError:
        return key
