"""What would be recorded of instances and pairs if everything were carried out for them now: digests by operation.

It is for changes of the records by hand: what somebody else has created counts as created with these digests, and so
does what was only renamed.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.diagnostics import Severity
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.checks import check_requirements
from ordito.planning.choose_instances import choose_instances
from ordito.planning.counts import counts
from ordito.planning.draft import Draft
from ordito.planning.links import call_of_pair
from ordito.planning.options import PlanOptions
from ordito.planning.planned_instances import PlannedInstance
from ordito.planning.refused import PlanRefused

Digests = dict[str, str]
"""Digests by the keys under which the record of an instance or a link remembers operations."""


class WantedDigests(msgspec.Struct, frozen=True):
    """The digests of all instances that a service wants and of all recorded links, by their ids."""

    instances: Mapping[str, Digests]
    links: Mapping[str, Digests]


def wanted(service: Service, snapshot: Snapshot, inputs: Mapping[str, object], options: PlanOptions) -> WantedDigests:
    """The digests that a complete deployment of a service would leave. Raises ``PlanRefused``."""
    draft = Draft("deploy", service, snapshot, inputs, options)
    for transform in (check_requirements, counts, choose_instances):
        if not draft.diagnostics.has_errors:
            transform(draft)
    found = {m.id: _of_instance(draft, m) for m in draft.members.values()} if not draft.diagnostics.has_errors else {}
    links = _of_links(draft)
    errors = [d for d in draft.diagnostics.sorted() if d.severity is Severity.ERROR]
    if errors:
        raise PlanRefused(errors)
    return WantedDigests(found, links)


def _of_instance(draft: Draft, member: PlannedInstance) -> Digests:
    own = draft.with_hosts(member)
    entries = draft.sequences.making(member.template).install
    calls = ((entry.key, draft.calls.all[draft.calls.for_instance(entry.call, own)]) for entry in entries)
    return {key: call.digest for key, call in calls if call.digest}


def _of_links(draft: Draft) -> dict[str, Digests]:
    found: dict[str, Digests] = {}
    for link in draft.snapshot.links.values():
        source, target = draft.members.get(link.source), draft.members.get(link.target)
        if source is None or target is None:
            continue
        for pairs in draft.sequences.making(source.template).link:
            if pairs.relationship.key == link.relationship:
                calls = {e.key: draft.calls.all[call_of_pair(draft, source, target, e)] for e in pairs.entries}
                found.setdefault(link.id, {}).update({key: c.digest for key, c in calls.items() if c.digest})
    return found
