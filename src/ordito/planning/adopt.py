"""Transforms: the records of instances follow the plan. Instances take on the deployed version (form) that is wanted,
and what was carried out for them counts as wanted now unless a step of the plan says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from ordito.instances.records import Applied
from ordito.model.operation import Interface
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.work.plan import Action, ChangeKind

ADOPT = "adopt"
REMOVED = ChangeKind.REMOVED


def adopt(draft: Draft) -> None:
    """Transform: instances that stay as they are, or of which a part stays, adopt what is wanted of them, after
    everything that is carried out for them."""
    reason = draft.why("what is recorded of it is to be what is wanted")
    lagging = [
        member
        for member in _lagging(draft)
        if not (member.goes or member.action in (InstanceAction.REPLACE, InstanceAction.NEW))
    ]
    if not (any(_takes_over(draft, member) for member in lagging) or _has_work(draft)):
        # It is in an earlier form that says the same of it: that is as true as anything, and no reason for a job.
        return
    for member in lagging:
        call = draft.calls.nothing(member.template, "ordito", ADOPT)
        step = DraftStep(f"{member.id}.ordito.{ADOPT}", Action.ADOPT, member.id, member.id, call=call, reason=reason)
        step.forms = member.action is InstanceAction.KEEP and is_older(draft, member)
        number = draft.add(step)
        for before in _before(member):
            draft.edge(before, number, reason)


def _has_work(draft: Draft) -> bool:
    """Whether anything is carried out."""
    return any(step.action is not Action.JOIN and not step.done for step in draft.steps)


def _lagging(draft: Draft) -> list[PlannedInstance]:
    """The instances whose records have to be changed although no step of the plan does so."""
    every = draft.members.values()
    if draft.is_in_one_form:
        return [member for member in every if _takes_over(draft, member)]
    return [member for member in every if _takes_over(draft, member) or _names_older(draft, member)]


def _takes_over(draft: Draft, member: PlannedInstance) -> bool:
    return bool(member.adopted or member.dropped) or member.id in draft.linked_alike


def _names_older(draft: Draft, member: PlannedInstance) -> bool:
    # What names no form is in that of the service which is deployed, whatever it is.
    stays = member.action is InstanceAction.KEEP and not draft.is_left_out(member)
    return bool(member.record.form) and stays and is_older(draft, member)


def _before(member: PlannedInstance) -> list[int]:
    chain = member.up
    if chain is not None and member.rises:
        return [chain.end]
    linked = chain.steps[-1:] if chain is not None else []
    return [*member.undone[-1:], *linked]


def is_older(draft: Draft, member: PlannedInstance) -> bool:
    """Whether the record of an instance names another form than the plan's, while the service still has its node."""
    name = draft.forms.name_of(member.record)
    is_joined = not member.record.form and member.template.name in draft.options.orphans.nodes
    return bool(name) and not is_joined and not _is_left(draft, member)


def _is_left(draft: Draft, member: PlannedInstance) -> bool:
    return member.template.name in draft.options.orphans.nodes and not member.falls


def form(draft: Draft) -> None:
    """Transform: an instance takes on the wanted form with the first step that brings it up, or that links it if it
    stays: from there on the form tells what it is linked to."""
    if not draft.workflow.forms or draft.is_in_one_form:
        return
    for member in draft.members.values():
        if draft.is_left_out(member):
            continue
        is_linked_again = member.action is InstanceAction.KEEP and bool(member.dropped or member.record.form)
        is_again = (member.rises and member.action is not InstanceAction.NEW) or is_linked_again
        if is_again and not member.is_conditional and member.up is not None and is_older(draft, member):
            first = next((s for n in member.up.steps if not (s := draft.steps[n]).done), None)
            if first is not None:
                first.forms = True


def forget(draft: Draft) -> None:
    """Transform: instances whose nodes are no longer in the template are forgotten as if they were undeployed; they may
    come back under the same id."""
    for member in draft.members.values():
        if member.kind is REMOVED and member.down is not None:
            for number in member.down.steps:
                draft.steps[number].counts = True


def older(draft: Draft) -> dict[str, str]:
    """The instances whose steps are carried out in their earlier form, and those that are left out, with their ids:
    they keep that form until a step says otherwise."""
    if not draft.workflow.forms or draft.is_in_one_form:
        return {}
    found: dict[str, str] = {}
    for member in draft.members.values():
        works = member.falls or member.rises or _takes_over(draft, member) or draft.is_left_out(member)
        is_new = member.action is InstanceAction.NEW or member.is_conditional
        if works and not is_new and is_older(draft, member):
            found[member.id] = draft.forms.name_of(member.record)
    return found


# Transform: what jobs that failed have left in the records is known no more: operations of other versions, which the
# service does not declare.

REASON = "what a job that failed has left of another version is not part of this one"


def forget_leftovers(draft: Draft) -> None:
    """Have instances that stay forget operations that nothing carries out any more: failed ones of their own, and those
    of pairs of which they are the source."""
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
            or member.action in (InstanceAction.REPLACE, InstanceAction.NEW)
            or member.template.name in draft.options.orphans.nodes
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
    """The keys by which the record of an instance remembers operations that have failed and that it no longer has."""
    own = _keys(member.template.interfaces)
    found: list[str] = []
    for key in member.record.failed:
        relationship, _, name = key.rpartition("/")
        if name not in (pairs.get(relationship, frozenset()) if relationship else own):
            found.append(key)
    if found:  # What a provider does is declared by nobody.
        making, removing = draft.sequences.making(member.template), draft.sequences.removing(member.template)
        called = {entry.key for entry in (*making.install, *removing.uninstall)}
        found = [key for key in found if key not in called]
    return tuple(found)


def _linked_otherwise(draft: Draft, pairs: Mapping[str, frozenset[str]]) -> set[str]:
    """The sources of pairs whose records remember operations that their relationships no longer have."""
    found: set[str] = set()
    for link in draft.snapshot.links.values():
        known = pairs.get(link.relationship)
        if known is not None and not (link.applied.keys() <= known and link.failed.keys() <= known):
            found.add(link.source)
    return found


def _keys(interfaces: Mapping[str, Interface]) -> frozenset[str]:
    every = ((name, operation) for name, i in interfaces.items() for operation in i.operations.values())
    return frozenset(f"{name}.{operation.name}" for name, operation in every if operation.implementation is not None)
