"""Describe one node or one instance with everything that is known of it: its values, the reasons of its status, what
was done to it, and what can be done next. Changes nothing, and works while a job runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.place import Place, place_of
from ordito.app.services.in_use import service_as_it_runs
from ordito.app.status import made_by
from ordito.base.change_ids import job_of, time_of
from ordito.ensemble.job_history import TaskLine, last_tasks, starts_of
from ordito.ensemble.status import Status
from ordito.ensemble.store import Ensemble, read_ensemble
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import chain
from ordito.instances.outline import Outline
from ordito.instances.outlining import outline_of
from ordito.instances.records import Instance, Snapshot
from ordito.instances.status import (
    ABSENT,
    ERROR,
    OPERATIONAL,
    OPTIONAL,
    PENDING,
    REQUIRED,
    UNKNOWN,
    aggregate,
    contribution,
    effective_statuses,
)
from ordito.model.schema import PropertyDefinition
from ordito.model.service import NodeTemplate, Service
from ordito.syntax.expressions import Value
from ordito.work.outputs import BUILT_IN
from ordito.work.plan import KeptCount
from ordito.work.probes import CHECK, maintaining

MOST_EVENTS = 10


class DescribeRequest(msgspec.Struct, frozen=True):
    """The ensemble, the name of a node or an instance, and how many of the last operations are told."""

    directory: str
    name: str
    events: int = MOST_EVENTS


class Operated(msgspec.Struct, frozen=True):
    """An operation that was carried out or has failed; ``change`` is its changeId, ``at`` when it began, in UTC (to the
    second)."""

    operation: str
    change: str
    failed: bool = False
    at: str = ""


class Dependency(msgspec.Struct, frozen=True):
    """A requirement and what it contributes to the status: the instances of its target with their effective statuses,
    and the contribution, "" if no instance of the target is wanted."""

    requirement: str
    target: str
    relationship: str
    optional: bool
    instances: dict[str, str]
    contribution: str


class Suggestion(msgspec.Struct, frozen=True):
    """A command that makes sense next, as its words, and what it does."""

    words: tuple[str, ...]
    purpose: str


class InstanceDescription(msgspec.Struct, frozen=True):
    """An instance with everything that is known of it."""

    instance: Instance
    type: str
    effective: str
    optional: bool = False
    properties: Mapping[str, object] = {}
    attributes: Mapping[str, object] = {}
    dependencies: tuple[Dependency, ...] = ()
    operated: tuple[Operated, ...] = ()
    events: tuple[TaskLine, ...] = ()
    next: tuple[Suggestion, ...] = ()
    place: str = ""
    """The host that it is or runs on, as its provider calls it; "" for this machine."""

    times: Mapping[str, str] = {}
    """When its recorded changes began, by changeId."""

    is_away: bool = False
    """Whether it keeps data and was found to be absent."""

    @property
    def decisive(self) -> tuple[Dependency, ...]:
        """The dependencies that make its effective status worse than its own."""
        if self.effective == self.instance.local:
            return ()
        return tuple(d for d in self.dependencies if d.contribution == self.effective)


class NodeDescription(msgspec.Struct, frozen=True):
    """A node template."""

    name: str
    type: str
    declared: str
    """Its place in the template."""

    status: str
    """The effective status of all its instances together."""

    wanted: int | None
    """How many instances are wanted, None if that is not known."""

    kept: KeptCount | None = None
    """The number that scaling has set, if it has."""

    optional: bool = False
    protected: bool = False
    lost: bool = False
    description: str = ""
    requirements: Mapping[str, str] = {}
    operations: Mapping[str, str] = {}
    metadata: Mapping[str, str] = {}
    instances: tuple[InstanceDescription, ...] = ()
    """Its instances, with their effective statuses."""

    events: tuple[TaskLine, ...] = ()
    next: tuple[Suggestion, ...] = ()


def describe(request: DescribeRequest) -> NodeDescription | InstanceDescription:
    """Describe the node or instance with a name. Raises ``Refused`` if there is none, or if the name is ambiguous, and
    ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with read_ensemble(request.directory) as ensemble:
        used, caveat = service_as_it_runs(place, ensemble)
        named = InstanceNames(used.service if used else None, ensemble.snapshot, deleted=True).find(request.name)
        if used is None:
            raise Refused("no-service", f"the service cannot be read: {caveat or 'nothing was ever deployed'}")
        describing = _Describing(place, ensemble, used.service, used.left, request.events)
        if named.instance:
            return describing.instance(ensemble.snapshot.instances[named.instance])
        return describing.node(named.node)


