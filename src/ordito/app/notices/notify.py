"""Tell an ensemble that something has happened to an instance: a notification of an interface, or an event by its name.

A notice is checked first, so that a misspelt name or a value of a wrong type changes nothing. Then it is stored, and
cannot be lost any more. The command that gets the ensemble's lock handles all waiting notices in order; while another
command works, they wait until that ends.
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
"""How many triggers may cause each other: a longer chain counts as a circle."""

JOB = "ORDITO_JOB"
"""The variable with the id of the job of an operation, by which a notice from an operation knows where it came from."""


class NotifyRequest(msgspec.Struct, frozen=True):
    """A notice: an ``event`` about a node, instance or pair (``about``), with values of the notification's outputs.
    ``options`` and ``wait_lock`` are for the jobs that it causes."""

    directory: str
    about: str
    event: str
    inputs: GivenInputs = GivenInputs()
    options: JobOptions = JobOptions(on_failure=USUAL)
    wait_lock: float = 0.0


class NotifyResult(msgspec.Struct, frozen=True):
    """The number of the notice, and what this command has handled: perhaps others that waited before it, and not this
    one if another command works on the ensemble. ``entry`` is its entry in the inbox now."""

    number: int
    handling: Handling
    entry: InboxEntry | None

    @property
    def is_handled(self) -> bool:
        """Whether it is completely handled."""
        return self.entry is None or self.entry.state == HANDLED

    @property
    def dropped(self) -> str:
        """Why it was dropped, "" if it was not."""
        return self.entry.said if self.entry is not None else ""


def notify(request: NotifyRequest, onlooker: Onlooker) -> NotifyResult:
    """Store a notice, and handle the waiting ones unless another command does. Raises ``Refused``, ``InvalidDocument``
    and ``EnsembleError``; then it was not stored, or waits."""
    place = ensemble_place(request.directory)
    number = put_notice(request)
    handling = handle_waiting(HandlingRequest(request.directory, request.options, request.wait_lock), onlooker)
    with Inbox(place.layout) as inbox:
        return NotifyResult(number, handling, inbox.entry(number))


def put_notice(request: NotifyRequest) -> int:
    """Store a notice, and return its number: whoever has the ensemble's lock next handles it. Raises ``Refused``,
    ``InvalidDocument`` and ``EnsembleError``; then it was not stored."""
    place = ensemble_place(request.directory)
    now = SystemClock().now()
    with read_ensemble(request.directory) as ensemble:
        used = service_in_use(place, ensemble)
        notice = _checked(request, used, ensemble.snapshot, now)
    with Inbox(place.layout) as inbox:
        notice = msgspec.structs.replace(notice, depth=_depth(inbox, notice))
        return inbox.put(notice)


def _checked(request: NotifyRequest, used: ServiceInUse, snapshot: Snapshot, now: float) -> Notice:
    """The notice, if it is valid. Raises ``Refused``."""
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
    """A notice about what a text names: an instance, a node with exactly one, or a pair of instances."""
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
            f'"{named.node}" has no instances',
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
    """The pair of instances that a text names, written ``source.requirement.target``."""
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
    """The notice with its event: a notification of its subject, or an event that a trigger waits for."""
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
    """The events of the subject of a notice that triggers wait for."""
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
    """The values for outputs of a notification. Raises ``Refused`` and ``InvalidDocument``."""
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
    """How many triggers have led to a notice: those that led to its job, and that of the job itself. Raises ``Refused``
    for a chain without end."""
    cause = inbox.cause(os.environ.get(JOB, ""))
    if cause is None:
        return 0
    firing, before = cause
    if before.depth + 1 >= MOST_DEPTH:
        raise Refused(
            "endless-events",
            f"{notice.event} of {notice.entity} comes from an action of the trigger {firing.name}, and {MOST_DEPTH} "
            "triggers have led to each other already",
            "no action of a trigger must raise the event that the trigger waits for, or an event that leads to it",
        )
    return before.depth + 1


# Values that were given for outputs of a notification, as operations would give them: texts, numbers, lists, maps.


def told_value(value: object) -> object:
    """A value from a command line or a file. A scalar stays the written text, because only the type of its attribute
    says what it is: ``6.10`` may be a version."""
    if isinstance(value, Scalar):
        return None if core_value(value) is None else value.text
    return plain(value) if isinstance(value, Sequence | Keyed) else value
