"""Routes about records, locks and hosts as they are looked at and changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from ordito.results.answer import UseCase
from ordito.results.by_hand import (
    FORGET,
    HOSTS_CHECK,
    HOSTS_RELEASE,
    REPLAY,
    STATE,
    STATE_ADOPT,
    STATE_EXPORT,
    STATE_MOVE,
    STATE_REMOVE,
    STATE_RENEW,
    UNLOCK,
    CheckHostsAsked,
    EditAsked,
    ExportedState,
    HeldLockData,
    ReleaseHostsAsked,
    RenewAsked,
    ReplayAsked,
    ReviewedEdit,
    StateAsked,
    UnlockAsked,
)
from ordito.results.hosts import CheckedHostsData, ReleasedHostsData
from ordito.results.jobs import ReplayData, UnlockedData
from ordito.results.records import EditData, RecordsData, RenewedData
from ordito.server.call import ApiCall
from ordito.server.permissions import Permission
from ordito.server.plans.store import Author
from ordito.server.problems import ApiProblem
from ordito.server.route import NOT_IN_STORE, Fields, Handler, Reply
from ordito.server.routes.by_process import ask_process, ensemble_route, let_process
from ordito.work.records import AskedBy

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Digest = Annotated[str, msgspec.Meta(max_length=100)]


class DryQuery(Fields, frozen=True):
    """Whether something is only looked at."""

    dry: bool = False
    """Whether nothing is changed: what would be is described, with a digest."""


class _Reviewed(Fields, frozen=True, kw_only=True):
    """A change that is described before."""

    digest: Digest = ""
    """That of the description; needed for the change itself."""


class Moving(_Reviewed, frozen=True, kw_only=True):
    """A node that has a new name in the template."""

    old: Name
    """The name in the records."""

    new: Name
    """The name in the template."""


class Forgetting(_Reviewed, frozen=True, kw_only=True):
    """Records that are to be removed; what they are about stays as it is."""

    names: tuple[Name, ...] = ()
    """Instances and nodes; none for all deleted instances, where that is possible."""

    force: bool = False
    """Whether instances that exist may be among them."""


class Removing(_Reviewed, frozen=True, kw_only=True):
    """Records that are to be removed, whether what they are about exists or not."""

    names: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)]
    """Instances and nodes."""


class Adopting(_Reviewed, frozen=True, kw_only=True):
    """Something that exists already, and is to be recorded as the next instance of a node."""

    node: Name
    attributes: Mapping[str, str] = {}
    """Values of attributes, as texts."""


class Renewing(Fields, frozen=True):
    """Deployed files that were changed since."""

    as_they_are: bool = False
    """Whether they count as deployed from now on, instead of being put back."""


class Unlocking(_Reviewed, frozen=True, kw_only=True):
    """The lock that clones share."""


class CheckedHosts(Fields, frozen=True):
    """Hosts that are to be reached."""

    names: tuple[Name, ...] = ()
    """None for all."""

    environment: str | None = None
    """null for the environment of the ensemble."""

    accept_new: bool = False
    """Whether the keys of hosts that are not known yet become known; this needs `configure`."""


class ReleasedHosts(Fields, frozen=True):
    """Hosts that are to be taken back."""

    names: tuple[Name, ...] = ()
    environment: str | None = None
    """null for the environment of the ensemble."""

    force: bool = False
    """Whether they are taken back from ensembles that still exist."""


class ReplayQuery(Fields, frozen=True):
    """What is to be done with the result."""

    write: bool = False
    """Whether it replaces what is recorded."""

    until: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The last job or task: what existed then is told; "" for all."""

    first: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """How many jobs, from the first; none for all."""


