"""Routes about what an ensemble is given, and what it gives: its spec, inventory, secrets, notices, outputs, files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, func, select

from ordito.app.given_files import ANY, digest_of
from ordito.ensemble.job_format import moment
from ordito.results.answer import Asked, UseCase
from ordito.results.diff import DiffData
from ordito.results.given import (
    DIFF,
    INVENTORY,
    INVENTORY_CHECK,
    INVENTORY_SET,
    NOTICES,
    NOTIFY,
    OUTPUTS,
    SECRET_REMOVE,
    SECRET_SET,
    SECRETS,
    SPEC_CHECK,
    SPEC_SET,
    SPEC_SHOWN,
    CheckedText,
    ComparedData,
    DiffAsked,
    GivenText,
    NoticeAsked,
    NoticesData,
    NoticeStored,
    OutputAsked,
    OutputsData,
    SecretAsked,
    SecretNameAsked,
    TextAsked,
)
from ordito.results.records import LastSetData, SecretNamesData
from ordito.server.call import ApiCall, tag_of, tagged
from ordito.server.database.audit import DONE
from ordito.server.database.tables import AUDIT
from ordito.server.packages import package_named, package_path, seen_from_ensemble
from ordito.server.permissions import Permission
from ordito.server.plans.asked import ASKED_ROLLBACK, ASKED_UPGRADE, request_of
from ordito.server.route import NOT_IN_STORE, Fields, Handler, Reply
from ordito.server.routes.by_process import ask_process, ensemble_route, let_process, reads_of_call


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

    input_texts: Mapping[str, str] = {}
    """Values as on a command line: the attribute that they go to says what they mean."""


class Comparing(Fields, frozen=True):
    """What the ensemble is compared with: what upgrading it to a service would do."""

    request: ASKED_UPGRADE = ASKED_UPGRADE()
    environment: str | None = None
    """null for the environment of the ensemble."""


class DiffQuery(Fields, frozen=True):
    """What the ensemble is compared with."""

    to: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A package of the project, by its digest or a label; the number of an earlier revision; "" for what the ensemble
    is made of."""

    environment: str | None = None


# ------------------------------------------------------------------------------------------------ spec and inventory


