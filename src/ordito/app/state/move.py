"""Renaming a node that has a new name in the template: its instances get the new name, and nothing is run."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import no_ensemble, refuse_unfinished
from ordito.app.errors import Declined, Refused
from ordito.app.place import place_of
from ordito.app.proposal import PlanningContext, known_of
from ordito.app.proposals.making import options_of
from ordito.app.requests import ChoiceOptions
from ordito.app.services.chosen import look_at
from ordito.app.state.edit import (
    Edit,
    EditBasis,
    RecordedEdit,
    copied,
    deployed,
    new_basis,
    not_wanted,
    proposed,
    record,
)
from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.base.text import listed
from ordito.ensemble.status import Status
from ordito.ensemble.store import open_ensemble
from ordito.instances.moving import NodeRename, RecordKey, moved
from ordito.instances.records import Delta, Snapshot
from ordito.model.renaming import renamed_keys, with_renamed_node
from ordito.model.service import Service
from ordito.model.templates import sanitised
from ordito.planning.wanted import WantedDigests, wanted
from ordito.work.records import NOBODY, AskedBy

MOST_NAMED = 5


class RenameNodeRequest(msgspec.Struct, frozen=True):
    """The old and the new name of a node; ``wait_lock`` is in seconds, ``commit`` is auto, always or never; ``asked``
    says who asked through a server."""

    directory: str
    old: str
    new: str
    wait_lock: float = 0.0
    commit: str = "auto"
    asked: AskedBy = NOBODY


class MovedRecords(msgspec.Struct, frozen=True):
    """The recording job with its commits, and the new ids of instances by the old ones."""

    recorded: RecordedEdit
    instances: dict[str, str]


def move(request: RenameNodeRequest, conversation: Conversation) -> MovedRecords:
    """Give the instances of a node its new name in the template.

    Operations count as carried out under the new name as far as only the name has changed. Raises ``Refused``,
    ``PlanRefused``, ``InvalidDocument``, ``Locked``, ``JobUnfinished``, ``Declined`` and ``EnsembleError``.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with open_ensemble(request.directory, command="state mv", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        _check_records(request, ensemble.snapshot)
        _check(request, look_at("", request.directory, ChoiceOptions(), Diagnostics(), fetch=False).service)
        known = known_of(place, ensemble.snapshot, _by_both_names(request, ensemble.status), None)
        basis = deployed(place, ensemble)
        delta, ids = _renaming(request, known, basis)
        snapshot = copied(ensemble.snapshot)
        snapshot.apply(delta)
        proposal = proposed(known, snapshot)
        conversation.found(proposal.diagnostics)
        if not conversation.confirm(
            f'call "{request.old}" by the name "{request.new}"', [f"{old} becomes {new}" for old, new in ids.items()]
        ):
            raise Declined
        edit = Edit(request.new, f'"{request.old}" is called "{request.new}"', lambda _: delta)
        return MovedRecords(
            record(ensemble, "mv", [edit], new_basis(known, proposal), request.commit, request.asked), ids
        )


def _by_both_names(request: RenameNodeRequest, status: Status) -> Status:
    """The status, with the number of instances that scaling has set also under the new name."""
    kept = status.kept.get(request.old)
    return status if kept is None else msgspec.structs.replace(status, kept={**status.kept, request.new: kept})


def _renaming(request: RenameNodeRequest, known: PlanningContext, basis: EditBasis) -> tuple[Delta, dict[str, str]]:
    """The changes of the records, and the new ids by the old ones."""
    old, new, service, snapshot = request.old, request.new, basis.whole.service, known.snapshot
    names = NodeRename(old, new, sanitised(new), renamed_keys(service, old, new))
    before = _wanted(service, known, snapshot, basis)
    renamed = copied(snapshot)
    renamed.apply(moved(snapshot, names, lambda _, __, digest: digest))
    after = _wanted(with_renamed_node(service, old, new), known, renamed, basis)

    def digest(was: RecordKey, now: RecordKey, found: str) -> str:
        return _of(after, now, found) if _of(before, was, "") == found else found

    ids = {i.id: names.instance(i) for i in snapshot.records_of(old)}
    return moved(snapshot, names, digest), ids


def _of(found: WantedDigests, place: RecordKey, default: str) -> str:
    """The digest that is wanted at a place."""
    return (found.instances.get(place.entity) or found.links.get(place.entity) or {}).get(place.key, default)


def _wanted(service: Service, known: PlanningContext, snapshot: Snapshot, basis: EditBasis) -> WantedDigests:
    return wanted(service, snapshot, basis.inputs, options_of(known, basis.whole, {}))


def _check_records(request: RenameNodeRequest, snapshot: Snapshot) -> None:
    """Raise ``Refused`` unless the records have the old name and not the new one."""
    nodes = {i.node for i in snapshot.instances.values()}
    if request.old not in nodes:
        near = nearest(request.old, sorted(nodes))
        hint = f"did you mean {near[0]}?" if near else ""
        raise Refused("unknown-name", f'no instance of a node "{request.old}" is recorded', hint)
    if lagging := [i.id for i in snapshot.records_of(request.old) if i.exists and i.form]:
        one = len(lagging) == 1
        raise Refused(
            "older-form",
            f"{listed(lagging, MOST_NAMED)} {'is' if one else 'are'} still of an earlier version of the service,"
            f' which has the node only as "{request.old}"',
            "finish the upgrade first, or go back",
            next_words=("upgrade",),
            purpose="bring all instances to what the service says now",
        )
    if request.new in nodes:
        taken = f'there are records of a node "{request.new}" already'
        raise Refused("name-taken", taken, "forget or undeploy its instances first")


def _check(request: RenameNodeRequest, service: Service) -> None:
    """Raise ``Refused`` unless the template has the new name and not the old one."""
    nodes = service.nodes
    if request.new not in nodes:
        near = nearest(request.new, sorted(nodes))
        hint = f"did you mean {near[0]}?" if near else "change the template first: rename the node there"
        raise not_wanted(f'the template has no node "{request.new}"', hint)
    if request.old in nodes:
        raise not_wanted(f'the template still has a node "{request.old}"', "a node is renamed as a whole")
