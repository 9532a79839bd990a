"""Records, locks and hosts as they are looked at and changed by hand. What changes records is described first: who
wants it gives the digest of that description, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ordito.app.errors import Declined, Refused
from ordito.results.answer import Asked, Result, UseCase
from ordito.results.findings import FindingData, findings_data
from ordito.results.hosts import CheckedHostsData, ReleasedHostsData, checked_hosts_data, released_hosts_data
from ordito.results.jobs import LockOwnerData, ReplayData, UnlockedData, owner_data, replay_data, unlocked_data
from ordito.results.records import EditData, RecordsData, RenewedData, edit_data, renewed_data
from ordito.work.records import NOBODY, AskedBy

if TYPE_CHECKING:
    from ordito.app.review import Review

# Records, to look at.


class StateAsked(Asked, frozen=True):
    """About the records of instances."""

    names: tuple[str, ...] = ()
    """Instances and nodes, none for all."""


class ExportedState(Result, frozen=True):
    """All that is recorded, as ``ordito state export`` writes it: sensitive values are not shown."""

    state: Mapping[str, object]


def _state(directory: str, asked: StateAsked) -> RecordsData:
    from ordito.app.state.show import StateRequest, show

    return RecordsData(show(StateRequest(directory, asked.names)))


def _export(directory: str, asked: StateAsked) -> ExportedState:
    from ordito.app.state.show import StateRequest, export

    return ExportedState(export(StateRequest(directory, asked.names)))


STATE = UseCase("state show", StateAsked, (RecordsData,), _state)
STATE_EXPORT = UseCase("state export", StateAsked, (ExportedState,), _export)

# Records, changed.


class ReviewedEdit(Result, frozen=True, kw_only=True):
    """What a change of records would do. Nothing is changed yet."""

    intent: str
    """What it does, for people."""

    lines: tuple[str, ...]
    """Its effects, for people."""

    asks: bool
    """Whether somebody should be asked first: something that exists is concerned."""

    digest: str
    """By what this is known again: with it the change is made, as long as it is still the same."""

    diagnostics: tuple[FindingData, ...]
    """Warnings and notes about documents."""


class EditAsked(Asked, frozen=True, kw_only=True):
    """What all changes of records have in common."""

    seen: str = ""
    """The digest of what was looked at; "" to only look."""

    by: AskedBy = NOBODY
    """Who asks."""


class MoveAsked(EditAsked, frozen=True, kw_only=True):
    """A node that has a new name in the template."""

    old: str
    new: str


class ForgetAsked(EditAsked, frozen=True, kw_only=True):
    """Records that are to be removed."""

    names: tuple[str, ...] = ()
    """Instances and nodes; none for all deleted instances, where that is possible."""

    force: bool = False
    """Whether instances that exist may be among them."""


class RemoveAsked(EditAsked, frozen=True, kw_only=True):
    """Records that are to be removed, whether what they are about exists or not."""

    names: tuple[str, ...]
    """Instances and nodes."""


class AdoptAsked(EditAsked, frozen=True, kw_only=True):
    """Something that exists already, and is to be recorded."""

    node: str
    attributes: Mapping[str, str] = {}
    """Values of attributes, as texts."""


def _reviewed(directory: str, asked: EditAsked, change: Callable[[Review], EditData]) -> ReviewedEdit | EditData:
    from ordito.app.review import Review

    review = Review(directory, asked.seen)
    try:
        return change(review)
    except Declined:
        return ReviewedEdit(
            intent=review.intent,
            lines=review.lines,
            asks=review.asks,
            digest=review.digest,
            diagnostics=findings_data(review.diagnostics),
        )


def _move(directory: str, asked: MoveAsked) -> ReviewedEdit | EditData:
    from ordito.app.state.move import RenameNodeRequest, move

    def change(review: Review) -> EditData:
        done = move(RenameNodeRequest(directory, asked.old, asked.new, asked=asked.by), review)
        return edit_data(done.recorded, instances=done.instances)

    return _reviewed(directory, asked, change)


def _adopt(directory: str, asked: AdoptAsked) -> ReviewedEdit | EditData:
    from ordito.app.state.adopt import AdoptRequest, adopt

    def change(review: Review) -> EditData:
        done = adopt(AdoptRequest(directory, asked.node, asked.attributes, asked=asked.by), review)
        return edit_data(done.recorded, instance=done.instance)

    return _reviewed(directory, asked, change)


def _remove(directory: str, asked: RemoveAsked) -> ReviewedEdit | EditData:
    return _forget(directory, ForgetAsked(names=asked.names, force=True, seen=asked.seen, by=asked.by))


def _forget(directory: str, asked: ForgetAsked) -> ReviewedEdit | EditData:
    from ordito.app.state.forget import ForgetRequest, forget

    def change(review: Review) -> EditData:
        done = forget(ForgetRequest(directory, asked.names, asked.force, asked=asked.by), review)
        return edit_data(done.recorded, forgotten=tuple(done.instances), remains=tuple(done.remains))

    return _reviewed(directory, asked, change)


EDITED = (ReviewedEdit, EditData)

STATE_MOVE = UseCase("state mv", MoveAsked, EDITED, _move)
STATE_REMOVE = UseCase("state rm", RemoveAsked, EDITED, _remove)
STATE_ADOPT = UseCase("state adopt", AdoptAsked, EDITED, _adopt)
FORGET = UseCase("forget", ForgetAsked, EDITED, _forget)


class RenewAsked(Asked, frozen=True):
    """Deployed files that were changed since."""

    as_they_are: bool = False
    """Whether they count as deployed from now on, instead of being put back."""


def _renew(directory: str, asked: RenewAsked) -> RenewedData:
    from ordito.app.state.renew import RenewRequest, renew

    return renewed_data(renew(RenewRequest(directory, asked.as_they_are)))


STATE_RENEW = UseCase("state renew", RenewAsked, (RenewedData,), _renew)


class ReplayAsked(Asked, frozen=True):
    """Whether the records of all jobs are only compared, or replace what is recorded."""

    write: bool = False
    until: str = ""
    """The last job or task: what existed then is told; "" for all."""

    first: int | None = None
    """How many jobs, from the first; null for all."""


def _replay(directory: str, asked: ReplayAsked) -> ReplayData:
    from ordito.app.job.replay import ReplayRequest, replay

    return replay_data(replay(ReplayRequest(directory, asked.until, asked.first, asked.write)))


REPLAY = UseCase("jobs replay", ReplayAsked, (ReplayData,), _replay)

# The lock that clones share.


class UnlockAsked(Asked, frozen=True):
    """About the lock."""

    seen: str = ""
    """The digest of the lock that was looked at; "" to only look."""


class HeldLockData(Result, frozen=True):
    """A lock that clones share, and whose holder seems to be gone."""

    repository: str
    """The repository in which it is."""

    holder: str
    """Who holds it, for people."""

    owner: LockOwnerData
    digest: str
    """By what it is known again."""


def _unlock(directory: str, asked: UnlockAsked) -> HeldLockData | UnlockedData:
    from ordito.app.job.jobs import held_lock, take_away

    held = held_lock(directory)
    if held is None:
        return unlocked_data(None)
    if not asked.seen:
        return HeldLockData(held.meeting.remote, str(held.lease.owner), owner_data(held), held.lease.id)
    if asked.seen != held.lease.id:
        raise Refused("changed", "somebody else holds the lock now; it was not removed", "look at it again")
    take_away(held)
    return unlocked_data(held)


UNLOCK = UseCase("jobs unlock", UnlockAsked, (HeldLockData, UnlockedData), _unlock)

# Hosts of the inventory.


class CheckHostsAsked(Asked, frozen=True):
    """Hosts that are to be reached."""

    names: tuple[str, ...] = ()
    """None for all."""

    environment: str | None = None
    accept_new: bool = False
    """Whether the keys of hosts that are not known yet become known."""


class ReleaseHostsAsked(Asked, frozen=True):
    """Hosts that are to be taken back."""

    names: tuple[str, ...]
    environment: str | None = None
    force: bool = False
    """Whether they are taken back from ensembles that still exist."""


def _check_hosts(directory: str, asked: CheckHostsAsked) -> CheckedHostsData:
    from ordito.app.hosts import HostsRequest
    from ordito.app.hosts_check import check_hosts

    request = HostsRequest(directory, asked.environment, names=asked.names)
    return checked_hosts_data(check_hosts(request, accept_new=asked.accept_new))


def _release(directory: str, asked: ReleaseHostsAsked) -> ReleasedHostsData:
    from ordito.app.hosts import HostsRequest, release_hosts

    if not asked.names:
        raise Refused("no-names", "no host is named", "name the hosts that are to be taken back")
    request = HostsRequest(directory, asked.environment, names=asked.names)
    return released_hosts_data(release_hosts(request, force=asked.force))


HOSTS_CHECK = UseCase("hosts check", CheckHostsAsked, (CheckedHostsData,), _check_hosts)
HOSTS_RELEASE = UseCase("hosts release", ReleaseHostsAsked, (ReleasedHostsData,), _release)
