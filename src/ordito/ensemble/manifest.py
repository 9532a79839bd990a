"""`ensemble.yaml`: the user's part, kept byte for byte, and below a marker line the machine's part.

The two are separated as bytes, so the user's text is never parsed here, and never changed. The instances of a large
ensemble are in `status/<node>.yaml`, one a line; those of nodes with few instances share a number of files in
`status/few`. The machine's part then names those files with their digests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from ordito.base.collector import paused_collector
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import digest_of, read, sync_directory, write_whole
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest_rows import (
    FORMAT,
    FORMAT_NAME,
    FORMATS,
    InstanceRow,
    StatusRow,
    instance_rows,
    snapshot_of,
    status_of,
    status_row,
    with_reason,
)
from ordito.ensemble.status import Status
from ordito.ensemble.vault import MARK, sealed, unsealed, use_vault
from ordito.ensemble.yaml_writer import are_simple, block, flow_line, load, scalar
from ordito.instances.records import Snapshot
from ordito.source.new_files import open_regular

T = TypeVar("T")

MARKER = b"# ==== What follows is written by ordito: the status of this ensemble. Edit above this line. ====\n"
END = b"# ==== The status ends here. ====\n"
_MARKER_LINE = re.compile(rb"^# ==== What follows is written by ordito: [^\r\n]*====\r?(?:\n|\Z)", re.MULTILINE)

LARGEST_INLINE = 10_000
"""How many instances `ensemble.yaml` itself may hold; those of a larger ensemble are written to separate files."""

MOST_SHARED = 1_000
"""How many instances a node may have to share a file with other nodes."""

RESTORE = (
    "restore the file from git; or remove everything below your own part, then `ordito jobs resume` where a job waits,"
    " else `ordito jobs replay --write`, writes it again from the records"
)

MAKE_AGAIN = (
    "`ordito jobs replay --write` makes the machine part again from the records of jobs; or restore the file from git;"
    " the part above the marker line is yours"
)

_PART_LINE = re.compile(rb'^("(?:[^"\\]|\\.)*"|[A-Za-z_/][^\s:]*): (\{.*\})$')
_INSTANCE_ID = re.compile(r".+_[0-9]+")


class ManifestParts(msgspec.Struct, frozen=True):
    """The bytes of `ensemble.yaml`: the user's part, and the machine's with its marker line ("" if there is none)."""

    user: bytes = b""
    machine: bytes = b""


def read_manifest(layout: Layout) -> ManifestParts | None:
    """The two parts of the file, None where there is no file. Raises ``EnsembleError``."""
    content = read(layout.manifest)
    return None if content is None else split(content, str(layout.manifest))


def split(content: bytes, name: str = "ensemble.yaml") -> ManifestParts:
    """Separate the two parts of a file. Raises ``EnsembleError`` where it has several marker lines."""
    marks = [found.start() for found in _MARKER_LINE.finditer(content)]
    refuse_conflict(content, name, marks[0] if marks else -1)
    if not marks:
        if END.rstrip() in content:
            raise EnsembleError(f"{name} has the end of a status, but no marker line at its beginning", RESTORE)
        return ManifestParts(content)
    if len(marks) > 1:
        raise EnsembleError(f"{name} has {len(marks)} marker lines, after a merge perhaps", RESTORE)
    return ManifestParts(content[: marks[0]], content[marks[0] :])


def user_part(layout: Layout) -> bytes:
    """The user's part of the file, also where a merge has left conflicts in the machine's part; nothing where there is
    no file. Raises ``EnsembleError``."""
    content = read(layout.manifest) or b""
    found = _MARKER_LINE.search(content)
    if found is None or first_conflict(content[: found.start()] + b"\n") >= 0:
        return split(content, str(layout.manifest)).user
    return without_conflict(content[: found.start()])


def join(parts: ManifestParts) -> bytes:
    """The bytes of a file with these two parts; the user's last line is ended if it was not."""
    ending = b"" if not parts.machine or not parts.user or parts.user.endswith(b"\n") else b"\n"
    return parts.user + ending + parts.machine


