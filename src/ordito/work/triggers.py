"""Triggers: which of them hear an event, what their conditions are about, and whether they act (§3.6.21, §3.6.22).

An event is raised by a notification, or by its bare name if that is what a trigger waits for. A trigger hears those of
the nodes that its policy is about, and of the nodes that its ``target_filter`` names. Its condition is about what the
filter leads to, else about the policy's own nodes; if the instance that the event came from is among these, about this
instance alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from ordito.base.timestamps import moment
from ordito.instances.conditions import About, CapabilityEntity
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.entities import NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import far_ends
from ordito.model.imperative import EventFilter, Policy, Trigger
from ordito.model.service import Service
from ordito.work.evaluations import Evaluated, Evaluation, evaluate_once_more, remembers
from ordito.work.notices import NotHeard, Notice, interfaces_of

Memory = Callable[[str, str, str], tuple[Evaluation, ...]]
"""Returns what a trigger remembers: by policy, trigger and entity."""


class Decision(msgspec.Struct, frozen=True):
    """What one trigger decides about a notice: that it acts, or why it does not (``said``). ``evaluations`` are, by
    entity, what it remembers from now on."""

    policy: str
    trigger: str
    acts: bool
    said: str = ""
    evaluations: dict[str, tuple[Evaluation, ...]] = {}


class Hearing(msgspec.Struct, frozen=True):
    """A trigger that hears an event."""

    policy: Policy
    trigger: Trigger


def hearing(service: Service, notice: Notice) -> Iterator[Hearing]:
    """The triggers that hear a notice, in the order of the document. Raises ``NotHeard`` if what it is about is no
    longer in the service."""
    names = _names(service, notice)
    nodes = _nodes_of(service, notice)
    for policy in service.policies.values():
        for trigger in policy.triggers.values():
            if trigger.event in names and not nodes.isdisjoint(heard_nodes(service, policy, trigger)):
                yield Hearing(policy, trigger)


def heard_nodes(service: Service, policy: Policy, trigger: Trigger) -> set[str]:
    """The node templates whose events a trigger hears."""
    found = set(policy.nodes)
    if trigger.filter is not None:
        base = set(_filtered_nodes(service, trigger.filter))
        found |= base
        if trigger.filter.requirement:
            found |= {
                r.target
                for n in base
                for r in service.nodes[n].requirements
                if r.requirement == trigger.filter.requirement
            }
    return found


def decide(evaluator: Evaluator, notice: Notice, heard: Hearing, memory: Memory) -> Decision:
    """Whether a trigger acts on an event that it hears. The evaluator sees what exists with what the notice has
    changed."""
    policy, trigger = heard.policy, heard.trigger
    outside = _outside(evaluator, trigger, notice.at)
    if outside:
        return Decision(policy.name, trigger.name, acts=False, said=outside)
    abouts: Sequence[About | None] = [None]
    if trigger.condition is not None:
        abouts = list(_abouts(evaluator, notice, policy, trigger))
        if not abouts:
            said = "there is nothing that its condition could be about"
            return Decision(policy.name, trigger.name, acts=False, said=said)
    results: dict[str, Evaluated] = {}
    for about in abouts:
        name = about.id if isinstance(about, NodeEntity | CapabilityEntity) else notice.entity
        before = memory(policy.name, trigger.name, name) if remembers(trigger) else ()
        results[name] = evaluate_once_more(evaluator, trigger, about, notice.at, before)
    acts = any(result.exists for result in results.values())
    first = next(iter(results.values()))
    kept = {name: result.remembered for name, result in results.items()} if remembers(trigger) else {}
    return Decision(policy.name, trigger.name, acts, "" if acts else first.said, kept)


def _names(service: Service, notice: Notice) -> set[str]:
    """What a trigger may call an event: ``notification``, ``interface.notification``, or with the interface's type."""
    if not notice.interface:
        return {notice.name}
    interface = interfaces_of(service, notice).get(notice.interface)
    if interface is None:
        raise NotHeard(f"{notice.node or notice.relationship} has no interface {notice.interface} any more")
    return {notice.name, notice.event, *(f"{kind}.{notice.name}" for kind in interface.kinds)}


def _nodes_of(service: Service, notice: Notice) -> set[str]:
    """The node templates that a notice is about."""
    if notice.node:
        return {notice.node}
    return {
        end
        for node in service.nodes.values()
        for r in node.requirements
        if r.key == notice.relationship
        for end in (r.source, r.target)
    }


def _filtered_nodes(service: Service, found: EventFilter) -> Iterable[str]:
    if not found.of_type:
        return (found.node,) if found.node in service.nodes else ()
    return [name for name, node in service.nodes.items() if found.node in node.kinds]


def _outside(evaluator: Evaluator, trigger: Trigger, at: float) -> str:
    """Why a moment is not in the schedule of a trigger, "" if it is; both ends belong to it (R-3.6.22-4)."""
    ends: dict[str, str] = {}
    for name, written in trigger.schedule.items():
        try:
            value = evaluator.evaluate(written, Context())
        except EvaluationError as error:
            return f"its schedule cannot be told: {error.message}"
        if not isinstance(value, Nothing) and value is not None:
            ends[name] = str(value)
    for name, text in ends.items():
        try:
            bound = moment(text)[0].timestamp()
        except ValueError as error:
            return f"its schedule cannot be told: {error}"
        if (at < bound) if name == "start_time" else (at > bound):
            return f"outside of its schedule, from {ends.get('start_time', 'ever')} to {ends.get('end_time', 'ever')}"
    return ""


def _abouts(evaluator: Evaluator, notice: Notice, policy: Policy, trigger: Trigger) -> Iterator[About]:
    """What the condition of a trigger is about (R-12-7)."""
    service, snapshot = evaluator.service, evaluator.snapshot
    found = trigger.filter
    nodes = policy.nodes if found is None else _filtered_nodes(service, found)
    ids = [i for node in nodes for i in snapshot.ids_of(node)]
    own = set(notice.instances)
    near = [i for i in ids if i in own] or ids
    if found is not None and found.requirement:
        far = _required(evaluator, ids, found.requirement)
        near = [i for i in far if i in own] or _required(evaluator, near, found.requirement)
    for instance in near:
        entity = NodeEntity(service.require(snapshot.instances[instance].node), instance)
        if found is None or not found.capability:
            yield entity
        elif found.capability in entity.template.capabilities:
            yield CapabilityEntity(entity, found.capability)


def _required(evaluator: Evaluator, ids: Sequence[str], requirement: str) -> list[str]:
    """The instances at the other ends of a requirement of instances, each once."""
    snapshot = evaluator.snapshot
    found: dict[str, None] = {}
    seen: set[str] = set()
    for instance in ids:
        record = snapshot.instances[instance]
        for relationship in evaluator.service.require(record.node).requirements:
            if relationship.requirement != requirement:
                continue
            if relationship.is_hosting or relationship.key not in seen:
                # But for hosts, every instance of the source has all those of the target.
                seen.add(relationship.key)
                found.update(dict.fromkeys(far_ends(snapshot, relationship, "source", record)))
    return list(found)
