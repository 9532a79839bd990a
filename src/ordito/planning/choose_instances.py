"""Transform: which instances there will be: those that stay, those that are created, those that are removed (§2 of
lifecycle).

Ids count from 1 and belong to an instance for good: one that was undeployed is created again under its own id, only one
that was scaled in never comes back. The newest are removed first; a new one goes to the host with the fewest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from ordito.instances.hosting import chain
from ordito.instances.records import IN_WORDS, Instance, StatusReason, number_of
from ordito.instances.states import INITIAL
from ordito.instances.status import PENDING
from ordito.model.service import NodeTemplate
from ordito.planning.counts import GONE
from ordito.planning.draft import Draft
from ordito.planning.losing import left_absent
from ordito.planning.placement import NodePlacement
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.plan import ChangeKind


def choose_instances(draft: Draft) -> None:
    """Bring every node to its wanted number of instances, hosts before what they host."""
    absent = left_absent(draft) if draft.options.data_loss.leaves_absent else frozenset()
    for node in draft.ordered:
        _choose(draft, node, absent)
    _warn_of_unknown(draft)
    _warn_of_left_behind(draft)


def all_instances(draft: Draft) -> None:
    """Transform: every existing instance is removed; of one that was never started only the record is removed."""
    for node in draft.ordered:
        draft.counts[node.name] = 0
        for record in draft.snapshot.of_node(node.name):
            action, reason = InstanceAction.LEAVE, "undeploy"
            if draft.options.force:
                reason = "undeploy, forced: everything is carried out again"
            elif not _was_started(record):
                action, reason = InstanceAction.DROP, "it was never started"
            draft.put(PlannedInstance(record, node, action, reason))
    _warn_of_unknown(draft)


def _warn_of_left_behind(draft: Draft) -> None:
    options = draft.options
    for name in sorted(options.orphans.nodes - options.pruned):
        if ids := draft.snapshot.ids_of(name):
            kept = options.prunes
            draft.diagnostics.warning(
                "orphaned",
                f'node "{name}" is gone from the template, and its instances are kept as they are'
                f"{WHY_KEPT if kept else ''}: {', '.join(ids)}",
                None,
                hint=HOW_KEPT_GO if kept else HOW_ORPHANED_GO,
            )


WHY_KEPT = " (protected, not created by this ensemble, or needed by what is)"
HOW_KEPT_GO = (
    "put the node back, without ordito.protected if they may go; undeploy removes them with --include-protected,"
    " --include-unmanaged"
)
HOW_ORPHANED_GO = (
    "undeploy removes them with the files that they were deployed from; put the node back to manage them again"
)


def _warn_of_unknown(draft: Draft) -> None:
    for name in sorted({i.node for i in draft.snapshot.instances.values() if i.exists} - set(draft.service.nodes)):
        ids = ", ".join(draft.snapshot.ids_of(name))
        draft.diagnostics.warning(
            "orphaned",
            f'nothing is known any more of node "{name}", and its instances are kept: {ids}',
            None,
            hint=f"remove them by hand, and then their records: `ordito state rm {ids.split(', ')[0]}`",
        )


def _choose(draft: Draft, node: NodeTemplate, absent: frozenset[str]) -> None:
    wanted = draft.counts[node.name]
    existing = draft.snapshot.of_node(node.name)
    staying: list[Instance] = []
    lost: list[Instance] = []  # with the host that it had, which is made once more
    for record in existing:
        host = draft.members.get(record.host)
        if host is not None and host.action is InstanceAction.NEW:
            lost.append(record)
        elif host is not None and host.goes and not _moves(node, host):
            member = leaving(draft, record, node, f"its host {host.id} is removed")
            member.kind = ChangeKind.REMOVED if node.name in draft.options.orphans.nodes else ChangeKind.SCALE
            draft.put(member)
        else:
            staying.append(record)
    newest_first = sorted(staying, key=lambda i: number_of(i.id), reverse=True)
    surplus = {i.id for i in newest_first[: max(0, len(staying) - wanted)]}
    for record in staying:
        if record.id in surplus:
            draft.put(_surplus(draft, record, node, len(existing)))
        else:
            draft.put(PlannedInstance(record, node, InstanceAction.KEEP, ""))
    if wanted > len(staying):
        _grow(draft, node, wanted - len(staying), staying, lost, absent)
        kind = ChangeKind.SCALE if existing else ChangeKind.ADDED
        for member in draft.of_node.get(node.name, ()) if draft.is_change else ():
            if member.action is InstanceAction.NEW:
                member.kind = kind
    draft.sort(node.name)


def _moves(node: NodeTemplate, host: PlannedInstance) -> bool:
    """Whether instances on a host are to be hosted on one of another node, so that they are not removed with it."""
    return (node.host.target if node.host is not None else "") != host.template.name


def _surplus(draft: Draft, record: Instance, node: NodeTemplate, there_are: int) -> PlannedInstance:
    """An instance that is one too many, or one of a node that is no longer in the template."""
    if node.name in draft.options.orphans.nodes:
        member = leaving(draft, record, node, GONE)
        member.kind = ChangeKind.REMOVED
    else:
        member = leaving(draft, record, node, f"{_wanted(draft, node)}, and there are {there_are}")
        member.kind = ChangeKind.SCALE
    return member


def leaving(draft: Draft, record: Instance, node: NodeTemplate, reason: str) -> PlannedInstance:
    """An instance that is to be removed; of one that was never started only the record is removed."""
    leaves = _was_started(record) or draft.options.force
    return PlannedInstance(record, node, InstanceAction.LEAVE if leaves else InstanceAction.DROP, reason)


def _was_started(record: Instance) -> bool:
    return bool(record.created or record.applied or record.failed)


def _grow(
    draft: Draft,
    node: NodeTemplate,
    more: int,
    staying: list[Instance],
    lost: list[Instance],
    absent: frozenset[str],
) -> None:
    again = [i for i in draft.snapshot.records_of(node.name) if not i.exists and not i.was_scaled_in]
    part = draft.options.part
    if part is not None and node.name not in part.nodes:
        again = [i for i in again if i.id in part.instances]
    if absent:
        left = [record for record in again if not _is_left_absent(draft, record, absent)]
        again, more = left, max(0, more - len(again) + len(left))
        if not more and not lost:
            return
    again += lost
    again = sorted(again, key=lambda i: number_of(i.id))[:more]
    hosts = Hosts(draft, node) if node.host is not None else None
    if hosts is not None and hosts.is_empty:
        assert node.host is not None
        draft.diagnostics.error(
            "no-host",
            f'node "{node.name}" wants {draft.counts[node.name]} instances, and its host "{node.host.target}" has none',
            node.span,
            hint=f'raise the number of instances of "{node.host.target}"',
        )
        return
    had = [i.host for i in again] + [""] * (more - len(again))
    on = [hosts.take(before) for before in had] if hosts is not None else [""] * more
    grow(draft, node, on, staying, [i.id for i in again], reason=_wanted(draft, node))
    for record in again:
        if record.was_lost:
            draft.members[record.id].reason = IN_WORDS[StatusReason.FOUND_ABSENT]
            draft.absent.append(record)


def _is_left_absent(draft: Draft, record: Instance, absent: frozenset[str]) -> bool:
    """Whether an instance is not created again, or is hosted on one that is not."""
    return any(above.id in absent for above in chain(draft.snapshot, record.id))


def grow(
    draft: Draft,
    node: NodeTemplate,
    on: Sequence[str],
    staying: Iterable[Instance],
    again: Sequence[str] = (),
    *,
    reason: str,
) -> None:
    """Create an instance on each of the hosts ``on`` ("" for a node that has none): first those that are created
    ``again``, under their ids. Each takes the lowest free slot."""
    safe = draft.service.sanitised[node.name]
    made = [m.record for m in draft.of_node.get(node.name, ()) if m.action is InstanceAction.NEW]
    taken = {i.index for i in staying} | {i.index for i in made}
    highest = max([draft.snapshot.highest.get(node.name, 0), *(number_of(i.id) for i in made)])
    slot, form = 0, draft.options.forms.own
    for number, host in enumerate(on):
        if number >= len(again):
            highest += 1
        while slot in taken:
            slot += 1
        taken.add(slot)
        identity = again[number] if number < len(again) else f"{safe}_{highest}"
        record = Instance(identity, node.name, slot, host, INITIAL, PENDING, form=form)
        draft.created.append(record)
        draft.put(PlannedInstance(record, node, InstanceAction.NEW, reason))


def _wanted(draft: Draft, node: NodeTemplate) -> str:
    origin = draft.origins[node.name]
    return f"{draft.counts[node.name]} wanted" + (f" ({origin})" if origin else "")


class Hosts:
    """The instances that may host new instances of a node, the one that hosts the fewest first; if placement policies
    apply to the node, those that they allow. One that is not up, and that the plan leaves as it is, is chosen last."""

    def __init__(self, draft: Draft, node: NodeTemplate) -> None:
        assert node.host is not None
        there = [m for m in draft.of_node.get(node.host.target, ()) if not m.goes]
        self._hosted: dict[str, int] = {m.id: 0 for m in there}
        # What of a host's rank stays the same.
        self._fixed = {m.id: (draft.options.is_partial and not m.is_up, number_of(m.id)) for m in there}
        for member in draft.of_node.get(node.name, ()):
            if not member.goes and member.record.host in self._hosted:
                self._hosted[member.record.host] += 1
        self._placement = NodePlacement(draft, node, self._hosted)
        self._queue = [(self._rank(host), host) for host in self._placement.allowed()]
        heapq.heapify(self._queue)

    @property
    def is_empty(self) -> bool:
        """Whether there is no host."""
        return not self._hosted

    def take(self, before: str) -> str:
        """A host for one more: its former host if that exists, else the one that hosts the fewest."""
        again = before in self._hosted
        host = before if again else self._fewest()
        self._hosted[host] += 1
        self._placement.take(host)
        if not again:
            heapq.heappush(self._queue, (self._rank(host), host))
        return host

    def _rank(self, host: str) -> tuple[bool, int, int, int]:
        is_down, number = self._fixed[host]
        return is_down, self._placement.crowd(host), self._hosted[host], number

    def _fewest(self) -> str:
        while self._queue:
            rank, host = heapq.heappop(self._queue)
            now = self._rank(host)
            if now != rank:
                heapq.heappush(self._queue, (now, host))
            elif self._placement.is_open(host):
                return host
        # That no host can be chosen has been reported.
        return next(iter(self._hosted))