def _look(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        return Reply(await ask_process(call, use_case, call.query))

    return handler


# --------------------------------------------------------------------------------------------------- changes of records


def _edit(use_case: UseCase[Any, Any], action: str, about: str) -> Handler:
    """A handler that describes a change of records, or makes it as it was described. ``about`` is the field that says
    what is changed."""

    async def handler(call: ApiCall) -> Reply:
        given = call.body
        values = {name: getattr(given, name) for name in given.__struct_fields__ if name != "digest"}
        by = AskedBy(Author(call.principal.kind, call.principal.id).shown)
        asked: EditAsked = use_case.asked(**values, seen=_seen(call), by=by)
        if call.query.dry:
            return Reply(await ask_process(call, use_case, asked))
        value = getattr(given, about)
        named = value if isinstance(value, str) else " ".join(value)
        reply = await let_process(call, use_case, asked, action, about=named[:200])
        await call.services.notices.handle(call.project, call.ensemble)
        return reply

    return handler


def _seen(call: ApiCall) -> str:
    """The digest of what was looked at, "" for a dry run. Raises ``ApiProblem``."""
    if call.query.dry:
        return ""
    if not call.body.digest:
        hint = "ask with ?dry=true first, and send the digest of that answer"
        raise ApiProblem("match-required", "this changes records, so it must say what was looked at", hint)
    return str(call.body.digest)


async def _renew(call: ApiCall) -> Reply:
    return await let_process(call, STATE_RENEW, RenewAsked(call.body.as_they_are), "records.renew")


async def _replay(call: ApiCall) -> Reply:
    given: ReplayQuery = call.query
    if given.until and given.first is not None:
        raise ApiProblem("malformed", "until and first exclude each other", "give one of them")
    asked = ReplayAsked(given.write, given.until, given.first)
    if not asked.write:
        return Reply(await ask_process(call, REPLAY, asked))
    if given.until or given.first is not None:
        raise ApiProblem("malformed", "write takes all jobs", "leave until and first out")
    return await let_process(call, REPLAY, asked, "records.replay")


async def _unlock(call: ApiCall) -> Reply:
    asked = UnlockAsked(_seen(call))
    if call.query.dry:
        return Reply(await ask_process(call, UNLOCK, asked))
    return await let_process(call, UNLOCK, asked, "ensemble.unlock")


# --------------------------------------------------------------------------------------------------------------- hosts


async def _check_hosts(call: ApiCall) -> Reply:
    given: CheckedHosts = call.body
    if given.accept_new and not call.may(Permission.CONFIGURE, call.project, call.ensemble):
        await call.denied("accept_new needs configure")
        hint = "leave it out, or ask somebody who has it: who accepts a key says that it is the host's"
        raise ApiProblem("forbidden", "accept_new needs the permission `configure`", hint)
    asked = CheckHostsAsked(given.names, given.environment, given.accept_new)
    return await let_process(call, HOSTS_CHECK, asked, "hosts.check")


async def _release_hosts(call: ApiCall) -> Reply:
    given: ReleasedHosts = call.body
    if not given.names:
        raise ApiProblem("malformed", "no host is named", "name the hosts that are to be taken back")
    asked = ReleaseHostsAsked(given.names, given.environment, given.force)
    return await let_process(call, HOSTS_RELEASE, asked, "hosts.release", about=" ".join(given.names)[:200])


_RECORDS, _OPERATE = Permission.RECORDS, Permission.OPERATE
_HOSTS = (NOT_IN_STORE, "unknown-host", "no-hosts", "no-inventory", "broken-pool", "invalid", "unknown-environment")
_EDIT = (NOT_IN_STORE, "changed", "match-required", "locked", "unfinished-job", "unknown-name", "cannot-commit")


def _edit_route(path: str, summary: str, handler: Handler, body: type[Fields], verb: str, *problems: str) -> Any:
    return ensemble_route("POST", path, _RECORDS, f"{summary} Nothing is run.", handler, query=DryQuery, body=body,
                          answers=(ReviewedEdit, EditData), keyed=True, verb=verb,
                          problems=(*_EDIT, *problems))  # fmt: skip


TABLE = (
    ensemble_route("GET", "/state", _RECORDS, "The records of instances, deleted ones included.", _look(STATE),
                   query=StateAsked, answers=(RecordsData,), verb="state show",
                   problems=("unknown-name", "ambiguous-name")),
    ensemble_route("GET", "/state/export", _RECORDS, "All that is recorded, without sensitive values.",
                   _look(STATE_EXPORT), query=StateAsked, answers=(ExportedState,), verb="state export",
                   problems=("unknown-name", "ambiguous-name")),
    _edit_route("/state/mv", "Follow a node that was renamed in the template.", _edit(STATE_MOVE, "records.mv", "old"),
                Moving, "state mv", "older-form", "name-taken", "not-wanted", "plan-refused", "invalid"),
    _edit_route("/state/rm", "Forget instances, whether they exist or not.",
                _edit(STATE_REMOVE, "records.rm", "names"), Removing, "state rm", "hosts-others", "ambiguous-name"),
    _edit_route("/state/adopt", "Record something that exists already as an instance.",
                _edit(STATE_ADOPT, "records.adopt", "node"), Adopting, "state adopt", "not-wanted", "no-host",
                "bad-value", "plan-refused", "invalid"),
    _edit_route("/state/forget", "Drop the records of deleted instances.", _edit(FORGET, "records.forget", "names"),
                Forgetting, "forget", "exists", "hosts-others", "ambiguous-name"),
    ensemble_route("POST", "/state/renew", _RECORDS, "Put back deployed files that were changed since.", _renew,
                   body=Renewing, answers=(RenewedData,), keyed=True, verb="state renew",
                   problems=(NOT_IN_STORE, "locked", "cannot-renew")),
    ensemble_route("POST", "/replay", _RECORDS, "Compare what is recorded with the records of all jobs, or rebuild it.",
                   _replay, query=ReplayQuery, answers=(ReplayData,), keyed=True, verb="jobs replay",
                   problems=(NOT_IN_STORE, "locked", "unfinished-job", "unknown-change")),
    ensemble_route("POST", "/unlock", _RECORDS, "Remove the lock that clones share, if its holder is gone.", _unlock,
                   query=DryQuery, body=Unlocking, answers=(HeldLockData, UnlockedData), keyed=True,
                   verb="jobs unlock",
                   problems=(NOT_IN_STORE, "no-shared-lock", "locked", "changed", "match-required")),
    ensemble_route("POST", "/hosts/check", _OPERATE, "Connect to hosts of the inventory, and see what they have.",
                   _check_hosts, body=CheckedHosts, answers=(CheckedHostsData,), keyed=True, verb="hosts check",
                   problems=_HOSTS),
    ensemble_route("POST", "/hosts/release", _RECORDS, "Take hosts back from instances that nobody can undeploy.",
                   _release_hosts, body=ReleasedHosts, answers=(ReleasedHostsData,), keyed=True, verb="hosts release",
                   problems=(*_HOSTS, "host-in-use")),
)  # fmt: skip