class _Describing:
    """Makes descriptions of nodes and instances."""

    def __init__(
        self, place: Place, ensemble: Ensemble, service: Service, lost: frozenset[str], most_events: int
    ) -> None:
        self._most_events = most_events
        self._layout = place.layout
        self._service = service
        self._snapshot: Snapshot = ensemble.snapshot
        self._status: Status = ensemble.status
        self._unfinished = ensemble.unfinished is not None
        self._outline: Outline = outline_of(service, lost)
        self._effective = effective_statuses(self._outline, ensemble.snapshot)
        header = ensemble.unfinished.header if ensemble.unfinished else None
        self._evaluator = Evaluator(service, ensemble.snapshot, header.inputs if header else ensemble.status.inputs)

    def instance(self, record: Instance) -> InstanceDescription:
        """The description of an instance."""
        template = self._service.nodes.get(record.node)
        found = self._brief(record)
        if template is None:
            return found
        context = Context(node=template.name, instance=record.id)
        recorded = self._snapshot.attributes.get(record.id, {})
        times = self._times(record)
        return msgspec.structs.replace(
            found,
            properties=self._hidden(
                template,
                template.definitions,
                {name: self._value(value, context) for name, value in template.properties.items()},
            ),
            attributes=self._hidden(
                template,
                template.attribute_definitions,
                {
                    **{n: self._value(v, context) for n, v in template.attributes.items() if n not in BUILT_IN},
                    **recorded,
                },
            ),
            dependencies=tuple(self._dependencies(template, record)),
            operated=(
                *(Operated(name, one.change, at=times[one.change]) for name, one in record.applied.items()),
                *(Operated(name, change, failed=True, at=times[change]) for name, change in record.failed.items()),
            ),
            times=times,
            is_away=_is_away(record, template),
            events=last_tasks(self._layout, {record.id}, self._most_events),
            next=tuple(self._next(record, template)),
        )

    def node(self, name: str) -> NodeDescription:
        """The description of a node with its instances."""
        records = self._snapshot.of_node(name)
        template, outline = self._service.nodes.get(name), self._outline.nodes.get(name)
        existing = [self._effective.get(record.id, record.local) for record in records if record.exists]
        made = NodeDescription(
            name=name,
            type=template.type if template else "",
            declared=str(template.span) if template and template.span else "",
            status=aggregate(existing) if existing else ABSENT,
            wanted=self._status.counts.get(name),
            kept=self._status.kept.get(name),
            lost=template is None or (outline is not None and outline.lost),
            instances=tuple(self._brief(record) for record in records),
            events=last_tasks(self._layout, {record.id for record in records}, self._most_events),
        )
        if template is None:
            return made
        return msgspec.structs.replace(
            made,
            optional=template.settings.is_optional,
            protected=template.settings.protected,
            description=template.description,
            requirements={r.key.removeprefix(f"{name}."): r.target for r in template.requirements},
            operations={
                f"{interface.name}.{o.name}": o.implementation.file
                for interface in template.interfaces.values()
                for o in interface.operations.values()
                if o.implementation is not None
            },
            metadata=template.metadata,
            next=_next_of_node(name) if existing and maintaining(template, CHECK) else (),
        )

    def _brief(self, record: Instance) -> InstanceDescription:
        outline = self._outline.nodes.get(record.node)
        return InstanceDescription(
            record,
            outline.type if outline else "",
            self._effective.get(record.id, record.local),
            outline is not None and outline.optional,
            place=self._place(record),
        )

    def _times(self, record: Instance) -> dict[str, str]:
        """When the changes of an instance began, to the second: by their tasks, else by their ids, which have the time
        when the job began."""
        changes = {one.change for one in record.applied.values()} | set(record.failed.values())
        changes |= {record.created, record.last_config_change, record.last_state_change}
        starts = starts_of(self._layout, changes)
        return {c: f"{starts[c].partition('.')[0]}Z" if c in starts else time_of(c) for c in changes}

    def _place(self, record: Instance) -> str:
        """Where an instance is: the nearest of its hosts, or itself, that a provider has made."""
        for current in chain(self._snapshot, record.id):
            provider, name = made_by(self._snapshot.attributes.get(current.id, {}))
            if provider:
                return f"{provider}: {name}" if current.id == record.id else f"{current.id} ({provider}: {name})"
        return ""

    def _value(self, value: Value, context: Context) -> object:
        """A value, evaluated now, None if it has none."""
        try:
            found = self._evaluator.evaluate(value, context)
        except EvaluationError:
            return None
        return None if isinstance(found, Nothing) else found

    def _hidden(
        self, template: NodeTemplate, definitions: Mapping[str, PropertyDefinition], values: Mapping[str, object]
    ) -> dict[str, object]:
        """Values, with the sensitive ones wrapped."""
        marks = self._evaluator.marks
        return {n: marks.wrap(v, marks.of_node(template.metadata, definitions.get(n))) for n, v in values.items()}

    def _dependencies(self, template: NodeTemplate, record: Instance) -> Iterator[Dependency]:
        for relationship in template.requirements:
            target = self._outline.nodes[relationship.target]
            ids = self._snapshot.ids_of(target.name)
            said = contribution(target, self._snapshot, self._effective) or ""
            if relationship.is_hosting and record.host:
                ids = (record.host,)
                said = self._of_host(record.host, optional=target.optional)
            yield Dependency(
                relationship.key.removeprefix(f"{template.name}."),
                target.name,
                relationship.type,
                target.optional,
                {i: self._effective.get(i, "") for i in ids},
                said,
            )

    def _of_host(self, host: str, *, optional: bool) -> str:
        return (OPTIONAL if optional else REQUIRED)[self._effective.get(host, ABSENT)]

    def _next(self, record: Instance, template: NodeTemplate) -> Iterator[Suggestion]:
        if self._unfinished:
            yield Suggestion(("jobs", "show"), "see the job that is not finished")
            return
        if record.failed:
            yield Suggestion(("jobs", "logs", job_of(max(record.failed.values()))), "read what its operations printed")
        if record.local in (ERROR, UNKNOWN) and not record.failed:
            yield Suggestion(("heal", record.id), "repair it")
        elif record.local not in OPERATIONAL and not _is_away(record, template) and (record.exists or record.is_missed):
            done = "continue it" if record.local != PENDING else "bring it up"
            yield Suggestion(("deploy",), f"{done}: completed steps do not run again")
        if maintaining(template, CHECK) is not None and (record.exists or record.is_missed):
            yield Suggestion(("check", record.id), "check whether it is as recorded")
        if record.was_found_changed:
            yield Suggestion(("jobs", "show", job_of(record.last_state_change)), "see what was found then")


def _is_away(record: Instance, template: NodeTemplate) -> bool:
    """Whether it keeps data and was found to be absent: it is replaced only with permission."""
    return record.was_lost and template.keeps_data


def _next_of_node(name: str) -> tuple[Suggestion, ...]:
    return (Suggestion(("check", name), "check whether they are as recorded"),)
