"""Adopting something that exists already and was not made by this ensemble: it is recorded as an instance, and nothing
is run."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import no_ensemble, refuse_unfinished
from ordito.app.errors import Declined, Refused
from ordito.app.place import place_of
from ordito.app.proposal import PlanningContext, Proposal, known_of
from ordito.app.proposals.making import options_of
from ordito.app.services.pinned import measured_files
from ordito.app.state.edit import Edit, RecordedEdit, copied, new_basis, not_wanted, proposed, record
from ordito.base.suggest import nearest
from ordito.ensemble.store import open_ensemble
from ordito.ensemble.vault import Vault
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import far_ends
from ordito.instances.records import Applied, Data, Delta, Instance, Link, Snapshot, StatusReason, link_id
from ordito.instances.states import STARTED
from ordito.instances.status import OK
from ordito.model.sensitivity import Marks
from ordito.model.service import NodeTemplate, Service
from ordito.operations.peer_notifications import PeerNotifications
from ordito.planning.wanted import WantedDigests, wanted
from ordito.work.outputs import WrongValue, typed
from ordito.work.peer_knowledge import PeerKnowledge
from ordito.work.records import NOBODY, AskedBy

replace = msgspec.structs.replace


class AdoptRequest(msgspec.Struct, frozen=True):
    """The node of which an instance exists, and values of its attributes; ``wait_lock`` is in seconds, ``commit`` is
    auto, always or never; ``asked`` says who asked through a server."""

    directory: str
    node: str
    attributes: Mapping[str, str] = {}
    wait_lock: float = 0.0
    commit: str = "auto"
    asked: AskedBy = NOBODY


class Adopted(msgspec.Struct, frozen=True):
    """The recording job with its commits, and the id of the instance."""

    recorded: RecordedEdit
    instance: str


def adopt(request: AdoptRequest, conversation: Conversation) -> Adopted:
    """Record the next instance of a node as created and started. This ensemble did not create it, so undeploying leaves
    it alone unless that is asked for.

    Raises ``Refused``, ``PlanRefused``, ``InvalidDocument``, ``Locked``, ``JobUnfinished``, ``Declined`` and
    ``EnsembleError``.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with open_ensemble(request.directory, command="state adopt", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        known = known_of(place, ensemble.snapshot, ensemble.status, None)
        proposal = proposed(known, ensemble.snapshot)
        conversation.found(proposal.diagnostics)
        made = _next_instance(request.node, proposal)
        attributes = _attributes(request, proposal.service)
        links = _links(made, proposal.service, ensemble.snapshot)
        digests = _digests(known, proposal, made, links)
        if not conversation.confirm(f"record {made.id} as made and started", [f"{made.id} of {made.node}"]):
            raise Declined

        def delta(change: str) -> Delta:
            applied = {key: Applied(change, digest) for key, digest in digests.instances[made.id].items()}
            instance = replace(made, applied=applied, last_config_change=change, last_state_change=change)
            done = [replace(link, applied=_applied(digests.links.get(link.id, {}), change)) for link in links]
            values = {made.id: attributes} if attributes else {}
            found = Delta((instance,), tuple(link for link in done if link.applied), attributes=values)
            return _with_knowledge(known, proposal, found, instance.id, change)

        edit = Edit(made.id, "it exists already", delta)
        done = record(ensemble, "adopt", [edit], new_basis(known, proposal), request.commit, request.asked)
        return Adopted(done, made.id)


def _applied(digests: Mapping[str, str], change: str) -> dict[str, Applied]:
    return {key: Applied(change, digest) for key, digest in digests.items()}


def _next_instance(node: str, proposal: Proposal) -> Instance:
    """The instance of a node that a deployment would create next, as an existing one. Raises ``Refused``."""
    nodes = proposal.service.nodes
    if node not in nodes:
        near = nearest(node, sorted(nodes))
        raise not_wanted(f'the template has no node "{node}"', f"did you mean {near[0]}?" if near else "")
    new = {i.id: i for i in proposal.plan.records.new}
    made = next((i for i in new.values() if i.node == node), None)
    if made is None:
        raise not_wanted(f'all wanted instances of "{node}" exist', "raise its number of instances in the template")
    if made.host in new:
        raise Refused(
            "no-host",
            f"{made.id} is hosted on {made.host}, which does not exist yet",
            "adopt its host first, or deploy it",
            next_words=("state", "adopt", new[made.host].node),
            purpose="record the host as made",
        )
    return replace(made, state=STARTED, local=OK, status_reason=StatusReason.ADOPTED)


def _links(made: Instance, service: Service, snapshot: Snapshot) -> list[Link]:
    """The links of an instance with what it requires, as a running instance has them."""
    found: list[Link] = []
    for relationship in service.nodes[made.node].requirements:
        targets, key = far_ends(snapshot, relationship, "source", made), relationship.key
        found += [Link(link_id(key, made.node, made.id, t), key, made.id, t, state="started") for t in targets]
    return found


def _digests(known: PlanningContext, proposal: Proposal, made: Instance, links: list[Link]) -> WantedDigests:
    snapshot = copied(known.snapshot)
    snapshot.apply(Delta((made,), tuple(links)))
    options = options_of(known, proposal.source.whole, measured_files(known.place.layout, proposal.source.read).digests)
    return wanted(proposal.service, snapshot, proposal.inputs.values, options)


def _with_knowledge(known: PlanningContext, proposal: Proposal, delta: Delta, instance: str, change: str) -> Delta:
    """The delta, with what both ends of the pairs of the instance know of each other."""
    service, snapshot = proposal.service, copied(known.snapshot)
    snapshot.apply(delta)
    key = Vault(known.place.layout).digest_key
    knowledge = PeerKnowledge(service, snapshot, Evaluator(service, snapshot, proposal.inputs.values), key)
    told = PeerNotifications(service, snapshot, proposal.plan, knowledge, change).of_adopted(instance, change)
    links = {link.id: link for link in (*delta.links, *told)}
    return replace(delta, links=tuple(links.values()))


def _attributes(request: AdoptRequest, service: Service) -> dict[str, Data]:
    """The values of attributes, checked against their types, sensitive ones wrapped. Raises ``Refused``."""
    node: NodeTemplate = service.require(request.node)
    marks = Marks(service.data_types)
    found: dict[str, Data] = {}
    for name, text in request.attributes.items():
        definition = node.attribute_definitions.get(name)
        if definition is None:
            near = nearest(name, sorted(node.attribute_definitions))
            hint = f"did you mean {near[0]}?" if near else ""
            raise Refused("unknown-name", f'"{request.node}" has no attribute "{name}"', hint)
        mark = marks.of_node(node.metadata, definition)
        try:
            value = typed(text, definition.schema, service.data_types)
        except WrongValue as wrong:
            why = wrong if mark is None else "it does not fit its declaration; it is sensitive, so no more is shown"
            raise Refused("bad-value", f'attribute "{name}": {why}') from (wrong if mark is None else None)
        found[name] = marks.wrap(value, mark)
    return found
