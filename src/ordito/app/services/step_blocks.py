"""The blocks of a service's lifecycle steps: where they are searched, and their place in the service's pin.

Every block that a step names is copied into the pin of the service, in a folder of its own, so that a service that is
read from its pin needs no other catalogue.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ordito.app.services.step_files import WrittenSteps, kept_file
from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import is_url, leaves_root
from ordito.base.sensitive import is_sensitive, revealed
from ordito.blocks.catalogue import BlockCatalogue, block_files, content_digest, script_files
from ordito.blocks.check import OPERATION, check_step
from ordito.blocks.search import FOLDER, Places, Search, user_folder
from ordito.ensemble.pins import LIFECYCLE
from ordito.instances.evaluate import STATIC
from ordito.instances.static_steps import StaticConfig, static_configs
from ordito.model.inputs import known_inputs
from ordito.model.lifecycle_steps import BUILT_IN, BlockType, LifecycleStep
from ordito.model.operation import Operation
from ordito.model.schema import DataType, Schema
from ordito.model.service import Service
from ordito.source.meta import META, meta_text
from ordito.source.package import Package
from ordito.source.parts import span_inside
from ordito.source.remote import RemoteFiles
from ordito.source.tree import Added, FileTree, Overlaid
from ordito.syntax.expressions import Value, calls
from ordito.work.hooks import Block, BlockScript

COPIES = f"{LIFECYCLE}/blocks"
"""The folder of a pin with the catalogues that the service's steps need, each in a folder of its own."""
MISSING_FILE = "missing-artifact"


class StepSources(msgspec.Struct, frozen=True):
    """Where blocks are searched, besides the catalogues of the user and of the program."""

    given: tuple[str, ...] = ()
    """The catalogues that a command names."""

    file: str = ""
    """The file that declares lifecycle steps, "" for the one beside the service."""

    project: str = ""
    """The folder with the catalogues of the project."""

    pinned: bool = False
    """Whether the service is read from its pin: then blocks are searched only there."""

    looked_past: bool = False
    """Whether steps do not matter, so that problems with their blocks are not reported."""


class CopiedCatalogue(msgspec.Struct, frozen=True):
    """A catalogue with a copy in the pin: its name in messages, and its folder in the service, "" if it is elsewhere,
    or in an archive."""

    origin: str
    inside: str = ""


class StepBlocks(msgspec.Struct, frozen=True):
    """The blocks of the steps of a service, and the files that they need."""

    blocks: Mapping[str, Block] = {}
    """The blocks by ids of steps; their folders are relative to the root of the service."""

    files: tuple[str, ...] = ()
    """The files of the service that they need, by their paths in it."""

    scripts: tuple[str, ...] = ()
    """The files of the service that they run."""

    paths: Mapping[str, tuple[str, ...]] = {}
    """By step, the files and folders of the service in its config, as far as they are known."""

    copies: Mapping[str, CopiedCatalogue] = {}
    """The catalogues that are used, by the folders of their copies."""

    file: str = ""
    """The service's own file in which steps are declared, "" for none, or one elsewhere."""

    sources: tuple[str, ...] = ()
    """The absolute paths of what was read besides the service, without files of the user's catalogues and of the
    program."""


NO_BLOCKS = StepBlocks()


def search_of(package: Package, sources: StepSources, diagnostics: Diagnostics) -> Search:
    """The search for blocks of the steps of a service."""
    beside = posixpath.dirname(package.main)
    if sources.pinned:
        folder = posixpath.join(beside, COPIES)
        return Search(Places(alone=True), [(package.tree, folder, package.shown(folder))], diagnostics)
    own = posixpath.join(beside, FOLDER)
    places = places_of(sources)
    if not package.is_archive:
        # That of the service and that of the project may be the same folder.
        same = Path(package.root, own)
        others = tuple(f for f in places.folders if not (same.exists() and Path(f).exists() and same.samefile(f)))
        places = msgspec.structs.replace(places, folders=others)
    return Search(places, [(package.tree, own, package.shown(own))], diagnostics)


def places_of(sources: StepSources) -> Places:
    """The catalogues that are searched besides the service."""
    project = [os.path.normpath(Path(sources.project) / FOLDER)] if sources.project else []
    return Places((*project, str(user_folder(os.environ))), sources.given)


