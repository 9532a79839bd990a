"""Transform: what is to run on machines that exist already can run there."""

from __future__ import annotations

from ordito.model.service import NodeTemplate, Service
from ordito.model.settings import PREFIX
from ordito.planning.draft import Draft

ADDRESSES = ("private_address", "public_address")
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def check_existing(draft: Draft) -> None:
    """Refuse operations on selected machines other than this one, which this version does not reach."""
    for node in draft.ordered:
        if not node.existing or not node.is_compute:
            continue
        if any(name.startswith(PREFIX) for name in node.attributes):
            continue  # It is a host that somebody knows how to reach.
        addresses = [str(node.attributes[a]) for a in ADDRESSES if node.attributes.get(a)]
        if not addresses or any(a in THIS_MACHINE for a in addresses):
            continue
        hosted = _operated(draft.service, node)
        if hosted is not None:
            draft.diagnostics.error(
                "not-supported-yet",
                f'"{hosted.name}" has operations that run on "{node.name}", the machine {addresses[0]} of the'
                " inventory, which this version does not reach",
                node.span,
                hint=f"select a machine whose address is one of {', '.join(sorted(THIS_MACHINE))}",
            )


def _operated(service: Service, host: NodeTemplate) -> NodeTemplate | None:
    """The first node that a host carries, directly or in turn, on which an operation is to run."""
    waiting = [host.name]
    seen = set(waiting)
    while waiting:
        for relationship in service.incoming.get(waiting.pop(), ()):
            node = service.nodes[relationship.source]
            if not relationship.is_hosting or node.name in seen:
                continue
            if any(o.implementation for i in node.interfaces.values() for o in i.operations.values()):
                return node
            seen.add(node.name)
            waiting.append(node.name)
    return None
