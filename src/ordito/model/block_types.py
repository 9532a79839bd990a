"""Blocks of lifecycle steps in definitions: a policy type, with which steps name the block, and the node type of the
same name, which implements it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from ordito.model.lifecycle_steps import BlockType, is_newer
from ordito.model.operation import Operation
from ordito.model.settings import NO_SETTINGS, settings_of
from ordito.model.types import Types
from ordito.model.units import Definition
from ordito.syntax.entities import DefinedType

LIFECYCLE_STEP = "ordito.policies.LifecycleStep"
LIFECYCLE_BLOCK = "ordito.nodes.LifecycleBlock"
BLOCK_INTERFACE = "Block"
CONFIG = "config"


def block_types(types: Types, origin: str = "") -> dict[str, BlockType]:
    """The blocks that the files of a service or a catalogue define, by name, in the order of their definition; those
    that come with Ordito are left out."""
    nodes = {_written(d): d for d in types.units.definitions["node"].values() if _is_block(types, d)}
    found: dict[str, BlockType] = {}
    for definition in types.units.definitions["policy"].values():
        shape = types.policies.get(definition.name)
        if shape is None or LIFECYCLE_STEP not in shape.kinds[1:] or definition.unit.is_bundled:
            continue
        name = _written(definition)
        found[name] = _block(types, definition, nodes.get(name), origin)
    return found


def _block(types: Types, policy: Definition, node: Definition | None, origin: str) -> BlockType:
    execute = undo = None
    settings = NO_SETTINGS
    if node is not None:
        shape = types.nodes[node.name]
        settings = settings_of(shape.settings)
        interfaces = types.interfaces.finish(shape.interfaces, shape.artifacts, relationship=False)
        operations = interfaces[BLOCK_INTERFACE].operations if BLOCK_INTERFACE in interfaces else {}
        execute, undo = (_implemented(operations.get(name)) for name in ("execute", "undo"))
    written = policy.content
    description = written.description or (node.content.description if node is not None else None)
    return BlockType(
        fqn=_written(policy),
        version=_version(written) or (_version(node.content) if node is not None else ""),
        config=types.policies[policy.name].properties.get(CONFIG),
        data_types=types.data,
        execute=execute,
        undo=undo,
        undone_once=settings.undone_once,
        is_implemented=node is not None,
        description=description.text if description is not None else "",
        origin=origin,
        file=policy.unit.file,
        span=written.span,
    )


def _is_block(types: Types, definition: Definition) -> bool:
    shape = types.nodes.get(definition.name)
    return shape is not None and LIFECYCLE_BLOCK in shape.kinds


def _written(definition: Definition) -> str:
    """The name of a type as it is written, whatever the namespace of its file."""
    return definition.content.name


def _version(written: DefinedType) -> str:
    return written.version.text if written.version is not None else ""


def _implemented(operation: Operation | None) -> Operation | None:
    return operation if operation is not None and operation.implementation is not None else None


Finder = Callable[[str], BlockType | None]
"""Gives the block of a name from outside of the service's own definitions; None where there is none."""


class KnownBlocks:
    """The blocks for the steps of a service: those of its own definitions, and those that ``elsewhere`` gives. The
    newer version wins, and the service's own block where versions are equal."""

    def __init__(self, types: Types, elsewhere: Finder) -> None:
        self._types = types
        self._elsewhere = elsewhere
        self._found: dict[str, BlockType | None] = {}

    @cached_property
    def _own(self) -> Mapping[str, BlockType]:
        return block_types(self._types)

    def find(self, fqn: str) -> BlockType | None:
        """The block of a name."""
        if fqn not in self._found:
            own, other = self._own.get(fqn), self._elsewhere(fqn)
            newer = own is None or (other is not None and is_newer(other, own))
            self._found[fqn] = other if newer else own
        return self._found[fqn]
