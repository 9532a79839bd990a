"""Change notifications to peers: which instances must be told that the other end of a relationship has changed, and
what they know after that (see ``work.peer_knowledge``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ordito.instances.hosting import far_ends
from ordito.instances.lifecycle import LINKS, PROVIDE, STARTS, UNLINKS
from ordito.instances.records import Delta, Link, Snapshot
from ordito.instances.states import STARTED
from ordito.model.service import Relationship, Service
from ordito.work.peer_knowledge import TELLS, PeerKnowledge, is_notification, noted, pair_id
from ordito.work.plan import OperationCall, Plan, Step

BRINGS_UP = frozenset({*STARTS, PROVIDE})
"""Operations after which an instance is started."""


class PeerNotifications:
    """The change notifications of one job. Pairs that the job has linked or unlinked get none: their ends know of the
    change."""

    def __init__(self, service: Service, snapshot: Snapshot, plan: Plan, knowledge: PeerKnowledge, job: str) -> None:
        self._service = service
        self._snapshot = snapshot
        self._plan = plan
        self._knowledge = knowledge
        self._job = job
        relationships = {r.key: r for n in service.nodes.values() for r in n.requirements if knowledge.operations(r)}
        self._relationships: dict[str, Relationship] = relationships
        self._made_again: frozenset[str] | None = None

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan, self._made_again = plan, None

    def notifies(self, call: OperationCall) -> bool:
        """Whether a call is a change notification."""
        return bool(call.side) and is_notification(call.operation, call.side) and call.owner in self._relationships

    def needless(self, step: Step, call: OperationCall) -> str:
        """Why an instance need not be told, "" if it must be."""
        own, side, relationship = step.instance, call.side, self._relationships[call.owner]
        record = self._snapshot.instances[own]
        if not record.exists or record.state != STARTED:
            return f"{own} is not started"
        if call.key in record.failed:
            return ""
        for link, peer in self._knowledge.pairs(relationship, side, own):
            known = noted(link.told.get(call.operation, ""))
            # What this job has linked knows how it is.
            if known.digest and known.change < self._job:
                is_news = known.is_news(self._knowledge.now(relationship, side, peer))
                if is_news or (known.is_up and self._was_away(peer)):
                    return ""
        is_news = self._peers_made_again(relationship, side, own)
        return "" if is_news else "none of the values that it depends on has changed"

    def notified(self, step: Step, call: OperationCall, delta: Delta, change: str) -> tuple[Link, ...]:
        """The new records of the pairs of an instance that was notified."""
        relationship, knowledge = self._relationships[call.owner], self._knowledge.after(delta)
        found: list[Link] = []
        for link, peer in knowledge.pairs(relationship, call.side, step.instance):
            known = noted(link.told.get(call.operation, ""))
            now = knowledge.now(relationship, call.side, peer)
            if known.digest and (known.is_up, known.digest) != (now.is_up, now.digest):
                found.append(msgspec.structs.replace(link, told={**link.told, call.operation: now.text(change)}))
        return tuple(found)

    def of_pair(self, link: Link, call: OperationCall, delta: Delta, change: str, *, succeeded: bool) -> Link:
        """What the ends of a pair know after an operation on it; an operation that unlinks counts as done even if it
        failed."""
        relationship, links = self._relationships.get(call.owner), call.operation in LINKS and succeeded
        if relationship is None or not (links or call.operation in UNLINKS):
            return link
        told: Mapping[str, str] = {}
        if links:
            knowledge = self._knowledge.after(delta)
            told = self._noted(relationship, link, change, lambda _: knowledge)
        return link if told == link.told else msgspec.structs.replace(link, told=told)

    def of_chain(self, instance: str, delta: Delta, change: str) -> tuple[Link, ...]:
        """The new records of pairs that no operation links, when the chain of an instance has ended."""
        if not self._relationships:
            return ()
        node = self._snapshot.instances[instance].node
        ends = [("source", r) for r in self._service.nodes[node].requirements if r.key in self._relationships]
        ends += [("target", r) for r in self._service.incoming.get(node, ()) if r.key in self._relationships]
        if not ends:
            return ()
        known = {link.id for link in delta.links}
        # Only of the instance itself something else is known than is recorded: that it is up now. What was found of the
        # others is kept for those that come after it.
        now, then = self._knowledge.after(delta), self._knowledge.after(delta, instance)
        pairs = (pair for side, relationship in ends for pair in self._pairs(relationship, side, instance))
        return tuple(
            msgspec.structs.replace(
                link, told=self._noted(relationship, link, change, lambda peer: then if peer == instance else now)
            )
            for relationship, link in pairs
            if not link.told and link.id not in known
        )

    def of_adopted(self, instance: str, change: str) -> tuple[Link, ...]:
        """The new records of the pairs of an instance that counts as created and linked since a change."""
        links = [self._snapshot.links[name] for name in self._snapshot.links_of(instance)]
        made = [
            msgspec.structs.replace(link, told=self._noted(relationship, link, change, lambda _: self._knowledge))
            for link in links
            if (relationship := self._relationships.get(link.relationship)) is not None and not link.told
        ]
        return (*made, *self.of_chain(instance, Delta(links=tuple(made)), change))

    def _pairs(self, relationship: Relationship, side: str, instance: str) -> Iterator[tuple[Relationship, Link]]:
        """The pairs of an instance with peers that are up, recorded or not, if no operation links them."""
        for peer in () if _has_links(relationship) else self._peers(relationship, side, instance):
            if self._is_up(peer):
                name, ends = pair_id(relationship, side, instance, peer), (instance, peer)
                source, target = ends if side == "source" else ends[::-1]
                yield relationship, self._snapshot.links.get(name) or Link(name, relationship.key, source, target)

    def _noted(
        self, relationship: Relationship, link: Link, change: str, seen_by: Callable[[str], PeerKnowledge]
    ) -> dict[str, str]:
        peers = {"source": link.target, "target": link.source}
        sides = self._knowledge.operations(relationship)
        found = {side: seen_by(peers[side]).now(relationship, side, peers[side]) for side in peers if side in sides}
        return {TELLS[side]: now.text(change) for side, now in found.items()}

    def _peers_made_again(self, relationship: Relationship, side: str, own: str) -> bool:
        """Whether the job has replaced peers of an instance without any operation on the side of the instance."""
        if self._made_again is None:
            self._made_again = self._plan.made_again()
        if not self._made_again or own in self._made_again or _has_links(relationship):
            return False
        again = (
            peer for peer in self._peers(relationship, side, own) if peer in self._made_again and self._is_up(peer)
        )
        return any(self._snapshot.instances[peer].created >= self._job for peer in again)

    def _was_away(self, instance: str) -> bool:
        """Whether an instance was started by this job."""
        applied = self._snapshot.instances[instance].applied
        return any(
            one.change >= self._job and key.rpartition(".")[2] in BRINGS_UP and "/" not in key
            for key, one in applied.items()
        )

    def _peers(self, relationship: Relationship, side: str, instance: str) -> Sequence[str]:
        """The instances with which an instance forms pairs."""
        return far_ends(self._snapshot, relationship, side, self._snapshot.instances[instance])

    def _is_up(self, instance: str) -> bool:
        record = self._snapshot.instances[instance]
        return record.exists and record.state == STARTED


def _has_links(relationship: Relationship) -> bool:
    """Whether operations link the pairs of a relationship."""
    return any(
        operation.implementation is not None and operation.name in LINKS
        for interface in relationship.interfaces.values()
        for operation in interface.operations.values()
    )
