"""A catalogue of blocks: a folder or an archive with a file of definitions, and beside it the scripts of the blocks."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.base.paths import is_url, leaves_root
from ordito.model.block_types import block_types
from ordito.model.lifecycle_steps import BlockType
from ordito.model.operation import Operation
from ordito.model.schema import Schema
from ordito.model.settings import NO_SETTINGS
from ordito.model.types import Types
from ordito.model.units import Units
from ordito.source.package import Package
from ordito.source.tree import FileTree
from ordito.syntax.expressions import as_written

CHUNK = 1 << 20


class BlockCatalogue(msgspec.Struct, frozen=True):
    """A catalogue that was read."""

    package: Package
    """Its files."""
    blocks: Mapping[str, BlockType]
    """Its blocks by name."""
    definitions: tuple[str, ...]
    """The files in which they are defined."""


def read_catalogue(package: Package, origin: str, diagnostics: Diagnostics) -> BlockCatalogue:
    """Read the definitions of a catalogue, which messages call ``origin``. Their errors are added to ``diagnostics``,
    but no warnings: these are for the authors of the catalogue."""
    found = Diagnostics()
    units = Units(package, found)
    units.gather()
    types = Types(units, found)
    types.flatten()
    blocks = block_types(types, origin)
    diagnostics.extend(d for d in found if d.severity is Severity.ERROR)
    return BlockCatalogue(package, blocks, units.files)


def block_files(block: BlockType, tree: FileTree) -> list[str]:
    """The files that a block runs, and all other files in their folders inside the catalogue, since scripts use the
    files beside them. Files that are missing are included; files with a URL or outside the catalogue are not."""
    found: dict[str, None] = {}
    base = posixpath.dirname(block.file)
    for file in script_files(block):
        path = posixpath.normpath(file)
        if is_url(file) or leaves_root(path):
            continue
        found[path] = None
        name, slash, _ = posixpath.relpath(path, base or ".").partition("/")
        folder = posixpath.join(base, name)
        if slash and name != ".." and tree.is_folder(folder):
            found.update(dict.fromkeys(_below(tree, folder)))
    return list(found)


def script_files(block: BlockType) -> Iterator[str]:
    """The files that a block says it runs, relative to the root of its catalogue."""
    for operation in (block.execute, block.undo):
        if operation is not None and operation.implementation is not None:
            yield operation.implementation.file
            yield from (artifact.file for artifact in operation.dependencies)


def _below(tree: FileTree, folder: str) -> Iterator[str]:
    """The files in a folder, without hidden ones and what Python has compiled."""
    todo = [folder]
    while todo:
        here = todo.pop()
        folders, files = tree.entries(here)
        yield from (f"{here}/{name}" for name in files if not name.startswith("."))
        todo.extend(f"{here}/{name}" for name in folders if not name.startswith(".") and name != "__pycache__")


def content_digest(block: BlockType, tree: FileTree) -> str:
    """The SHA-256 of everything that a block declares: its name and version, its configuration, what it runs and needs.
    The place of its catalogue does not count, nor other blocks in it: to add a block leaves the digests of the others
    unchanged. Raises ``OSError``."""
    folder = posixpath.dirname(block.file)
    files = {}
    for file in sorted(map(posixpath.normpath, script_files(block))):
        if not is_url(file) and tree.is_file(file):
            files[posixpath.relpath(file, folder or ".")] = _file_digest(tree, file)
    content = {
        "fqn": block.fqn,
        "version": block.version,
        "config": {
            name: [_schema(d.schema), d.required, as_written(d.default) if d.has_default else None]
            for name, d in block.fields.items()
        },
        "execute": _operation(block.execute, folder),
        "undo": _operation(block.undo, folder),
        "files": files,
    }
    if block.undone_once != NO_SETTINGS.undone_once:
        content["undone once"] = block.undone_once
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _operation(operation: Operation | None, folder: str) -> object:
    if operation is None or operation.implementation is None:
        return None
    named = (operation.implementation, *operation.dependencies)
    return [[a.kinds[:1], posixpath.relpath(a.file, folder or ".")] for a in named], operation.timeout


def _schema(schema: Schema | None) -> object:
    if schema is None:
        return None
    constraints = [[c.operator, as_written(c.operand)] for c in schema.constraints]
    return [schema.type, _schema(schema.entry), _schema(schema.key), constraints]


def _file_digest(tree: FileTree, file: str) -> str:
    digest = hashlib.sha256()
    with tree.open(file) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
