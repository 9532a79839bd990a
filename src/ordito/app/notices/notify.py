"""Tell an ensemble that something has happened to an instance: a notification from outside, or an event by its name.

What is told is checked first, so that a misspelt name or a value of another type changes nothing. Then it is kept, and
from there on it is not lost. Who can get the ensemble's lock handles all that waits, in order; while another command
works, its turn comes when that ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import plain, read_given
from ordito.app.job.jobs import ensemble_place
from ordito.app.names import InstanceNames, notification_named
from ordito.app.notices.handling import Handling, HandlingRequest, Onlooker, handle_waiting
from ordito.app.requests import GivenInputs
from ordito.app.services.in_use import ServiceInUse, service_in_use
from ordito.base.clock import SystemClock
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.suggest import nearest
from ordito.ensemble.inbox import HANDLED, Inbox, InboxEntry
from ordito.ensemble.store import read_ensemble
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot, link_id
from ordito.model.operation import Interface
from ordito.model.service import Relationship, Service
from ordito.source.nodes import Mapping as Keyed
from ordito.source.nodes import Scalar, Sequence
from ordito.source.scalars import core_value
from ordito.work.notices import NotHeard, Notice, changes_of, hidden, interfaces_of, notification_of
from ordito.work.options import USUAL, JobOptions
from ordito.work.outputs import WrongValue
from ordito.work.triggers import heard_nodes

MOST_DEPTH = 10
"""Triggers that may lead to each other, one by one: more than that is a circle."""

JOB = "ORDITO_JOB"
"""The variable by which an operation knows its job, and a notice that it gives where it came from."""


class NotifyRequest(msgspec.Struct, frozen=True):
    """Of which ensemble: what is told (``event``) about which node, instance or pair (``about``), with which values of
    the notification's outputs. ``options`` and ``wait_lock`` are for what is carried out because of it."""

    directory: str
    about: str
    event: str
    inputs: GivenInputs = GivenInputs()
    options: JobOptions = JobOptions(on_failure=USUAL)
    wait_lock: float = 0.0


class NotifyResult(msgspec.Struct, frozen=True):
    """The number of the notice, and what was handled by this command: perhaps others that waited before it, and not
    this one if another command works on the ensemble. ``entry`` is what the inbox says of it now."""

    number: int
    handling: Handling
    entry: InboxEntry | None

    @property
    def is_handled(self) -> bool:
        """Whether nothing is left to do about it."""
        return self.entry is None or self.entry.state == HANDLED

    @property
    def dropped(self) -> str:
        """Why nothing could be made of it, "" where something could."""
        return self.entry.said if self.entry is not None else ""


def notify(request: NotifyRequest, onlooker: Onlooker) -> NotifyResult:
    """Keep a notice, and handle what waits if nobody else does.

    Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``; then nothing was kept, or it waits.
    """
    place = ensemble_place(request.directory)
    now = SystemClock().now()
    with read_ensemble(request.directory) as ensemble:
        used = service_in_use(place, ensemble)
        notice = _checked(request, used, ensemble.snapshot, now)
    with Inbox(place.layout) as inbox:
        notice = msgspec.structs.replace(notice, depth=_depth(inbox, notice))
        number = inbox.put(notice)
    handling = handle_waiting(HandlingRequest(request.directory, request.options, request.wait_lock), onlooker)
    with Inbox(place.layout) as inbox:
        return NotifyResult(number, handling, inbox.entry(number))


def _checked(request: NotifyRequest, used: ServiceInUse, snapshot: Snapshot, now: float) -> Notice:
    """The notice, if it means something. Raises ``Refused``."""
    service = used.service
    notice = _about(request.about, service, snapshot, now)
    interfaces = interfaces_of(service, notice)
    notice = _named(notice, request.event, interfaces, service)
    outputs: Iterable[str] = ()
    if notice.interface:
        outputs = notification_of(service, notice).outputs
    notice = msgspec.structs.replace(notice, values=_values(request, notice, list(outputs)))
    evaluator = Evaluator(service, snapshot, used.inputs, root=used.root)
    try:
        notice = hidden(evaluator, notice)
        changes_of(evaluator, notice)
    except WrongValue as wrong:
        raise Refused("bad-value", f"{notice.event} of {notice.entity}: {wrong}") from None
    except NotHeard as error:
        raise Refused("unknown-name", str(error)) from None
    return notice


