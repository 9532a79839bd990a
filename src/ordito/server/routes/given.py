"""Routes about what an ensemble is given, and what it gives: its spec, inventory, secrets, notices, outputs, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from ordito.app.given_files import ANY, digest_of
from ordito.ensemble.errors import EnsembleError
from ordito.results.answer import Asked, UseCase
from ordito.results.diff import DiffData
from ordito.results.given import (
    DIFF,
    HOSTS_CHECK,
    HOSTS_RELEASE,
    INVENTORY,
    INVENTORY_CHECK,
    INVENTORY_SET,
    NOTICES,
    NOTIFY,
    OUTPUTS,
    REPLAY,
    SECRET_REMOVE,
    SECRET_SET,
    SECRETS,
    SPEC_CHECK,
    SPEC_SET,
    SPEC_TEXT,
    STATE,
    UNLOCK,
    CheckedText,
    DiffAsked,
    GivenText,
    HostNamesAsked,
    NoticeAsked,
    NoticesData,
    NoticeStored,
    OutputAsked,
    OutputsData,
    ReplayAsked,
    SecretAsked,
    SecretNameAsked,
    SecretNames,
    StateAsked,
    TextAsked,
)
from ordito.results.hosts import CheckedHostsData, ReleasedHostsData
from ordito.results.jobs import ReplayData, UnlockedData
from ordito.results.records import RecordsData
from ordito.server.call import ApiCall, tag_of, tagged
from ordito.server.packages import package_named, package_path, seen_from_ensemble
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Fields, Handler, Reply, Route


class NewText(Fields, frozen=True):
    """A text, byte for byte."""

    text: str


class Secret(Fields, frozen=True):
    """The value of a secret. It is sealed when it arrives, and never given back."""

    value: Annotated[str, msgspec.Meta(min_length=1, max_length=65_536)]


class NewNotice(Fields, frozen=True):
    """Something that has happened."""

    event: Annotated[str, msgspec.Meta(max_length=1_000)]
    """The name of an event, or ``interface.notification``."""

    entity: Annotated[str, msgspec.Meta(max_length=1_000)]
    """A node with one instance, an instance, or a pair of instances."""

    values: Mapping[str, object] = {}
    """Values of the outputs of the notification."""


class HostNames(Fields, frozen=True):
    """Hosts of the inventory."""

    names: tuple[str, ...] = ()
    """None for all, where that is possible."""


class ReplayQuery(Fields, frozen=True):
    """What is to be done with the result."""

    write: bool = False
    """Whether it replaces what is recorded."""


class StateQuery(Fields, frozen=True):
    """Which records are wanted."""

    name: tuple[str, ...] = ()
    """Instances and nodes; none for all."""


class DiffQuery(Fields, frozen=True):
    """What the ensemble is compared with."""

    to: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A package of the project, by its digest or a label; "" for what the ensemble is made of."""

    environment: str | None = None


async def _reads(call: ApiCall) -> tuple[str, ...]:
    return await call.services.database.read(lambda c: reads_of(c, call.services.home, call.project, call.ensemble))


async def _ask(call: ApiCall, use_case: UseCase[Any, Any], asked: Asked, reads: tuple[str, ...] | None = None) -> bytes:
    """The JSON of what a process answers or does. Raises ``ApiProblem``."""
    found = reads or await _reads(call)
    return await call.services.queries.ask(use_case.name, found[0], msgspec.json.encode(asked), found)


async def _do(call: ApiCall, use_case: UseCase[Any, Any], asked: Asked, action: str, *, about: str = "") -> Reply:
    """Let a process change something, and write down that it did: once, where the same request comes again with the
    same key."""
    kept = await call.begin()
    if kept is not None:
        return kept
    try:
        body = await _ask(call, use_case, asked)
    except (ApiProblem, EnsembleError, OSError):
        await call.let_go()
        raise

    def done(_: Connection) -> Reply:
        return Reply(None if call.route.status == 204 else body)

    return await call.change(action, done, about=about or call.ensemble)


# ------------------------------------------------------------------------------------------------ spec and inventory