def archive_folders(sources: StepSources) -> tuple[str, ...]:
    """The folders in which archives are found that a service imports by name and version, besides the one beside it."""
    if sources.pinned:
        return ()
    places = places_of(sources)
    return (*places.given, *places.folders)


def blocks_of(
    package: Package,
    service: Service,
    inputs: Mapping[str, object],
    search: Search,
    written: WrittenSteps | None,
    diagnostics: Diagnostics,
) -> StepBlocks:
    """The blocks of a service's steps, with their files, and the file in which steps are ``written``, put into the
    service's tree; errors of the steps go to ``diagnostics``. ``inputs`` are given values of the service's inputs."""
    if not service.hooks:
        return NO_BLOCKS
    before = diagnostics.errors
    placing = _Placing(package, search, diagnostics)
    components = {*service.nodes, *service.substituted}
    for step in service.hooks.values():
        check_step(step, lambda: _names(service, search), components, diagnostics)
        if step.block is not None:
            placing.see(step)
    known = static_configs(service, known_inputs(service.inputs, service.data_types, inputs), diagnostics)
    _check_operations(service, known, diagnostics)
    paths = {i: tuple(step_paths(s, known[i], package, diagnostics)) for i, s in service.hooks.items()}
    if diagnostics.errors > before:
        return NO_BLOCKS
    return msgspec.structs.replace(placing.placed(service, written), paths={i: p for i, p in paths.items() if p})


def _check_operations(service: Service, known: Mapping[str, StaticConfig], diagnostics: Diagnostics) -> None:
    """Report operations that steps would run and that do not exist, as far as configs are ``known``."""
    running = [step for step in service.hooks.values() if step.fqn == OPERATION]
    if running:
        from ordito.planning.operation_steps import check_operation

        for step in running:
            check_operation(service, step, known[step.id], diagnostics)


def _problem(file: str, tree: RemoteFiles) -> str:
    """Why a file of a catalogue or of the service cannot be run, to be followed by the name of that; "" if it can."""
    if is_url(file) or not tree.is_file(file):
        return f"{tree.url(file) or file}, which is not a file of"
    if tree.is_archive or leaves_root(file):
        return ""
    # The whole folder comes into the pin, and that is to be one of the catalogue.
    root = Path(tree.root)
    if not (root / file).parent.resolve().is_relative_to(root.resolve()):
        return f"{file}, where a link leads out of"
    return ""


def _names(service: Service, search: Search) -> Iterator[str]:
    yield from search.names()
    yield from (step.fqn for step in service.hooks.values() if step.block is not None)