def holds_marker(user: bytes) -> bool:
    """Whether a user's part has a line that separates or ends the machine's part, which it must not."""
    return _MARKER_LINE.search(user) is not None or END.rstrip() in user


def write_user_part(layout: Layout, user: bytes) -> None:
    """Replace the text above the marker line. Raises ``EnsembleError``."""
    found = read_manifest(layout) or ManifestParts()
    write_whole(layout.manifest, [join(ManifestParts(user, found.machine))])


# ---------------------------------------------------------------------------------------------------------- writing


def write_manifest(
    layout: Layout, snapshot: Snapshot, status: Status, effective: Mapping[str, str], *, largest: int = LARGEST_INLINE
) -> str:
    """Write the machine's part below the user's part; returns its digest, see ``state_digest``.

    ``effective`` holds effective statuses by instance id. Raises ``EnsembleError``.
    """
    use_vault(layout)
    known = _known_parts(layout)
    row = status_row(snapshot, status)
    rows = instance_rows(snapshot, effective)
    if len(snapshot.instances) > largest:
        row = msgspec.structs.replace(row, parts=dict(_write_parts(layout, rows, known)))
    else:
        row = msgspec.structs.replace(row, instances=dict(rows))
    machine = MARKER + "".join(block({"status": msgspec.to_builtins(row, enc_hook=sealed)})).encode() + END
    write_whole(layout.manifest, [join(ManifestParts(user_part(layout), machine))])
    remove_old_parts(layout, row.parts, known)
    return _digest(machine)


