"""Removing records without running anything: of deleted instances, and on demand of existing ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import no_ensemble, refuse_unfinished
from ordito.app.errors import Declined, Refused
from ordito.app.names import InstanceNames
from ordito.app.place import place_of
from ordito.app.state.edit import Edit, RecordedEdit, deployed, record
from ordito.base.text import listed
from ordito.ensemble.store import Ensemble, open_ensemble
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.work.records import NOBODY, AskedBy

MOST_NAMED = 10


class ForgetRequest(msgspec.Struct, frozen=True):
    """The records to remove: ids of instances, names of nodes; without any, all of deleted instances. ``existing``
    allows existing instances; ``wait_lock`` is in seconds, ``commit`` is auto, always or never; ``asked`` says who
    asked through a server."""

    directory: str
    names: tuple[str, ...] = ()
    existing: bool = False
    wait_lock: float = 0.0
    commit: str = "auto"
    asked: AskedBy = NOBODY


class Forgotten(msgspec.Struct, frozen=True):
    """What was forgotten: the recording job (None for none), the ids, and what may remain of each instance that
    existed."""

    recorded: RecordedEdit | None = None
    instances: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()


def forget(request: ForgetRequest, conversation: Conversation) -> Forgotten:
    """Remove records; the things themselves are left as they are.

    Raises ``Refused``, ``Locked``, ``JobUnfinished``, ``Declined``, ``InvalidDocument`` and ``EnsembleError``.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with open_ensemble(request.directory, command="forget", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        chosen = _chosen(request, ensemble)
        if not chosen:
            return Forgotten()
        remains = tuple(_remains(ensemble.snapshot, i) for i in chosen if i.exists)
        # What was deleted is forgotten without being asked about.
        intent = f"forget these instances{', which exist' if remains else ''}"
        if not conversation.confirm(intent, remains or [i.id for i in chosen], asks=bool(remains)):
            raise Declined
        edits = [_edit(ensemble.snapshot, instance) for instance in chosen]
        word = "rm" if remains else "forget"
        done = record(ensemble, word, edits, deployed(place, ensemble), request.commit, request.asked)
        return Forgotten(done, tuple(i.id for i in chosen), remains)


def _chosen(request: ForgetRequest, ensemble: Ensemble) -> Sequence[Instance]:
    """The records to remove. Raises ``Refused`` for those that must not be removed, or not alone."""
    snapshot = ensemble.snapshot
    if not request.names:
        return [i for i in snapshot.instances.values() if not i.exists]
    chosen = InstanceNames(None, snapshot, deleted=True).instances(request.names)
    existing = [i for i in chosen if i.exists]
    if existing and not request.existing:
        named = listed((i.id for i in existing), MOST_NAMED)
        raise Refused(
            "exists",
            f"{named} {'exists' if len(existing) == 1 else 'exist'}: after forgetting, nobody"
            " would know what still runs",
            "undeploy removes it; to forget it nevertheless, give --force",
            next_words=("describe", existing[0].id),
            purpose="see what is recorded of it",
        )
    going = {i.id for i in chosen}
    for instance in existing:
        if hosted := [h for h in snapshot.hosted_on(instance.id) if h not in going]:
            raise Refused(
                "hosts-others",
                f"{instance.id} hosts {listed(hosted, MOST_NAMED)}, which would be left without a host",
                "name these too",
            )
    return chosen


def _edit(snapshot: Snapshot, instance: Instance) -> Edit:
    ends = [n for n in {*snapshot.attributes, *snapshot.outputs} if n.endswith(f":{instance.id}")]
    delta = Delta(unlinked=(*snapshot.links_of(instance.id), *sorted(ends)), forgotten=(instance.id,))
    summary = _remains(snapshot, instance) if instance.exists else "forgotten; it was deleted before"
    return Edit(instance.id, summary, lambda _: delta)


def _remains(snapshot: Snapshot, instance: Instance) -> str:
    """What may remain of an existing instance, for people."""
    done = [key.rpartition(".")[2] for key in instance.applied]
    parts = [f"{instance.id} ({instance.state}, {instance.local})"]
    parts.append(f"made by {', '.join(done)}" if done else "nothing was carried out")
    if instance.host:
        parts.append(f"on {instance.host}")
    if links := snapshot.links_of(instance.id):
        parts.append(f"linked by {listed(links, MOST_NAMED)}")
    return ", ".join(parts)
