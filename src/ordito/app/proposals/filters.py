"""The instances that several filters leave: by node, by instance and by type, all of which an instance must pass."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.app.errors import Refused
from ordito.app.names import INSTANCE, MOST_NAMED, NODE, InstanceNames
from ordito.app.requests import InstanceFilters
from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.base.text import listed
from ordito.instances.records import Instance, Snapshot
from ordito.instances.states import INITIAL
from ordito.model.service import Service


def filtered(
    filters: InstanceFilters, service: Service, snapshot: Snapshot, diagnostics: Diagnostics
) -> list[Instance]:
    """The existing instances that pass all filters and have been begun, in the order of the nodes and of their slots.

    Where none is left, a note says why, and nothing is to be done. Raises ``Refused`` for names that mean nothing, and
    for an instance that is named and was never begun.
    """
    names = InstanceNames(service, snapshot)
    nodes = {names.find(f"{NODE}{n.removeprefix(NODE)}").node for n in filters.nodes}
    ids = {names.find(f"{INSTANCE}{i.removeprefix(INSTANCE)}").instance for i in filters.instances}
    types = {_type(t, service) for t in filters.types}
    for record in (snapshot.instances[i] for i in ids):
        if not is_begun(record):
            raise Refused(
                "never-created",
                f'instance "{record.id}" was never created: no operation was ever started on it',
                next_words=("deploy",),
                purpose="create it",
            )
    found: list[Instance] = []
    for node in service.nodes.values():
        if (nodes and node.name not in nodes) or (types and types.isdisjoint(node.kinds)):
            continue
        records = snapshot.of_node(node.name)
        found += [r for r in records if (not ids or r.id in ids) and is_begun(r)]
    if not found:
        _note_nothing_left(filters, list(_clashes(nodes, ids, types, service, snapshot)), diagnostics)
    return found


def is_begun(record: Instance) -> bool:
    """Whether something was ever done to an instance that exists, by this ensemble or before it was adopted."""
    return bool(record.created or record.applied or record.state != INITIAL)


def _type(text: str, service: Service) -> str:
    known = {kind for node in service.nodes.values() for kind in node.kinds}
    if text in known:
        return text
    meant = sorted(kind for kind in known if kind.rpartition(".")[2] == text.rpartition(":")[2])
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise Refused("ambiguous-name", f'"{text}" may mean several node types', f"write {' or '.join(meant)}")
    near = nearest(text, sorted(known)) or nearest(text, sorted({kind.rpartition(".")[2] for kind in known}))
    raise Refused(
        "unknown-type",
        f'no node is of a type "{text}", or of one derived from it',
        f"did you mean {' or '.join(near)}?" if near else "",
        next_words=("describe",),
        purpose="see the nodes with their types",
    )


def _note_nothing_left(filters: InstanceFilters, clashes: list[str], diagnostics: Diagnostics) -> None:
    if clashes:
        diagnostics.note(
            "nothing-left",
            f"no instance passes all of {filters}: {listed(clashes, MOST_NAMED, between='; ')}",
            None,
            hint="leave out one of the filters, or name what belongs together",
        )
        return
    what = f"of {filters}" if str(filters) else "at all"
    diagnostics.note(
        "nothing-left",
        f"there is no instance {what} on which an operation was ever started",
        None,
        hint="`ordito status` shows what there is",
    )


def _clashes(nodes: set[str], ids: set[str], types: set[str], service: Service, snapshot: Snapshot) -> Iterator[str]:
    """Why filters that are given together leave nothing."""
    for name in sorted(ids):
        node = snapshot.instances[name].node
        if nodes and node not in nodes:
            yield f'"{name}" is an instance of "{node}"'
        elif types and types.isdisjoint(service.nodes[node].kinds):
            yield f'"{name}" is of type {service.nodes[node].type}'
    for name in sorted(nodes) if types else ():
        if types.isdisjoint(service.nodes[name].kinds):
            yield f'"{name}" is of type {service.nodes[name].type}'