class _Placing:
    """Puts the files of blocks into the tree of the service."""

    def __init__(self, package: Package, search: Search, diagnostics: Diagnostics) -> None:
        self._package = package
        self._search = search
        self._diagnostics = diagnostics
        self._seen: dict[str, LifecycleStep] = {}

    def see(self, step: LifecycleStep) -> None:
        """Check the files of a step's block, once for all steps that have it."""
        block = step.block
        if block is None or block.fqn in self._seen:
            return
        self._seen[block.fqn] = step
        tree, shown = self._tree(block), self._shown(block)
        for file in script_files(block):
            if problem := _problem(file, tree):
                self._diagnostics.error(
                    MISSING_FILE,
                    f"{block.fqn} runs {problem} {shown}",
                    step.spans.get("fqn") or step.span,
                    hint="paths of files of blocks are relative to the file that defines them",
                )
                return
        other = self._search.other(block, tree)
        if other is not None:
            self._diagnostics.error(
                "two-blocks",
                f"there are two different blocks {block.fqn} of version {block.version or '(none)'}: in {shown}, "
                f"and in {other.origin}",
                step.spans.get("fqn") or step.span,
                hint="give the one that was changed a version of its own, or remove one of them",
            )

    def _tree(self, block: BlockType) -> RemoteFiles:
        return self._search.catalogues[block.origin].package.tree if block.origin else self._package.tree

    def _shown(self, block: BlockType) -> str:
        return block.origin or self._package.shown(block.file)

    def placed(self, service: Service, written: WrittenSteps | None) -> StepBlocks:
        """The result, when all files are in place."""
        used: dict[str, list[BlockType]] = {}
        for step in self._seen.values():
            if step.block is not None:
                used.setdefault(step.block.origin, []).append(step.block)
        folders, files = {"": "."}, dict[str, "tuple[FileTree, str] | bytes"]()
        if written is not None:
            files[kept_file(self._package)] = (written.tree, written.file)
        for origin, blocks in used.items():
            if origin:
                folders[origin], added = self._copied(self._search.catalogues[origin], blocks)
                files.update(added)
        if files and not all(self._package.tree.is_file(file) for file in files):
            self._package.tree.local = Overlaid(self._package.tree.local, files)
        made = {
            b.fqn: _as_pinned(b, content_digest(b, self._tree(b)), folders[b.origin])
            for blocks in used.values()
            for b in blocks
        }
        of_steps = {i: made[s.block.fqn] for i, s in service.hooks.items() if s.block is not None}
        scripts = dict.fromkeys(f for b in used.get("", ()) for f in script_files(b))
        copies = {folders[o]: CopiedCatalogue(o, self._inside(self._search.catalogues[o].package)) for o in used if o}
        own = written.file if written is not None and written.tree is self._package.tree else ""
        sources = tuple(self._sources(files, written, used))
        return StepBlocks(of_steps, tuple(files), tuple(scripts), copies=copies, file=own, sources=sources)

    def _sources(
        self, files: Added, written: WrittenSteps | None, used: Mapping[str, list[BlockType]]
    ) -> Iterator[str]:
        """The absolute paths of the files that were read and belong to the project."""
        if written is not None and not written.tree.is_archive:
            yield os.path.abspath(Path(written.tree.root, written.file))  # noqa: PTH100  (links stay as they are)
        private = os.path.abspath(user_folder(os.environ))  # noqa: PTH100
        for origin in filter(None, used):
            package = self._search.catalogues[origin].package
            if origin == BUILT_IN or os.path.abspath(package.root).startswith(private):  # noqa: PTH100
                continue
            if package.is_archive:
                yield package.root
                continue
            for tree, file in (found for found in files.values() if not isinstance(found, bytes)):
                if tree is package.tree:
                    yield os.path.abspath(Path(package.root, file))  # noqa: PTH100

    def _inside(self, catalogue: Package) -> str:
        """The folder of the service that contains a catalogue, "" for none."""
        if catalogue.is_archive or not catalogue.root.startswith(f"{self._package.root}/"):
            return ""
        return posixpath.relpath(catalogue.root, self._package.root)

    def _copied(
        self, catalogue: BlockCatalogue, blocks: list[BlockType]
    ) -> tuple[str, dict[str, tuple[FileTree, str] | bytes]]:
        """The folder in the pin for the used part of a catalogue, and its content."""
        package = catalogue.package
        beside = posixpath.join(posixpath.dirname(self._package.main), COPIES)
        inside = posixpath.relpath(package.root, posixpath.join(self._package.root, beside))
        already = "/" not in inside and inside not in {".", ".."} and package.root.startswith(self._package.root)
        name = inside if already else _name(catalogue, blocks)
        folder = posixpath.join(beside, name)
        named = dict.fromkeys(
            [*map(package.stored, catalogue.definitions), *(f for b in blocks for f in _files(b, package))]
        )
        added: dict[str, tuple[FileTree, str] | bytes] = {
            posixpath.join(folder, file): (package.tree, file) for file in named
        }
        place = posixpath.join(folder, META)
        if package.opener == META:
            added[place] = (package.tree, META)
        else:
            added[place] = meta_text(package.main, [], "Ordito")
        return folder, added


def _files(block: BlockType, package: Package) -> list[str]:
    return [file for file in block_files(block, package.tree) if package.tree.is_file(file)]


def _name(catalogue: BlockCatalogue, blocks: list[BlockType]) -> str:
    """The name of the folder of a catalogue in pins, which depends on what is used of it."""
    import hashlib

    digests = sorted(content_digest(block, catalogue.package.tree) for block in blocks)
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def _as_pinned(block: BlockType, digest: str, folder: str) -> Block:
    return Block(
        fqn=block.fqn,
        version=block.version,
        digest=digest,
        folder=folder,
        execute=_script(block.execute),
        undo=_script(block.undo),
        is_operation=block.fqn == OPERATION,
        undone_once=block.undone_once,
    )


def _script(operation: Operation | None) -> BlockScript | None:
    if operation is None or operation.implementation is None:
        return None
    return BlockScript(
        artifact=operation.implementation.file,
        processor=operation.implementation.kinds[0] if operation.implementation.kinds else "",
        dependencies=tuple(artifact.file for artifact in operation.dependencies),
        timeout=float(operation.timeout) if operation.timeout is not None else None,
    )


