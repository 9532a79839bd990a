"""What a command asks a server to do: the request of its workflow as the API takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import sendable
from ordito.app.requests import GivenInputs, Request, RetryRequest, TemplateWorkflowRequest, UpgradeRequest
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.options import Option, declared
from ordito.base.portion import Portion
from ordito.client.looks import RemoteEnsemble
from ordito.results.given import ComparedData
from ordito.work.options import USUAL, JobOptions

LOCAL = frozenset({"fetch", "node_id"})
"""The fields of requests that a server does not take, besides all paths of files."""

LOCAL_OPTIONS = frozenset({"commit"})
"""The same of the options of a job: whether files are committed is said by the ensemble."""


def asked_request(request: Request, package: str = "") -> dict[str, object]:
    """The request as plain data: its fields by the names of their options. ``package`` is the digest of the service
    that was sent. Raises ``Refused`` for what names files of this machine."""
    if isinstance(request, RetryRequest):
        return _retry(request)
    is_own = isinstance(request, TemplateWorkflowRequest)
    found: dict[str, object] = {"workflow": "workflow" if is_own else request.WORKFLOW}
    found.update(_fields(request))
    found.pop("service", None)
    given = getattr(request, "inputs", None)
    if isinstance(given, GivenInputs) and not given.is_empty:
        diagnostics = Diagnostics()
        values, texts = sendable(given, diagnostics)
        if diagnostics.errors:
            raise InvalidDocument(diagnostics)
        found.update({name: what for name, what in (("inputs", values), ("input_texts", texts)) if what})
    if package:
        found["package"] = package
    return found


def compared(ensemble: RemoteEnsemble, request: UpgradeRequest, package: str, environment: str | None) -> ComparedData:
    """What differs between what is deployed and a service, whose package is named. Raises ``ServerError``."""
    asked = asked_request(request, package)
    body = {"request": {name: value for name, value in asked.items() if name != "workflow"}, "environment": environment}
    return ensemble.connection.do("POST", f"{ensemble.path}/diff", ComparedData, body)


def _retry(request: RetryRequest) -> dict[str, object]:
    if request.by_hand:
        return {"workflow": "skip", "job": request.job, "step": request.by_hand}
    found: dict[str, object] = {"workflow": "retry", "job": request.job}
    if request.may_lose:
        found["allow_data_loss"] = list(request.may_lose)
    return found


def _fields(options: msgspec.Struct) -> Iterator[tuple[str, object]]:
    """The fields that have another value than they have where nothing is said, those of groups too."""
    for field in declared(type(options)):
        value = getattr(options, field.name)
        if field.group is not None:
            yield from _fields(value)
        elif field.by is not None and value != field.default and field.name != "service":
            flag = field.by.flag if isinstance(field.by, Option) else field.name
            if field.by.is_path or field.name in LOCAL:
                hint = "leave it out; what it names must be in the package, or in the ensemble"
                raise Refused("local-only", f"{flag} is not for servers: it is about this machine", hint)
            name = flag.lstrip("-").replace("-", "_")
            yield name, str(value) if field.kind is Portion else msgspec.to_builtins(value)


def asked_options(options: JobOptions) -> Mapping[str, object]:
    """How the job is to run, as far as it is said."""
    usual = JobOptions(on_failure=USUAL)
    values = msgspec.structs.asdict(options)
    given = {name: value for name, value in values.items() if value != getattr(usual, name)}
    if local := LOCAL_OPTIONS & given.keys():
        hint = "leave it out: the ensemble says whether its files are committed"
        raise Refused("local-only", f"--{min(local)} is not for servers", hint)
    return given
