"""Routes about what the service of an ensemble takes: its inputs, their values, and what is wrong with others."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ordito.results.service_inputs import SERVICE_INPUTS, ServiceInputsAsked, ServiceInputsData
from ordito.server.call import ApiCall
from ordito.server.packages import package_named, package_path, seen_from_ensemble
from ordito.server.permissions import Permission
from ordito.server.plans.asked import Inputs, InputTexts
from ordito.server.route import Fields, Reply
from ordito.server.routes.by_process import ask_process, ensemble_route, reads_of_call


class InputsQuery(Fields, frozen=True):
    """Of which service the inputs are wanted."""

    package: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A package of the project, by its digest or a label; "" for what the ensemble is made of."""

    environment: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """The environment, null for the one that the ensemble is in."""


class InputsGiven(InputsQuery, frozen=True):
    """Values that a service would be deployed with, besides those that the ensemble has."""

    inputs: Inputs = msgspec.field(default_factory=dict)
    input_texts: InputTexts = msgspec.field(default_factory=dict)
    forget_input: tuple[str, ...] = ()
    """Inputs whose values of earlier commands are to be forgotten."""


async def _inputs(call: ApiCall) -> Reply:
    return await _with(call, call.query, ServiceInputsAsked(environment=call.query.environment))


async def _check(call: ApiCall) -> Reply:
    given: InputsGiven = call.body
    asked = ServiceInputsAsked(
        environment=given.environment,
        inputs=given.inputs,
        input_texts=given.input_texts,
        forget=given.forget_input,
    )
    return await _with(call, given, asked)


async def _with(call: ApiCall, of: InputsQuery, asked: ServiceInputsAsked) -> Reply:
    reads = await reads_of_call(call)
    if of.package:
        digest = await call.services.database.read(lambda c: package_named(c, call.project, of.package))
        path = package_path(call.services.home, digest)
        asked = msgspec.structs.replace(asked, service=seen_from_ensemble(path, reads[0]))
        reads = (*reads, str(path))
    return Reply(await ask_process(call, SERVICE_INPUTS, asked, reads))


_PROBLEMS = ("unknown-package", "unknown-environment", "file-not-found", "invalid")

TABLE = (
    ensemble_route("GET", "/inputs", Permission.PLAN,
                   "The inputs of the service, with the values that it would be deployed with.",
                   _inputs, query=InputsQuery, answers=(ServiceInputsData,), problems=_PROBLEMS),
    ensemble_route("POST", "/inputs/check", Permission.PLAN, "The same with other values, and what is wrong with them.",
                   _check, body=InputsGiven, answers=(ServiceInputsData,), problems=_PROBLEMS),
)  # fmt: skip