def in_pin(blocks: Mapping[str, Block], digest: str, prefix: str) -> dict[str, Block]:
    """Blocks with folders relative to the root of a service, as they are in the pin with this digest, in which the root
    is the folder ``prefix``."""
    return {
        name: msgspec.structs.replace(
            block, root=digest, folder=posixpath.normpath(posixpath.join(prefix, block.folder))
        )
        for name, block in blocks.items()
    }


# The files and folders of a service's archive that the config of its lifecycle steps names.

ARCHIVE_PATH = "ordito.datatypes.ArchivePath"


class _NamedPath(msgspec.Struct, frozen=True):
    """A path in a config, and the keys and indexes that lead to it."""

    path: str
    at: tuple[str | int, ...]


def step_paths(step: LifecycleStep, config: StaticConfig, package: Package, diagnostics: Diagnostics) -> list[str]:
    """The files and folders that a step names, relative to the root of the service; those that do not exist, or are not
    known before anything runs, are reported. ``config`` is the known part of its config."""
    types = step.block.data_types if step.block is not None else {}
    found: list[str] = []
    for key, definition in step.definitions.items():
        if key in config:
            for named in _paths(revealed(config[key]), definition.schema, types, ()):
                problem = _path_problem(named.path, package, is_secret=is_sensitive(config[key]))
                if problem:
                    _report(step, key, named, problem, diagnostics)
                else:
                    found.append(posixpath.normpath(named.path))
        elif _is_found_out(step.config.get(key)) and _holds_paths(definition.schema, types):
            diagnostics.error(
                "bad-value",
                f'"{key}" names files of the archive, which must be known before anything runs',
                step.spans.get(f"config.{key}") or step.span,
                hint="write the path, or take it from an input",
            )
    return found


def _report(step: LifecycleStep, key: str, named: _NamedPath, problem: str, diagnostics: Diagnostics) -> None:
    place = step.spans.get(f"config.{key}")
    diagnostics.error(
        "missing-artifact",
        f'"{key}" in the config of lifecycle step "{step.name}": {problem}',
        span_inside(place, named.at) if place is not None else step.span,
        hint="paths of the archive are relative to the root of the service",
    )


def _path_problem(path: str, package: Package, *, is_secret: bool) -> str:
    """Why a path cannot be used; "" if it can."""
    shown = "(sensitive)" if is_secret else path
    if leaves_root(path):
        return f"{shown} leads out of the service"
    if not package.has(posixpath.normpath(path)):
        return f"there is no file or folder {shown if is_secret else package.shown(path)}"
    root = Path(package.root)
    if not package.is_archive and not (root / path).resolve().is_relative_to(root.resolve()):
        return f"{shown} is a link that leads out of the service"
    return ""


def _is_found_out(value: Value) -> bool:
    """Whether a value is known only when the service runs."""
    return any(call.function not in STATIC for call in calls(value))


def _paths(
    data: object, schema: Schema | None, types: Mapping[str, DataType], at: tuple[str | int, ...]
) -> Iterator[_NamedPath]:
    """The paths in data of a schema. The depth of data is bounded when it is read, so recursion is safe here."""
    declared = types.get(schema.type) if schema is not None else None
    if schema is None or declared is None:
        return
    if isinstance(data, str):
        if ARCHIVE_PATH in declared.kinds:
            yield _NamedPath(data, at)
    elif isinstance(data, list):
        for index, item in enumerate(data):
            yield from _paths(item, schema.entry or declared.entry, types, (*at, index))
    elif isinstance(data, Mapping):
        for key, value in data.items():
            field = declared.properties.get(str(key))
            inner = field.schema if field is not None else schema.entry or declared.entry
            yield from _paths(value, inner, types, (*at, str(key)))


def _holds_paths(schema: Schema, types: Mapping[str, DataType]) -> bool:
    """Whether values of a schema may name files."""
    seen: set[str] = set()
    waiting: list[Schema | None] = [schema]
    while waiting:
        current = waiting.pop()
        declared = types.get(current.type) if current is not None else None
        if current is None or declared is None:
            continue
        if ARCHIVE_PATH in declared.kinds:
            return True
        waiting += (current.entry, declared.entry)
        if declared.name not in seen:
            seen.add(declared.name)
            waiting += (field.schema for field in declared.properties.values())
    return False
