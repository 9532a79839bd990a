"""The blocks that lifecycle steps can name: the list, and one with its config."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.app.errors import Refused
from ordito.app.services.read import opened_types
from ordito.app.services.step_blocks import StepSources, places_of, search_of
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.blocks.catalogue import content_digest
from ordito.blocks.check import OPERATION
from ordito.blocks.fqn import NotAnFqn, nearest_names
from ordito.blocks.fqn import parse as parse_fqn
from ordito.blocks.search import Search
from ordito.model.block_types import block_types
from ordito.model.lifecycle_steps import BlockType, is_newer
from ordito.model.operation import Operation
from ordito.model.schema import Constraint, PropertyDefinition, Schema
from ordito.source.package import Package
from ordito.source.tree import FileTree
from ordito.syntax.expressions import as_written

MOST_MEANT = 3


class BlocksRequest(msgspec.Struct, frozen=True):
    """Where blocks are searched: in the catalogues of ``directory``, in given ones, and in those of a service, if one
    is named."""

    directory: str = "."
    catalogs: tuple[str, ...] = ()
    service: str = ""


class BlockEntry(msgspec.Struct, frozen=True):
    """A block: ``origin`` says where it is, ``taken`` whether a step that names it gets this one."""

    fqn: str
    version: str
    origin: str
    taken: bool
    can_be_undone: bool
    description: str


class ConfigField(msgspec.Struct, frozen=True):
    """A key of a block's config. ``default`` is plain data, None for none."""

    name: str
    type: str
    required: bool
    default: object
    description: str
    constraints: tuple[str, ...] = ()
    sensitive: bool = False


class BlockPage(msgspec.Struct, frozen=True):
    """Everything about a block. ``scripts`` are what ``execute`` and ``undo`` run, ``timeouts`` how long each may take,
    in seconds, if the block says so; ``declared`` is its place, ``others`` are further blocks with that name.
    ``digest`` identifies its content. ``undone_once`` is the node state that a component must reach again before the
    block is undone."""

    block: BlockEntry
    digest: str
    declared: str
    scripts: dict[str, str]
    timeouts: dict[str, int]
    config: tuple[ConfigField, ...]
    config_required: bool
    others: tuple[BlockEntry, ...]
    undone_once: str


class FoundBlocks:
    """The found blocks, with the files of their catalogues."""

    def __init__(self, request: BlocksRequest) -> None:
        """Raises ``InvalidDocument`` if the service or a catalogue cannot be read."""
        diagnostics = Diagnostics()
        sources = StepSources(given=request.catalogs, project=request.directory)
        self.package: Package | None = None
        own: dict[str, BlockType] = {}
        if request.service:
            self.package, types = opened_types(request.service, diagnostics)
            own = block_types(types)
            self._search = search_of(self.package, sources, diagnostics)
        else:
            self._search = Search(places_of(sources), [], diagnostics)
        elsewhere = [b for c in self._search.catalogues.values() for b in c.blocks.values()]
        self.blocks = sorted([*own.values(), *elsewhere], key=lambda b: b.fqn)
        if diagnostics.has_errors:
            raise InvalidDocument(diagnostics.sorted())
        self._taken: dict[str, BlockType] = {}
        for block in self.blocks:
            best = self._taken.get(block.fqn)
            if best is None or is_newer(block, best):
                self._taken[block.fqn] = block

    def entry(self, block: BlockType) -> BlockEntry:
        """The entry of a block in the list."""
        return BlockEntry(
            block.fqn,
            block.version,
            self.origin(block),
            self._taken[block.fqn] is block,
            block.undo is not None or block.fqn == OPERATION,
            block.description,
        )

    def origin(self, block: BlockType) -> str:
        """Where a block is."""
        return block.origin or (self.package.shown(block.file) if self.package is not None else "")

    def tree(self, block: BlockType) -> FileTree:
        """The files of the catalogue in which a block is."""
        if block.origin or self.package is None:
            return self._search.catalogues[block.origin].package.tree
        return self.package.tree

    def named(self, name: str) -> list[BlockType]:
        """The blocks with a name, the one that steps get first: a full name, or the part behind its ``#``, if that is
        unique. Raises ``Refused``."""
        full = {b.fqn for b in self.blocks if b.fqn == name or b.fqn.endswith(f"#{name.removeprefix('#')}")}
        if len(full) > 1:
            raise Refused("ambiguous-block", f"{name} may be any of {', '.join(sorted(full))}", "give the full name")
        found = [b for b in self.blocks if b.fqn in full]
        if not found:
            raise Refused(
                "unknown-block",
                f"there is no block {name}",
                _meant(name, {b.fqn for b in self.blocks}),
                next_words=("blocks", "list"),
                purpose="see all blocks",
            )
        taken = self._taken[found[0].fqn]
        return [taken, *(b for b in found if b is not taken)]


def list_blocks(request: BlocksRequest) -> tuple[BlockEntry, ...]:
    """All blocks by name. Raises ``InvalidDocument``."""
    found = FoundBlocks(request)
    return tuple(map(found.entry, found.blocks))


def show_block(request: BlocksRequest, name: str) -> BlockPage:
    """One block. Raises ``InvalidDocument`` and ``Refused``."""
    found = FoundBlocks(request)
    block, *others = found.named(name)
    operations = {n: o for n, o in (("execute", block.execute), ("undo", block.undo)) if o is not None}
    return BlockPage(
        found.entry(block),
        content_digest(block, found.tree(block)),
        str(block.span) if block.span is not None else "",
        {name: _script(operation) for name, operation in operations.items()},
        {name: o.timeout for name, o in operations.items() if o.timeout is not None},
        tuple(_fields(block)),
        block.config is not None and block.config.required and not block.config.has_default,
        tuple(map(found.entry, others)),
        block.undone_once,
    )


def _meant(name: str, known: set[str]) -> str:
    parsed = []
    for one in known:
        try:
            parsed.append(parse_fqn(one))
        except NotAnFqn:
            continue
    part = name.casefold().strip("#@")
    near = nearest_names(name, parsed) or [f for f in sorted(parsed) if part and part in str(f).casefold()][:MOST_MEANT]
    return "did you mean " + " or ".join(map(str, near)) + "?" if near else ""


def _script(operation: Operation) -> str:
    return operation.implementation.file if operation.implementation is not None else ""


def _fields(block: BlockType) -> Iterator[ConfigField]:
    for definition in block.fields.values():
        yield ConfigField(
            definition.name,
            type_text(definition.schema),
            definition.required and not definition.has_default,
            as_written(definition.default) if definition.has_default else None,
            definition.description,
            tuple(map(_constraint, _constraints(definition, block))),
            definition.metadata.get("sensitive") == "true",
        )


def _constraints(definition: PropertyDefinition, block: BlockType) -> tuple[Constraint, ...]:
    declared = block.data_types.get(definition.schema.type)
    return (*(declared.constraints if declared is not None else ()), *definition.schema.constraints)


def type_text(schema: Schema) -> str:
    """A type for people, as in "list of string"."""
    entry = schema.entry
    parts = [schema.type]
    while entry is not None:
        parts.append(entry.type)
        entry = entry.entry
    return " of ".join(parts)


def _constraint(constraint: Constraint) -> str:
    operand = as_written(constraint.operand)
    shown = ", ".join(map(str, operand)) if isinstance(operand, list) else str(operand)
    return f"{constraint.operator.replace('_', ' ')}: {shown}"