def _write_parts(
    layout: Layout, rows: Iterable[tuple[str, InstanceRow]], known: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Write the instances of each node to a file, those of nodes that have few to files that they share; gives the
    files' names and the SHA-256 of their content. ``known`` are the files that were named before."""
    by_node: dict[str, list[bytes]] = {}
    for name, row in rows:
        has_values = bool(row.outputs or row.relationships) or not are_simple(row.attributes)
        line = b"%b: %b\n" % (scalar(name).encode(), flow_line(row, has_values=has_values))
        by_node.setdefault(row.template, []).append(line)
    files: dict[Path, list[bytes]] = {}
    for node in sorted(by_node):
        lines = by_node[node]
        path = layout.status_part(node) if len(lines) > MOST_SHARED else layout.shared_part(node)
        files.setdefault(path, []).extend(lines)
    check_free(layout, files, known)
    for path, lines in sorted(files.items()):
        content = b"".join([PART_MARK, *lines])
        write_whole(path, [content])
        yield path.relative_to(layout.status).as_posix(), hashlib.sha256(content).hexdigest()


def _known_parts(layout: Layout) -> frozenset[str]:
    """The names of the files that the machine's part names as it stands there."""
    content = read(layout.manifest) or b""
    mark = _MARKER_LINE.search(content)
    return frozenset(name for name, _ in _named_parts(content[mark.end() :])) if mark else frozenset()


# ---------------------------------------------------------------------------------------------------------- reading


def state_digest(layout: Layout) -> str:
    """The digest of the machine's part and the files it names, "" where there is none. Raises ``EnsembleError``."""
    found = read_manifest(layout)
    if found is None or not found.machine:
        return ""
    for name, expected in _named_parts(found.machine):
        path = layout.status / name
        with explained("read", path):
            if not path.is_file() or digest_of(path) != expected:
                return "changed"
    return _digest(found.machine)


@paused_collector()
def read_state(layout: Layout) -> tuple[Snapshot, Status]:
    """The snapshot and the status in the file; empty if it has no machine part.

    Raises ``EnsembleError``, with the place, for a machine part that cannot be read.
    """
    row = read_rows(layout)
    return (Snapshot(), Status()) if row is None else (snapshot_of(row, row.instances), status_of(row))


def read_rows(layout: Layout) -> StatusRow | None:
    """The rows of the machine part, with the instances of all files; None if there is none."""
    use_vault(layout)
    found = read_manifest(layout)
    if found is None or not found.machine:
        return None
    name = str(layout.manifest)
    if not found.machine.rstrip().endswith(END.rstrip()):
        raise EnsembleError(
            f"{name}: the machine part is cut off: its last line, {END.decode().strip()!r}, is missing", MAKE_AGAIN
        )
    first_line = found.user.count(b"\n") + 1
    data = load(found.machine, name, MAKE_AGAIN, first_line=first_line)
    if not isinstance(data, dict) or set(data) != {"status"}:
        raise EnsembleError(f"{name}: below the marker line there must be `status:` and nothing else", MAKE_AGAIN)
    check_format(data["status"], name)
    row = msgspec.structs.replace(_convert(data["status"], StatusRow, f"{name}: status"), format=FORMAT)
    instances = dict(row.instances)
    for part in row.parts:
        instances.update(_read_part(layout, part))
    if len(instances) != row.records:
        raise EnsembleError(
            f"{name}: the status counts {row.records} instances, and holds {len(instances)}", MAKE_AGAIN
        )
    for instance in instances:
        if not _INSTANCE_ID.fullmatch(instance):
            raise EnsembleError(
                f"{name}: {instance!r} is not the id of an instance: ids end with _ and a number", MAKE_AGAIN
            )
    instances = {key: with_reason(instance) if instance.note else instance for key, instance in instances.items()}
    return msgspec.structs.replace(row, instances=instances)


def check_format(status: object, name: str) -> None:
    """Raise ``EnsembleError`` for a status that another version has written."""
    found = status.get("format", "") if isinstance(status, dict) else FORMAT
    if found in FORMATS:
        return
    number = str(found).removeprefix(FORMAT_NAME)
    hint = "install the version of ordito that wrote it, or a newer one"
    if not str(found).startswith(FORMAT_NAME) or not number.isdecimal():
        hint = MAKE_AGAIN
    if number.isdecimal() and int(number) < int(FORMAT.removeprefix(FORMAT_NAME)):
        hint = "an older version of ordito wrote it: undeploy with that version, and deploy again with this one"
    raise EnsembleError(f"{name}: the status has format {found!r}, this version knows {FORMAT}", hint)


def _read_part(layout: Layout, name: str) -> dict[str, InstanceRow]:
    path = layout.status / name
    content = read(path)
    if content is None:
        raise EnsembleError(f"{path} is missing, though {layout.manifest} names it", RESTORE)
    decoder = msgspec.json.Decoder(InstanceRow)
    rows: dict[str, InstanceRow] = {}
    try:
        for line in content.removeprefix(PART_MARK).splitlines():
            found = _PART_LINE.match(line)
            if found is None:
                raise msgspec.DecodeError("not a line that ordito has written")
            key = found[1].decode()
            row = decoder.decode(found[2])
            if MARK in found[2]:
                row = msgspec.convert(unsealed(msgspec.json.decode(found[2]), found[2]), InstanceRow)
            rows[msgspec.json.decode(key) if key.startswith('"') else key] = row
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Somebody else wrote it: that costs more time, and gives errors with places.
        data = load(content, str(path), RESTORE)
        return _convert(data or {}, dict[str, InstanceRow], str(path))
    return rows


def _convert(data: object, kind: type[T], place: str) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        where = f"{place}{path.rstrip('`')}"
        raise EnsembleError(f"{where}: {problem}", RESTORE) from error


def _named_parts(machine: bytes) -> Iterator[tuple[str, str]]:
    """The files named at the end of the machine's part, read without a parser: this is asked for at every command."""
    _, found, parts = machine.rpartition(b"\n  parts:\n")
    if found:
        for line in parts.removesuffix(END).splitlines():
            name, _, digest = line.decode("utf-8", "replace").strip().rpartition(": ")
            try:
                yield json.loads(name) if name.startswith('"') else name, digest.strip('"')
            except ValueError:
                # Edited by hand: no such file, so the whole is read again.
                yield name, ""


def _digest(machine: bytes) -> str:
    return hashlib.sha256(machine).hexdigest()


# The files in `status/` that hold the instances of a large ensemble: which of those that lie there the program wrote.
#
# Only these are ever replaced, removed or committed. A service may have a folder of that name with files of its own.

PART_MARK = b"# ==== Written by ordito: a part of the status in ensemble.yaml. ====\n"
"""The first line of every such file."""


def is_part(path: Path) -> bool:
    """Whether a file begins with the mark of a part. Raises ``OSError``."""
    with open_regular(path) as file:
        return file.read(len(PART_MARK)) == PART_MARK


def check_free(layout: Layout, paths: Iterable[Path], known: Collection[str]) -> None:
    """Raise ``EnsembleError`` where there is a file at one of the paths that Ordito has not written. ``known`` are the
    names of its own files below `status/`."""
    for path in paths:
        with explained("look at", path):
            if _name(layout, path) in known or not path.exists() or is_part(path):
                continue
        raise EnsembleError(
            f"{path} was not written by ordito, and a part of the ensemble's status belongs there",
            "move that file, or its folder, elsewhere; then `ordito jobs resume` writes what is missing",
        )


def remove_old_parts(layout: Layout, parts: Collection[str], known: Collection[str]) -> None:
    """Remove Ordito's own files that are not among ``parts``, and their folders if these are empty then. Raises
    ``EnsembleError``."""
    with explained("tidy up", layout.status):
        old = list(_old(layout, parts, known))
        for path in old:
            path.unlink()
        for folder in (layout.shared, layout.status) if old else ():
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            elif folder.is_dir():
                sync_directory(folder)


def _old(layout: Layout, parts: Collection[str], known: Collection[str]) -> Iterator[Path]:
    for folder in (layout.status, layout.shared):
        for path in folder.glob("*.yaml"):
            name = _name(layout, path)
            if name not in parts and path.is_file() and not path.is_symlink() and (name in known or is_part(path)):
                yield path


def _name(layout: Layout, path: Path) -> str:
    return path.relative_to(layout.status).as_posix()


# Conflicts that a merge of git has left in `ensemble.yaml`.
#
# In the machine's part they are no loss: what it says is written again from the records of the jobs, which git merges
# by itself. What the user wrote, only the user can decide.

_BEGIN = re.compile(rb"^<{7}(?: [^\n]*)?\r?$", re.MULTILINE)
_MIDDLE = re.compile(rb"^={7}\r?$", re.MULTILINE)
_END = re.compile(rb"^>{7}(?: [^\n]*)?\r?$", re.MULTILINE)

AGAIN = "`ordito jobs replay --write` makes the status again from the records of both sides; then commit the merge"


def first_conflict(content: bytes) -> int:
    """The place of the first conflict, -1 where there is none."""
    if b"<<<<<<<" not in content:
        return -1
    begin = _BEGIN.search(content)
    middle = _MIDDLE.search(content, begin.end()) if begin else None
    end = _END.search(content, middle.end()) if middle else None
    return begin.start() if begin and end else -1


def refuse_conflict(content: bytes, name: str, machine: int) -> None:
    """Raise ``EnsembleError`` where a file holds a conflict; ``machine`` is where its machine part begins, -1 for
    none."""
    place = first_conflict(content)
    if place < 0:
        return
    where = f"{name}:{content.count(bytes([10]), 0, place) + 1}"
    if 0 <= machine <= place or not content[place:machine].count(b"\n") > 1:
        raise EnsembleError(f"{where}: a merge of git has left a conflict in the status", AGAIN)
    raise EnsembleError(
        f"{where}: a merge of git has left a conflict in the part that is yours",
        f"choose what holds, down to the marker line, and remove the marks of git; below it, {AGAIN}",
    )


def without_conflict(user: bytes) -> bytes:
    """The user's part of a file whose machine part alone is in conflict: the conflict may begin right above it."""
    lines = user.splitlines(keepends=True)
    return b"".join(lines[:-1]) if lines and _BEGIN.fullmatch(lines[-1].rstrip(b"\n")) else user