def _text(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        return tagged(msgspec.json.decode(await ask_process(call, use_case, Asked()), type=GivenText))

    return handler


def _replace(read: UseCase[Any, Any], write: UseCase[Any, Any], action: str) -> Handler:
    """A handler that replaces a text which is as who asks has seen it."""

    async def handler(call: ApiCall) -> Reply:
        now = msgspec.json.decode(await ask_process(call, read, Asked()), type=GivenText)
        call.must_match(now)
        seen = ANY if call.headers.get("if-match") == "*" else digest_of(now.text)
        reply = await let_process(call, write, TextAsked(call.body.text, seen), action)
        return msgspec.structs.replace(reply, headers={**reply.headers, "ETag": tag_of(GivenText(call.body.text))})

    return handler


def _check(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        return Reply(await ask_process(call, use_case, TextAsked(call.body.text)))

    return handler


# ------------------------------------------------------------------------------------------------------------ secrets


async def _secrets(call: ApiCall) -> Reply:
    found = msgspec.json.decode(await ask_process(call, SECRETS, Asked()), type=SecretNamesData)
    known = await call.services.database.read(partial(_last_set, project=call.project, ensemble=call.ensemble))
    last = {name: known[name] for name in found.secrets if name in known}
    return Reply(msgspec.structs.replace(found, last=last) if last else found)


SET, REMOVED = "secret.set", "secret.remove"


def _last_set(connection: Connection, *, project: str, ensemble: str) -> dict[str, LastSetData]:
    """Who has set each secret last, as the audit log says; those that were removed since are not among them."""
    here = (AUDIT.c.project == project) & (AUDIT.c.ensemble == ensemble) & (AUDIT.c.outcome == DONE)
    newest = select(func.max(AUDIT.c.number)).where(here, AUDIT.c.action.in_((SET, REMOVED))).group_by(AUDIT.c.object)
    rows = connection.execute(select(AUDIT).where(AUDIT.c.number.in_(newest)))
    return {row.object: LastSetData(row.principal, moment(row.time)) for row in rows if row.action == SET}


async def _set_secret(call: ApiCall) -> Reply:
    name, given = call.path["name"], call.body
    return await let_process(call, SECRET_SET, SecretAsked(name, given.value), SET, about=name)


async def _remove_secret(call: ApiCall) -> Reply:
    name = call.path["name"]
    return await let_process(call, SECRET_REMOVE, SecretNameAsked(name), REMOVED, about=name)


# --------------------------------------------------------------------------------------------------- what it gives out


async def _outputs(call: ApiCall) -> Reply:
    return Reply(await ask_process(call, OUTPUTS, OutputAsked(call.path.get("name", ""))))


class _Compared(msgspec.Struct):
    diff: msgspec.Raw


LONGEST_NUMBER = 9
"""How many digits the number of a revision has at most; the digest of a package has many more."""


async def _diff(call: ApiCall) -> Reply:
    fields: DiffQuery = call.query
    if fields.to.isdecimal() and len(fields.to) <= LONGEST_NUMBER:
        wanted = ASKED_ROLLBACK(revision=int(fields.to))
    else:
        wanted = ASKED_UPGRADE(package=fields.to)
    body = await _differences(call, wanted, fields.environment)
    return Reply(bytes(msgspec.json.decode(body, type=_Compared).diff))


async def _compare(call: ApiCall) -> Reply:
    given: Comparing = call.body
    return Reply(await _differences(call, given.request, given.environment))


async def _differences(call: ApiCall, wanted: Any, environment: str | None) -> bytes:
    asked, reads = request_of(wanted, environment), await reads_of_call(call)
    if package := getattr(wanted, "package", ""):
        digest = await call.services.database.read(lambda c: package_named(c, call.project, package))
        path = package_path(call.services.home, digest)
        service = seen_from_ensemble(path, reads[0])
        asked = msgspec.structs.replace(asked, fields={**asked.fields, "service": service})
        reads = (*reads, str(path))
    return await ask_process(call, DIFF, DiffAsked(asked), reads)


# ------------------------------------------------------------------------------------------------------------ notices


async def _notices(call: ApiCall) -> Reply:
    return Reply(await ask_process(call, NOTICES, Asked()))


async def _notify(call: ApiCall) -> Reply:
    given: NewNotice = call.body
    asked = NoticeAsked(given.entity, given.event, given.values, given.input_texts)
    reply = await let_process(call, NOTIFY, asked, "notice.put", about=f"{given.entity} {given.event}")
    # Where something is frozen, or somebody works on the ensemble, it waits.
    await call.services.notices.handle(call.project, call.ensemble)
    return reply


_route = ensemble_route
_DIFF = ("unknown-package", "not-deployed", "invalid", "plan-refused", "unknown-environment", "bad-request")
_MATCH = ("changed", "match-required", "invalid", "locked", "too-large", "encoding")

_READ, _CONFIGURE, _PLAN = Permission.READ, Permission.CONFIGURE, Permission.PLAN
_SECRETS, _LOGS, _OPERATE = Permission.SECRETS, Permission.LOGS, Permission.OPERATE

TABLE = (
    _route("GET", "/spec", _READ, "The user's part of `ensemble.yaml`, byte for byte but for sensitive inputs.",
           _text(SPEC_SHOWN),
           answers=(GivenText,)),
    _route("PUT", "/spec", _CONFIGURE, "Replace the user's part; with errors nothing is written.",
           _replace(SPEC_SHOWN, SPEC_SET, "spec.set"), body=NewText, answers=(CheckedText,),
           problems=(NOT_IN_STORE, *_MATCH, "bad-spec", "plain-credential")),
    _route("POST", "/spec/check", _PLAN, "What would be found about a user's part.", _check(SPEC_CHECK), body=NewText,
           answers=(CheckedText,), problems=("bad-spec", "plain-credential")),
    _route("GET", "/inventory", _READ, "The inventory in the ensemble's directory, empty for none.",
           _text(INVENTORY), answers=(GivenText,)),
    _route("PUT", "/inventory", _CONFIGURE, "Replace the inventory; with errors nothing is written.",
           _replace(INVENTORY, INVENTORY_SET, "inventory.set"), body=NewText, answers=(CheckedText,),
           problems=(NOT_IN_STORE, *_MATCH, "plain-credential")),
    _route("POST", "/inventory/check", _PLAN, "What would be found about an inventory.", _check(INVENTORY_CHECK),
           body=NewText, answers=(CheckedText,), problems=("plain-credential",)),
    _route("GET", "/secrets", _READ, "The names of the secrets.", _secrets, answers=(SecretNamesData,),
           verb="secrets list"),
    _route("PUT", "/secrets/{name}", _SECRETS, "Keep a secret; it is sealed, and never given back.", _set_secret,
           body=Secret, status=204, verb="secrets set", problems=(NOT_IN_STORE, "bad-name")),
    _route("DELETE", "/secrets/{name}", _SECRETS, "Forget a secret.", _remove_secret, status=204, verb="secrets rm",
           problems=(NOT_IN_STORE, "unknown-secret")),
    _route("GET", "/outputs", _LOGS, "The outputs of the service; sensitive ones are not shown.", _outputs,
           answers=(OutputsData,), verb="output"),
    _route("GET", "/outputs/{name}", _LOGS, "One output.", _outputs, answers=(OutputsData,), verb="output",
           problems=("unknown-output", "not-deployed", "no-value")),
    _route("GET", "/diff", _PLAN, "What differs between what is deployed and a package or a revision.", _diff,
           query=DiffQuery, answers=(DiffData,),
           problems=(*_DIFF, "unknown-revision", "no-revision", "unfinished-job")),
    _route("POST", "/diff", _PLAN, "The same, with all that can be said of an upgrade. Nothing is changed.", _compare,
           body=Comparing, answers=(ComparedData,), verb="diff", problems=_DIFF),
    _route("GET", "/notifications", _READ, "What was told to the ensemble, and what came of it.", _notices,
           answers=(NoticesData,)),
    _route("POST", "/notifications", _OPERATE, "Tell that something has happened.", _notify, body=NewNotice,
           answers=(NoticeStored,), status=202, keyed=True, verb="notify",
           problems=(NOT_IN_STORE, "unknown-name", "not-deployed", "bad-value", "several-instances", "no-instance")),
)  # fmt: skip
