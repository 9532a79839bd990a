"""What differs between two revisions: the inputs, the nodes as they were declared, and the files of the service."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from ordito.app.diff import InputDiff
from ordito.app.errors import Refused
from ordito.app.job.jobs import ensemble_place
from ordito.app.place import Place
from ordito.app.services.pinned import read_pinned
from ordito.app.services.read import ReadService
from ordito.base.collector import paused_collector
from ordito.base.sensitive import SHOWN, shown
from ordito.ensemble.pins import LIST
from ordito.ensemble.revisions import Revision, revisions
from ordito.ensemble.store import read_ensemble
from ordito.model.sensitivity import Marks
from ordito.model.service import NodeTemplate
from ordito.source.package import Package
from ordito.syntax.expressions import as_written

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


class DeclaredDifference(msgspec.Struct, frozen=True):
    """A difference between two declarations of a node; null for what one of them does not have."""

    what: str
    before: object
    after: object


class DeclaredNodeDiff(msgspec.Struct, frozen=True):
    """A node that is not declared in the same way."""

    node: str
    change: str
    """``added``, ``removed`` or ``changed``."""

    declared: str
    """Its place in the newer of the two that has it."""

    differences: tuple[DeclaredDifference, ...] = ()


class FileDiff(msgspec.Struct, frozen=True):
    """A file of the service that is not the same."""

    file: str
    change: str


class RevisionDiff(msgspec.Struct, frozen=True):
    """What differs between two revisions."""

    before: int
    after: int
    inputs: tuple[InputDiff, ...]
    nodes: tuple[DeclaredNodeDiff, ...]
    unchanged: int
    """How many nodes are declared in the same way."""

    files: tuple[FileDiff, ...]


def diff_revisions(directory: str, before: int, after: int) -> RevisionDiff:
    """Compare two revisions by what was deployed with them. Raises ``Refused``, ``InvalidDocument`` and
    ``EnsembleError``."""
    place = ensemble_place(directory)
    with read_ensemble(directory), paused_collector():
        wanted = {before, after}
        found: dict[int, Revision] = {}
        for one in revisions(place.layout):
            if one.number in wanted:
                found[one.number] = one
            if len(found) == len(wanted):
                break
        for number in (before, after):
            if number not in found:
                raise Refused(
                    "unknown-revision",
                    f"there is no revision {number}",
                    next_words=("revisions",),
                    purpose="see which there are",
                )
        old, new = _read(place, found[before]), _read(place, found[after])
        nodes = tuple(_nodes(old, new))
        both = _nodes_of(old).keys() & _nodes_of(new).keys()
        return RevisionDiff(
            before,
            after,
            tuple(_inputs(found[before], found[after])),
            nodes,
            len(both) - sum(one.change == CHANGED for one in nodes),
            tuple(_files(old, new)),
        )


def _read(place: Place, revision: Revision) -> ReadService | None:
    """What a revision has deployed; None for one that has removed everything."""
    return None if revision.was_removed else read_pinned(place, revision.form)


def _inputs(old: Revision, new: Revision) -> Iterator[InputDiff]:
    before = {} if old.was_removed else old.form.inputs
    after = {} if new.was_removed else new.form.inputs
    for name in dict.fromkeys((*before, *after)):
        if name not in before or name not in after or before[name] != after[name]:
            yield InputDiff(name, shown(before.get(name)), shown(after.get(name)))


def _nodes_of(read: ReadService | None) -> Mapping[str, NodeTemplate]:
    return read.service.nodes if read is not None else {}


def _nodes(old: ReadService | None, new: ReadService | None) -> Iterator[DeclaredNodeDiff]:
    before, after = _nodes_of(old), _nodes_of(new)
    for name in dict.fromkeys((*after, *before)):
        place = str((after.get(name) or before[name]).span or "")
        if name not in before or name not in after:
            yield DeclaredNodeDiff(name, ADDED if name in after else REMOVED, place)
        elif found := _differences(_said(before[name], old), _said(after[name], new)):
            yield DeclaredNodeDiff(name, CHANGED, place, found)


def _differences(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[DeclaredDifference, ...]:
    names = dict.fromkeys((*before, *after))
    return tuple(
        DeclaredDifference(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )


def _said(node: NodeTemplate, read: ReadService | None) -> dict[str, object]:
    """What is declared of a node, by words for it."""
    assert read is not None
    marks = Marks(read.service.data_types)
    said: dict[str, object] = {"type": node.type}
    for name, value in node.properties.items():
        is_hidden = marks.of(node.definitions.get(name)) is not None and not _is_call(value)
        said[f"property {name}"] = SHOWN if is_hidden else as_written(value)
    for number, one in enumerate(node.requirements):
        key = f"requirement {one.requirement}"
        said[key if key not in said else f"{key} {number + 1}"] = one.target
    for interface in node.interfaces.values():
        for operation in interface.operations.values():
            if operation.implementation is not None:
                said[f"operation {interface.name}.{operation.name}"] = operation.implementation.file
    if node.occurrences is not None:
        said["occurrences"] = list(node.occurrences)
    if node.instance_count is not None:
        said["instances"] = as_written(node.instance_count)
    return said


def _is_call(value: object) -> bool:
    """Whether a value is only named where it is declared, and so is no secret itself."""
    return isinstance(as_written(value), dict) and not isinstance(value, dict)  # type: ignore[arg-type]


def _files(old: ReadService | None, new: ReadService | None) -> Iterator[FileDiff]:
    before, after = _digests(old), _digests(new)
    for file in sorted({*before, *after}):
        if before.get(file) != after.get(file):
            yield FileDiff(file, REMOVED if file not in after else ADDED if file not in before else CHANGED)


def _digests(read: ReadService | None) -> dict[str, bytes]:
    """The digest of each file of a service."""
    if read is None:
        return {}
    package, found, waiting = read.package, dict[str, bytes](), [""]
    while waiting:
        folder = waiting.pop()
        folders, files = package.tree.entries(folder)
        waiting.extend(posixpath.join(folder, name) for name in folders)
        for name in files:
            if not folder and name == LIST:
                continue
            file = posixpath.join(folder, name)
            found[file] = _digest(package, file)
    return found


def _digest(package: Package, file: str) -> bytes:
    with package.tree.open(file) as stream:
        digest = hashlib.sha256()
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.digest()
