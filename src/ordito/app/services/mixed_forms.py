"""A service as it runs: each node as the form says in which its instances are.

Where a job has brought only a part of what exists into another form, what functions give for a property of a node is
what its instances were made with. A node with instances in several forms is seen as the service has it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

import msgspec

from ordito.app.services.earlier_forms import EarlierForms
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.instances.records import Snapshot
from ordito.model.left_behind import Left, with_left_behind
from ordito.model.service import Service
from ordito.work.forms import forms_in_use
from ordito.work.plan import Call


class Seen(msgspec.Struct, frozen=True):
    """A form of a service: its id, "" for the one that was deployed last; the service, its inputs, and the folder of
    its files."""

    form: str
    service: Service
    inputs: Mapping[str, object]
    root: str


def with_mixed_forms(
    seen: Seen, last: Seen, forms: EarlierForms, snapshot: Snapshot, keep: Collection[str] = ()
) -> Service:
    """The service of a form with the nodes in its place whose instances are all in another one, save those that are to
    be kept; ``last`` is the form that was deployed last. What cannot be read any more is left as it is."""
    if seen.form == last.form and not forms_in_use(snapshot.instances):
        return seen.service
    others: list[Left] = []
    for form, nodes in _others(seen, snapshot, keep).items():
        other = last if form == last.form else _read(forms, form)
        known = nodes.intersection(other.service.nodes) if other is not None else frozenset()
        if other is not None and known:
            others.append(Left(form or "now", other.service, other.inputs, known, _way(seen.root, other.root)))
    moved = {name for left in others for name in left.nodes}
    if not moved:
        return seen.service
    rest = {name: node for name, node in seen.service.nodes.items() if name not in moved}
    joined = with_left_behind(msgspec.structs.replace(seen.service, nodes=rest), others)
    order = dict.fromkeys((*seen.service.nodes, *joined.nodes))
    return msgspec.structs.replace(joined, nodes={name: joined.nodes[name] for name in order})


def _others(seen: Seen, snapshot: Snapshot, keep: Collection[str]) -> dict[str, frozenset[str]]:
    """The nodes whose instances are all in one other form, by its id."""
    forms: dict[str, set[str]] = {}
    for record in snapshot.instances.values():
        if record.exists:
            forms.setdefault(record.node, set()).add(record.form)
    found: dict[str, set[str]] = {}
    for node, of in forms.items():
        if len(of) == 1 and seen.form not in of and node in seen.service.nodes and node not in keep:
            found.setdefault(next(iter(of)), set()).add(node)
    return {form: frozenset(nodes) for form, nodes in found.items()}


def _read(forms: EarlierForms, form: str) -> Seen | None:
    try:
        read = forms.read(form)
    except (EnsembleError, InvalidDocument):
        return None
    return Seen(form, read.service, forms.forms[form].inputs, read.package.root)


def _way(start: str, end: str) -> str:
    first, then = (os.path.abspath(path) for path in (start, end))  # noqa: PTH100  (compared as texts)
    return os.path.relpath(then, first)


def linked(service: Service, calls: Iterable[Call]) -> set[str]:
    """The nodes that calls link with others, or did."""
    names = {call.owner for call in calls if call.side}
    if not names:
        return set()
    return {node.name for node in service.nodes.values() if any(r.key in names for r in node.requirements)}


def owners(service: Service, calls: Iterable[Call]) -> set[str]:
    """The nodes that calls are about."""
    relationships = {r.key: r for node in service.nodes.values() for r in node.requirements}
    found: set[str] = set()
    for call in calls:
        relationship = relationships.get(call.owner) if call.side else None
        found.update((relationship.source, relationship.target) if relationship is not None else (call.owner,))
    return found