def _text(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        return tagged(msgspec.json.decode(await _ask(call, use_case, Asked()), type=GivenText))

    return handler


def _replace(read: UseCase[Any, Any], write: UseCase[Any, Any], action: str) -> Handler:
    """A handler that replaces a text which is as who asks has seen it."""

    async def handler(call: ApiCall) -> Reply:
        now = msgspec.json.decode(await _ask(call, read, Asked()), type=GivenText)
        call.must_match(now)
        seen = ANY if call.headers.get("if-match") == "*" else digest_of(now.text)
        reply = await _do(call, write, TextAsked(call.body.text, seen), action)
        return msgspec.structs.replace(reply, headers={**reply.headers, "ETag": tag_of(GivenText(call.body.text))})

    return handler


def _check(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        return Reply(await _ask(call, use_case, TextAsked(call.body.text)))

    return handler


# ------------------------------------------------------------------------------------------------------------ secrets


async def _secrets(call: ApiCall) -> Reply:
    return Reply(await _ask(call, SECRETS, Asked()))


async def _set_secret(call: ApiCall) -> Reply:
    name, given = call.path["name"], call.body
    return await _do(call, SECRET_SET, SecretAsked(name, given.value), "secret.set", about=name)


async def _remove_secret(call: ApiCall) -> Reply:
    name = call.path["name"]
    return await _do(call, SECRET_REMOVE, SecretNameAsked(name), "secret.remove", about=name)


# --------------------------------------------------------------------------------------------------- what it gives out


async def _outputs(call: ApiCall) -> Reply:
    return Reply(await _ask(call, OUTPUTS, OutputAsked(call.path.get("name", ""))))


async def _diff(call: ApiCall) -> Reply:
    fields: DiffQuery = call.query
    reads, service = await _reads(call), ""
    if fields.to:
        digest = await call.services.database.read(lambda c: package_named(c, call.project, fields.to))
        path = package_path(call.services.home, digest)
        service = seen_from_ensemble(path, reads[0])
        reads = (*reads, str(path))
    return Reply(await _ask(call, DIFF, DiffAsked(service, fields.environment), reads))


# ------------------------------------------------------------------------------------------------------------ notices


async def _notices(call: ApiCall) -> Reply:
    return Reply(await _ask(call, NOTICES, Asked()))


async def _notify(call: ApiCall) -> Reply:
    given: NewNotice = call.body
    asked = NoticeAsked(given.entity, given.event, given.values)
    reply = await _do(call, NOTIFY, asked, "notice.put", about=f"{given.entity} {given.event}")
    # Where something is frozen, or somebody works on the ensemble, it waits.
    await call.services.notices.handle(call.project, call.ensemble)
    return reply


# ------------------------------------------------------------------------------------------------- records and hosts


async def _state(call: ApiCall) -> Reply:
    return Reply(await _ask(call, STATE, StateAsked(call.query.name)))


async def _replay(call: ApiCall) -> Reply:
    asked = ReplayAsked(call.query.write)
    if not asked.write:
        return Reply(await _ask(call, REPLAY, asked))
    return await _do(call, REPLAY, asked, "records.replay")


async def _unlock(call: ApiCall) -> Reply:
    return await _do(call, UNLOCK, Asked(), "ensemble.unlock")


async def _check_hosts(call: ApiCall) -> Reply:
    return await _do(call, HOSTS_CHECK, HostNamesAsked(call.body.names), "hosts.check")


async def _release_hosts(call: ApiCall) -> Reply:
    if not call.body.names:
        raise ApiProblem("malformed", "no host is named", "name the hosts that are to be taken back")
    about = " ".join(call.body.names)[:200]
    return await _do(call, HOSTS_RELEASE, HostNamesAsked(call.body.names), "hosts.release", about=about)


_PROBLEMS = ("unknown-project", "unknown-ensemble", "no-ensemble", "ensemble", "too-costly")
_MATCH = ("changed", "match-required", "invalid", "locked", "too-large", "encoding")


def _route(method: str, path: str, access: Permission, summary: str, handler: Any, **more: Any) -> Route:
    problems = (*_PROBLEMS, *more.pop("problems", ()))
    return Route(method=method, path=ENSEMBLE + path, access=access, summary=summary, handler=handler,
                 problems=problems, **more)  # fmt: skip


_READ, _CONFIGURE, _PLAN = Permission.READ, Permission.CONFIGURE, Permission.PLAN
_SECRETS, _LOGS, _RECORDS, _OPERATE = Permission.SECRETS, Permission.LOGS, Permission.RECORDS, Permission.OPERATE

TABLE = (
    _route("GET", "/spec", _READ, "The user's part of `ensemble.yaml`, byte for byte.", _text(SPEC_TEXT),
           answers=(GivenText,)),
    _route("PUT", "/spec", _CONFIGURE, "Replace the user's part; with errors nothing is written.",
           _replace(SPEC_TEXT, SPEC_SET, "spec.set"), body=NewText, answers=(CheckedText,),
           problems=(*_MATCH, "bad-spec")),
    _route("POST", "/spec/check", _PLAN, "What would be found about a user's part.", _check(SPEC_CHECK), body=NewText,
           answers=(CheckedText,), problems=("bad-spec",)),
    _route("GET", "/inventory", _READ, "The inventory in the ensemble's directory, empty for none.",
           _text(INVENTORY), answers=(GivenText,)),
    _route("PUT", "/inventory", _CONFIGURE, "Replace the inventory; with errors nothing is written.",
           _replace(INVENTORY, INVENTORY_SET, "inventory.set"), body=NewText, answers=(CheckedText,),
           problems=(*_MATCH, "plain-credential")),
    _route("POST", "/inventory/check", _PLAN, "What would be found about an inventory.", _check(INVENTORY_CHECK),
           body=NewText, answers=(CheckedText,), problems=("plain-credential",)),
    _route("GET", "/secrets", _READ, "The names of the secrets.", _secrets, answers=(SecretNames,),
           verb="secrets list"),
    _route("PUT", "/secrets/{name}", _SECRETS, "Keep a secret; it is sealed, and never given back.", _set_secret,
           body=Secret, status=204, verb="secrets set", problems=("bad-name",)),
    _route("DELETE", "/secrets/{name}", _SECRETS, "Forget a secret.", _remove_secret, status=204, verb="secrets rm",
           problems=("unknown-secret",)),
    _route("GET", "/outputs", _LOGS, "The outputs of the service; sensitive ones are not shown.", _outputs,
           answers=(OutputsData,), verb="output"),
    _route("GET", "/outputs/{name}", _LOGS, "One output.", _outputs, answers=(OutputsData,), verb="output",
           problems=("unknown-output", "not-deployed", "no-value")),
    _route("GET", "/diff", _PLAN, "What differs between what is deployed and a service.", _diff, query=DiffQuery,
           answers=(DiffData,), verb="diff",
           problems=("unknown-package", "not-deployed", "invalid", "plan-refused", "unknown-environment")),
    _route("GET", "/notifications", _READ, "What was told to the ensemble, and what came of it.", _notices,
           answers=(NoticesData,)),
    _route("POST", "/notifications", _OPERATE, "Tell that something has happened.", _notify, body=NewNotice,
           answers=(NoticeStored,), status=202, keyed=True, verb="notify",
           problems=("unknown-name", "not-deployed", "bad-value", "several-instances", "no-instance")),
    _route("GET", "/state", _RECORDS, "The records of instances, deleted ones included.", _state, query=StateQuery,
           answers=(RecordsData,), verb="state show", problems=("unknown-name", "ambiguous-name")),
    _route("POST", "/replay", _RECORDS, "Compare what is recorded with the records of all jobs, or rebuild it.",
           _replay, query=ReplayQuery, answers=(ReplayData,), keyed=True, verb="jobs replay",
           problems=("locked", "unfinished-job")),
    _route("POST", "/unlock", _RECORDS, "Remove the lock that clones share, if its holder is gone.", _unlock,
           answers=(UnlockedData,), keyed=True, verb="jobs unlock", problems=("no-shared-lock", "locked")),
    _route("POST", "/hosts/check", _OPERATE, "Connect to hosts of the inventory, and see what they have.",
           _check_hosts, body=HostNames, answers=(CheckedHostsData,), keyed=True, verb="hosts check",
           problems=("unknown-host", "no-hosts", "no-inventory", "broken-pool", "invalid")),
    _route("POST", "/hosts/release", _RECORDS, "Take hosts back from instances that nobody can undeploy.",
           _release_hosts, body=HostNames, answers=(ReleasedHostsData,), keyed=True, verb="hosts release",
           problems=("unknown-host", "no-hosts", "no-inventory", "broken-pool", "host-in-use", "invalid")),
)  # fmt: skip
