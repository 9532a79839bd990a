"""A node that the template calls otherwise now: its instances take the new name, and nothing is run."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Declined, Refused
from ordito.app.gate import no_ensemble, refuse_unfinished
from ordito.app.left_behind import Whole
from ordito.app.place import place_of
from ordito.app.plugins import plugins_of
from ordito.app.proposal import Known, Proposal
from ordito.app.state.deployed import deployed
from ordito.app.state.edit import Basis, Edit, record
from ordito.app.state.rebased import copied, new_basis, not_wanted, proposed
from ordito.base.suggest import nearest
from ordito.ensemble.store import open_ensemble
from ordito.instances.moving import Names, moved
from ordito.instances.records import Delta, Snapshot
from ordito.model.renamed_node import renamed_keys, with_renamed_node
from ordito.model.service import Service
from ordito.model.templates import sanitised
from ordito.planning.options import PlanOptions
from ordito.planning.wanted import Wanted, wanted


class MoveRequest(msgspec.Struct, frozen=True):
    """Of which ensemble which node gets which name; ``wait_lock`` is in seconds."""

    directory: str
    old: str
    new: str
    wait_lock: float = 0.0


class Moved(msgspec.Struct, frozen=True):
    """What was done: the job that records it, and the ids that instances had, with those they have."""

    job: str
    instances: dict[str, str]


def move(request: MoveRequest, conversation: Conversation) -> Moved:
    """Give the instances of a node the name that the template has for it now.

    What was carried out counts as carried out under the new name exactly as far as nothing but the name has changed.
    Raises ``Refused``, ``PlanRefused``, ``InvalidDocument``, ``Locked``, ``JobUnfinished``, ``Declined`` and
    ``EnsembleError``.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    with open_ensemble(request.directory, command="state mv", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        known = Known(place, ensemble.snapshot, ensemble.status)
        basis = deployed(place, ensemble)
        delta, ids = _renaming(request, known, basis)
        snapshot = copied(ensemble.snapshot)
        snapshot.apply(delta)
        proposal = proposed(known, snapshot)
        _check(request, proposal)
        conversation.found(proposal.diagnostics)
        if not conversation.confirm(
            f'call "{request.old}" by the name "{request.new}"', [f"{old} becomes {new}" for old, new in ids.items()]
        ):
            raise Declined
        edit = Edit(request.new, f'"{request.old}" is called "{request.new}"', lambda _: delta)
        return Moved(record(ensemble, "mv", [edit], new_basis(known, proposal)), ids)


def _renaming(request: MoveRequest, known: Known, basis: Basis) -> tuple[Delta, dict[str, str]]:
    """What the other name changes, and the new ids by the old ones."""
    old, new, service, snapshot = request.old, request.new, basis.whole.service, known.snapshot
    nodes = {i.node for i in snapshot.instances.values()}
    if old not in nodes or old not in service.nodes:
        near = nearest(old, sorted(nodes))
        raise Refused("unknown-name", f'no instance of a node "{old}" is recorded', f"did you mean {near[0]}?" if near else "")
    if new in nodes:
        raise Refused("name-taken", f'there are records of a node "{new}" already', "forget or undeploy them first")
    names = Names(old, new, sanitised(new), renamed_keys(service, old, new))
    before = _wanted(service, basis.whole, known, snapshot, basis)
    renamed = copied(snapshot)
    renamed.apply(moved(snapshot, names, lambda _, __, digest: digest))
    after = _wanted(with_renamed_node(service, old, new), basis.whole, known, renamed, basis)
    translated = _Translated(before, after, names, snapshot)
    ids = {i.id: names.instance(i) for i in snapshot.records_of(old)}
    return moved(snapshot, names, translated.digest), ids


def _wanted(service: Service, whole: Whole, known: Known, snapshot: Snapshot, basis: Basis) -> Wanted:
    plugins = plugins_of(known.place.layout)
    options = PlanOptions(
        digests=whole.digests, accepts=plugins.accepts, provides=plugins.provides, left_behind=whole.nodes
    )
    return wanted(service, snapshot, basis.inputs, options)


class _Translated:
    """Digests under the new name, for those that were as the deployed service wants them."""

    def __init__(self, before: Wanted, after: Wanted, names: Names, snapshot: Snapshot) -> None:
        self._before = before
        self._after = after
        self._old_ids = {names.instance(i): i.id for i in snapshot.instances.values()}
        self._old_keys = {names.key(f"{k}/"): f"{k}/" for k in names.relationships}

    def digest(self, name: str, key: str, digest: str) -> str:
        """The digest that takes the place of one."""
        now = self._after.instances.get(name) or self._after.links.get(name) or {}
        old = self._before.instances.get(self._old_ids.get(name, name)) or {}
        relationship, slash, rest = key.rpartition("/")
        before = old.get(self._old_keys.get(relationship + slash, relationship + slash) + rest)
        return now.get(key, digest) if before == digest else digest


def _check(request: MoveRequest, proposal: Proposal) -> None:
    """See that the template is about the new name. Raises ``Refused``."""
    nodes = proposal.read.service.nodes
    if request.new not in nodes:
        near = nearest(request.new, sorted(nodes))
        hint = f"did you mean {near[0]}?" if near else "change the template first: rename the node there"
        raise not_wanted(f'the template has no node "{request.new}"', hint)
    if request.old in nodes:
        raise not_wanted(f'the template still has a node "{request.old}"', "a node is moved to its new name as a whole")
