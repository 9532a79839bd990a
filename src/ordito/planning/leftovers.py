"""Transform: what jobs that failed have left in the records is known no more: operations of other versions, which the
service does not declare."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.instances.records import Applied
from ordito.model.operation import Interface
from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.members import PlannedInstance
from ordito.work.plan import ChangeKind

REASON = "what a job that failed has left of another version is not part of this one"


def forget_leftovers(draft: Draft) -> None:
    """Have instances that stay forget operations that nothing carries out: on them such as have failed, and of pairs of
    which they are the source."""
    # What goes is part of the service only until it is gone.
    nodes = [node for name, node in draft.service.nodes.items() if name not in draft.options.pruned]
    pairs = {r.key: _keys(r.interfaces) for node in nodes for r in node.requirements}
    linked = _linked_otherwise(draft, pairs)
    for member in draft.members.values():
        is_linked = member.id in linked
        if not (is_linked or member.record.failed):
            continue  # Nearly all.
        if (
            member.goes
            or draft.is_left_out(member)
            or member.fate in (Fate.ANEW, Fate.NEW)
            or member.template.name in draft.options.left_behind
        ):
            continue
        failed = _failed(draft, member, pairs)
        if failed:
            member.adopted = {**member.adopted, **dict.fromkeys(failed, Applied("", ""))}
        if is_linked:
            draft.linked_alike.add(member.id)
        if (is_linked or failed) and member.kind is ChangeKind.UNCHANGED:
            member.kind, member.reason = ChangeKind.ADOPT, member.reason or REASON


def _failed(draft: Draft, member: PlannedInstance, pairs: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """By what the record of an instance remembers operations that have failed, and that it does not have."""
    own = _keys(member.template.interfaces)
    found: list[str] = []
    for key in member.record.failed:
        relationship, _, name = key.rpartition("/")
        if name not in (pairs.get(relationship, frozenset()) if relationship else own):
            found.append(key)
    if found:  # What a provider does is declared by nobody.
        making, removing = draft.recipes.making(member.template), draft.recipes.removing(member.template)
        called = {entry.key for entry in (*making.install, *removing.uninstall)}
        found = [key for key in found if key not in called]
    return tuple(found)


def _linked_otherwise(draft: Draft, pairs: Mapping[str, frozenset[str]]) -> set[str]:
    """The sources of pairs that are remembered by operations which their relationships do not have."""
    found: set[str] = set()
    for link in draft.snapshot.links.values():
        known = pairs.get(link.relationship)
        if known is not None and not (link.applied.keys() <= known and link.failed.keys() <= known):
            found.add(link.source)
    return found


def _keys(interfaces: Mapping[str, Interface]) -> frozenset[str]:
    every = ((name, operation) for name, i in interfaces.items() for operation in i.operations.values())
    return frozenset(f"{name}.{operation.name}" for name, operation in every if operation.implementation is not None)
