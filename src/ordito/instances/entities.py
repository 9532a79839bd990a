"""Entities that functions name: which node instance or relationship instance a name or keyword means (§4.1).

Where a node has several instances, a name alone means the one on the caller's own path: the caller itself, an instance
that hosts it or that it hosts, the one that shares its nearest host, or the one with the same index where both nodes
have equally many instances. Anything else is an error; it never silently means the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.instances.context import Context, EvaluationError, Nothing, Trace
from ordito.instances.hosting import chain
from ordito.instances.records import Snapshot, link_id
from ordito.model.service import NodeTemplate, Relationship, Service

KEYWORDS = ("SELF", "SOURCE", "TARGET", "HOST")


class NodeEntity(msgspec.Struct, frozen=True):
    """A node: its template and, where an instance is meant and exists, its id."""

    template: NodeTemplate
    instance: str = ""

    @property
    def id(self) -> str:
        """The id of the instance, or the name of the template where there is none."""
        return self.instance or self.template.name

    @property
    def key(self) -> tuple[str, ...]:
        """What no other entity has."""
        return self.template.name, self.instance

    @property
    def context(self) -> Context:
        """The context of values written in it."""
        return Context(node=self.template.name, instance=self.instance)

    def __str__(self) -> str:
        return f'node "{self.template.name}"'


class LinkEntity(msgspec.Struct, frozen=True):
    """A relationship of the model, and the ids of the instances at its ends, "" where one is not known."""

    relationship: Relationship
    source: str = ""
    target: str = ""

    @property
    def id(self) -> str:
        """The id of the link, or the key of the relationship where an end is not known."""
        r = self.relationship
        return link_id(r.key, r.source, self.source, self.target) if self.source and self.target else r.key

    @property
    def key(self) -> tuple[str, ...]:
        """What no other entity has."""
        return self.relationship.key, self.source, self.target

    @property
    def context(self) -> Context:
        """The context of values written in it."""
        return Context(relationship=self.relationship, source=self.source, target=self.target)

    def __str__(self) -> str:
        return f'relationship "{self.relationship.key}"'


Entity = NodeEntity | LinkEntity


class Entities:
    """Finds entities in a service and the snapshot of its instances."""

    def __init__(self, service: Service, snapshot: Snapshot) -> None:
        self.service = service
        self.snapshot = snapshot
        self._of_type: dict[str, list[str]] = {}
        self._below: dict[str, dict[str, list[str]]] = {}
        self._read = 0
        self._again: dict[str, dict[str, None]] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._moved: dict[str, dict[str, bool]] = {}
        self._followed = 0

    def make_again(self, instances: Iterable[str]) -> None:
        """Note instances that the job replaces: they count as existing all the time."""
        self._again.clear()
        self._listed.clear()
        self._moved.clear()
        self._followed = len(self.snapshot.changes)
        for instance in instances:
            if (record := self.snapshot.instances.get(instance)) is not None:
                self._again.setdefault(record.node, {})[instance] = None

    def is_made_again(self, instance: str) -> bool:
        """Whether the job replaces an instance."""
        record = self.snapshot.instances.get(instance)
        return record is not None and instance in self._again.get(record.node, ())

    def listed(self, node: str) -> tuple[str, ...]:
        """The ids of a node's instances that operations are told of, by index: those that exist or are being replaced,
        so that the progress of a job with replacements makes no difference. Kept until an instance comes or goes."""
        again = self._again.get(node)
        if again is None:
            return self.snapshot.ids_of(node)
        self._follow()
        known = self._listed.get(node)
        if known is None:
            every = dict.fromkeys((*self.snapshot.ids_of(node), *again))
            self._moved.pop(node, None)
            known = self._listed[node] = tuple(sorted(every, key=lambda i: self.snapshot.instances[i].index))
        elif moved := self._moved.pop(node, None):
            known = self._listed[node] = self.snapshot.with_moved(known, moved)
        return known

    def _follow(self) -> None:
        """Take note of who has come and gone since, but for those that are made again."""
        changes = self.snapshot.changes
        for place in range(self._followed, len(changes)):
            if changes[place][0] == "!":
                record = self.snapshot.instances.get(changes[place][1:])
                if record is None:
                    self._listed.clear()
                elif record.node in self._listed and record.id not in self._again[record.node]:
                    moved = self._moved.setdefault(record.node, {})
                    # Whoever has come and gone has not moved.
                    if moved.pop(record.id, None) is None:
                        moved[record.id] = not record.exists
        self._followed = len(changes)

    def find(self, name: str, context: Context, span: Span | None, trace: Trace) -> Entity | Nothing:
        """The entity that a name other than HOST means; ``Nothing`` where it is a node without instances."""
        if name == "SELF":
            return self._self(context, span)
        if name in {"SOURCE", "TARGET"}:
            return self._end(name, context, span)
        template = self.service.template(name)
        if template is not None and name in self.service.substituted:
            return NodeEntity(template)
        if template is not None:
            chosen = self.choose(template, context, span, trace)
            return chosen if isinstance(chosen, Nothing) else NodeEntity(template, chosen)
        uses = self.service.relationship_templates.get(name)
        if uses:
            return self._relationship_template(name, uses, context, span)
        known = [*self.service.nodes, *self.service.relationship_templates]
        near = " or ".join(f'"{n}"' for n in nearest(name, known))
        raise EvaluationError(f'there is no node named "{name}"', span, f"did you mean {near}?" if near else "")

    def find_template(self, name: str, context: Context, span: Span | None, trace: Trace) -> Entity:
        """As ``find``, for static values: the template itself where no single instance is meant."""
        template = self.service.template(name) if name not in KEYWORDS else None
        if template is None:
            found = self.find(name, context, span, trace)
            assert not isinstance(found, Nothing)
            return found
        chosen = self.candidates(template, context, trace)
        return NodeEntity(template, chosen[0] if len(chosen) == 1 else "")

    def declaring(self, entity: Entity, name: str, end: str) -> Entity:
        """The entity that has the value ``name``d, for an end of a relationship: the end itself; or, where it belongs
        to a substituting topology and lacks the value, the node that the topology substitutes."""
        if end not in {"SOURCE", "TARGET"} or not self.service.substituted or isinstance(entity, LinkEntity):
            return entity
        place = entity.template.name
        while place and not _has(self.service.require(place), name):
            place = place.rpartition("/")[0]
            while place and place not in self.service.substituted:
                place = place.rpartition("/")[0]
        return NodeEntity(self.service.require(place)) if place not in {"", entity.template.name} else entity

    def host(self, entity: NodeEntity) -> NodeEntity | None:
        """What hosts a node: the recorded host of its instance, or else the host by its template."""
        relationship = entity.template.host
        if relationship is None:
            return None
        record = self.snapshot.instances.get(entity.instance)
        return NodeEntity(self.service.require(relationship.target), record.host if record else "")

    def chain(self, entity: NodeEntity) -> Iterator[NodeEntity]:
        """A node and what hosts it, the nearest first."""
        current: NodeEntity | None = entity
        while current is not None:
            yield current
            current = self.host(current)

    def choose(self, template: NodeTemplate, context: Context, span: Span | None, trace: Trace) -> str | Nothing:
        """The id of the instance that a node's name means in a context."""
        found = self.candidates(template, context, trace)
        if not found:
            return Nothing(f'node "{template.name}" has no instance')
        if len(found) > 1:
            raise EvaluationError(
                f'node "{template.name}" has {len(found)} instances, and it is not clear which one is meant',
                span,
                "name it by SELF, SOURCE, TARGET or HOST, or by the requirement that leads to it",
            )
        return found[0]

    def candidates(self, template: NodeTemplate, context: Context, trace: Trace) -> tuple[str, ...]:
        """The instances that a node's name may mean in a context: one, if the context decides it."""
        name = template.name
        chosen = context.chosen.get(name)
        if chosen is not None:
            return (chosen,)
        ids = self.listed(name)
        trace.reads.add(f"#{name}")
        if len(ids) < 2:
            return ids
        callers = [i for i in (context.instance, context.source, context.target) if i in self.snapshot.instances]
        for caller in callers:
            found = self._on_path(name, caller)
            if found:
                return (found,)
        if template.is_open and (linked := self._linked(name, callers)):
            return (linked,)
        for caller in callers:
            record = self.snapshot.instances[caller]
            siblings = self.listed(record.node)
            trace.reads.add(f"#{record.node}")
            if len(siblings) == len(ids):
                same = [i for i in ids if self.snapshot.instances[i].index == record.index]
                if len(same) == 1:
                    return (same[0],)
        return ids

    def _linked(self, node: str, callers: list[str]) -> str:
        """The one instance of a node that a caller is linked with, "" where there is none or there are several."""
        for caller in callers:
            links = (self.snapshot.links[k] for k in self.snapshot.links_of(caller))
            found = {k.target for k in links if k.source == caller and k.target in self.snapshot.instances}
            found = {i for i in found if self.snapshot.instances[i].node == node}
            if len(found) == 1:
                return found.pop()
        return ""

    def nodes_of_type(self, kind: str) -> list[str]:
        """The names of the nodes of a type, or of one derived from it, in declared order."""
        if not self._of_type:
            for node in self.service.nodes.values():
                for each in node.kinds:
                    self._of_type.setdefault(each, []).append(node.name)
        return self._of_type.get(kind, [])

    def _on_path(self, node: str, caller: str) -> str:
        """The one instance of a node that is the caller, hosts it, is hosted by it, or shares its nearest host."""
        path = list(chain(self.snapshot, caller))
        for above in path:
            if above.node == node:
                return above.id
        below = self._hosted(node)
        for above in path:
            found = below.get(above.id, ())
            if len(found) == 1:
                return found[0]
            if found:
                return ""
        return ""

    def _hosted(self, node: str) -> dict[str, list[str]]:
        """By instance, those of a node that it hosts directly or in turn; kept until an instance comes or goes."""
        changes = self.snapshot.changes
        if any(changes[i].startswith("#") for i in range(self._read, len(changes))):
            self._below.clear()
        self._read = len(changes)
        known = self._below.get(node)
        if known is None:
            known = self._below[node] = {}
            for instance in self.listed(node):
                for above in islice(chain(self.snapshot, instance), 1, None):
                    known.setdefault(above.id, []).append(instance)
        return known

    def _self(self, context: Context, span: Span | None) -> Entity:
        if context.relationship is not None:
            return LinkEntity(context.relationship, context.source, context.target)
        if context.node:
            return NodeEntity(self.service.require(context.node), context.instance)
        raise EvaluationError(
            "SELF means a node or a relationship, and there is neither here", span, "write the node's name instead"
        )

    def _end(self, name: str, context: Context, span: Span | None) -> NodeEntity:
        relationship = context.relationship
        if relationship is None:
            raise EvaluationError(
                f"{name} means an end of a relationship, and there is none here", span, "use SELF or the node's name"
            )
        if name == "SOURCE":
            return NodeEntity(self.service.nodes[relationship.source], context.source)
        return NodeEntity(self.service.nodes[relationship.target], context.target)

    def _relationship_template(
        self, name: str, uses: tuple[Relationship, ...], context: Context, span: Span | None
    ) -> LinkEntity:
        if len(uses) > 1:
            matching = [r for r in uses if r.source == context.node or r == context.relationship]
            if len(matching) != 1:
                raise EvaluationError(
                    f'relationship template "{name}" is used {len(uses)} times, and it is not clear which use is meant',
                    span,
                    "use SELF inside the relationship",
                )
            uses = (matching[0],)
        relationship = uses[0]
        sources = self._ends(relationship.source, context)
        targets = self._ends(relationship.target, context)
        return LinkEntity(relationship, sources, targets)

    def _ends(self, node: str, context: Context) -> str:
        found = self.candidates(self.service.nodes[node], context, Trace())
        return found[0] if len(found) == 1 else ""


def _has(node: NodeTemplate, name: str) -> bool:
    """Whether a name means something in a node template."""
    return (
        name in node.definitions
        or name in node.attribute_definitions
        or name in node.capabilities
        or any(r.requirement == name for r in node.requirements)
    )