def _about(text: str, service: Service, snapshot: Snapshot, now: float) -> Notice:
    """A notice about what a text means: an instance, a node that has one, or a pair of instances."""
    pair = _pair(text, service, snapshot)
    if pair is not None:
        relationship, source, target = pair
        return Notice(text, "", now, relationship=relationship.key, source=source, target=target)
    named = InstanceNames(service, snapshot).find(text)
    if named.instance:
        return Notice(named.instance, "", now, node=snapshot.instances[named.instance].node)
    ids = snapshot.ids_of(named.node)
    if len(ids) == 1:
        return Notice(ids[0], "", now, node=named.node)
    if not ids:
        raise Refused(
            "no-instance",
            f'"{named.node}" has no instance that something could happen to',
            next_words=("status",),
            purpose="see what there is",
        )
    more = f" ... ({len(ids)} in all)" if len(ids) > MOST_NAMED else ""
    raise Refused(
        "several-instances",
        f'"{named.node}" has several instances',
        f"say which: {', '.join(ids[:MOST_NAMED])}{more}",
    )


MOST_NAMED = 8


def _pair(text: str, service: Service, snapshot: Snapshot) -> tuple[Relationship, str, str] | None:
    """The relationship between two instances that a text means, written ``source.requirement.target``."""
    source, dot, rest = text.partition(".")
    target = rest.rpartition(".")[2]
    ends = [snapshot.instances.get(name) for name in (source, target)]
    near, far = ends
    if not dot or near is None or far is None or not near.exists or not far.exists or near.node not in service.nodes:
        return None
    for relationship in service.nodes[near.node].requirements:
        if relationship.target == far.node and link_id(relationship.key, near.node, source, target) == text:
            return relationship, source, target
    return None


def _named(notice: Notice, event: str, interfaces: Mapping[str, Interface], service: Service) -> Notice:
    """The notice with what is told: a notification of what it is about, or an event that a trigger waits for."""
    waited = _waited_for(notice, service)
    try:
        interface, name = notification_named(event, interfaces.values())
    except Refused as refused:
        if event in waited:
            return msgspec.structs.replace(notice, name=event)
        near = nearest(event, sorted(waited)) if not refused.hint.startswith(("did you", "write")) else ()
        hint = f"did you mean {near[0]}?" if near else refused.hint
        said = f"{refused.message} of {notice.entity}" if refused.code.startswith("unknown") else refused.message
        said = f"{said}, and no trigger waits for an event of that name" if refused.code.startswith("unknown") else said
        raise Refused(refused.code, said, hint) from None
    return msgspec.structs.replace(notice, interface=interface, name=name)


def _waited_for(notice: Notice, service: Service) -> set[str]:
    """The events of what a notice is about that triggers wait for."""
    nodes = {notice.node} if notice.node else set()
    if not nodes:
        ends = [r for n in service.nodes.values() for r in n.requirements if r.key == notice.relationship]
        nodes = {end for r in ends for end in (r.source, r.target)}
    return {
        trigger.event
        for policy in service.policies.values()
        for trigger in policy.triggers.values()
        if not nodes.isdisjoint(heard_nodes(service, policy, trigger))
    }


def _values(request: NotifyRequest, notice: Notice, outputs: list[str]) -> dict[str, object]:
    """The values that were given for outputs of a notification. Raises ``Refused`` and ``InvalidDocument``."""
    diagnostics = Diagnostics()
    given = read_given(request.inputs, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    for name in given:
        if name in outputs:
            continue
        near = nearest(name, outputs)
        hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(outputs)}" if outputs else "it takes none"
        what = f"notification {notice.event}" if notice.interface else f"the event {notice.event}"
        raise Refused("unknown-output", f'{what} of {notice.entity} has no output "{name}"', hint)
    return {name: told_value(value) for name, value in given.items()}


def _depth(inbox: Inbox, notice: Notice) -> int:
    """How many triggers have led to a notice: those that led to the job that gives it, and that job's own. Raises
    ``Refused`` for one that would go on for ever."""
    cause = inbox.cause(os.environ.get(JOB, ""))
    if cause is None:
        return 0
    firing, before = cause
    if before.depth + 1 >= MOST_DEPTH:
        raise Refused(
            "endless-events",
            f"{notice.event} of {notice.entity} comes from an action of the trigger {firing.name}, and {MOST_DEPTH} "
            "triggers have led to each other already",
            "let no action of a trigger raise the event that the trigger waits for, nor one that leads to it",
        )
    return before.depth + 1


# Values that were given for outputs of a notification, as operations would give them: texts, numbers, lists, maps.


def told_value(value: object) -> object:
    """A value from a command line or a file. A scalar stays the text that it is written as, since only its attribute
    says what it is: ``6.10`` may be a version."""
    if isinstance(value, Scalar):
        return None if core_value(value) is None else value.text
    return plain(value) if isinstance(value, Sequence | Keyed) else value
