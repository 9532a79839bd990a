"""Rules about blocks of lifecycle steps: they are carried out by steps, and are no part of a topology."""

from __future__ import annotations

from ordito.model.block_types import LIFECYCLE_BLOCK
from ordito.model.rules.topology import Topology
from ordito.model.service import NodeTemplate

BLOCK_INTERFACE = "ordito.interfaces.LifecycleBlock"


def node_is_no_block(topology: Topology, node: NodeTemplate) -> None:
    """A node template describes no block, neither by its type nor by an interface that says what a step would do."""
    if LIFECYCLE_BLOCK in node.kinds:
        is_block = "is of the type of a block"
    elif any(BLOCK_INTERFACE in interface.kinds for interface in node.interfaces.values()):
        is_block = "has the interface of a block"
    else:
        return
    topology.diagnostics.error(
        "inline-step",
        f'node template "{node.name}" {is_block}: custom or inline implementations are not allowed (FR-11-003); '
        "reference a catalog block by fqn",
        node.span,
        hint="a step is a policy whose type is the block's name; blocks are defined in catalogues",
    )
