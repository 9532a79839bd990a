"""The resolved model of a service as plain data, for other programs."""

from __future__ import annotations

import msgspec

from ordito.app.given_changes import USUAL_HOOKS, GivenHooks
from ordito.app.given_choices import GivenChoices
from ordito.app.hidden_values import Hidden
from ordito.app.plain_data import plain_data
from ordito.app.services.files import check_files
from ordito.app.services.viewed import look_at
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.model.service import Relationship, Service

FORMAT = 1
"""The version of the form of what is compiled: it grows where a field changes its meaning or goes away."""

DEFINITIONS = frozenset({"definitions", "attribute_definitions"})


class CompileRequest(msgspec.Struct, frozen=True):
    """Which service (see ``chosen_service``); whether to say where everything stands (``positions``), and whether to
    leave out what types say about properties and attributes (``values_only``); whether what the service names by URLs
    is fetched; what is chosen where the service leaves a choice; and where lifecycle steps and their blocks are."""

    service: str = ""
    directory: str = "."
    positions: bool = False
    values_only: bool = False
    fetch: bool = False
    choices: GivenChoices = GivenChoices()
    hooks: GivenHooks = USUAL_HOOKS


class Compiled(msgspec.Struct, frozen=True):
    """A service without errors as plain data; ``diagnostics`` are warnings and notes, ``sources`` the files that it was
    read from."""

    data: dict[str, object]
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[str, ...] = ()


def compile_service(request: CompileRequest) -> Compiled:
    """Read a service and give its resolved model as plain data. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    with paused_collector():
        given, fetch = request.choices, request.fetch
        read = look_at(request.service, request.directory, given, diagnostics, fetch=fetch, hooks=request.hooks)
        check_files(read, diagnostics, required=False)
        data = compiled(read.service, positions=request.positions, values_only=request.values_only)
    return Compiled(data, tuple(diagnostics.sorted()), read.package.sources)


def compiled(service: Service, *, positions: bool = False, values_only: bool = False) -> dict[str, object]:
    """A resolved service as plain data: ``format``, and every field of ``Service`` and of what it holds. A
    relationship stands where its source has it; elsewhere its key does."""

    def leave(name: str, places: bool) -> bool:
        return (places and not positions) or (values_only and name in DEFINITIONS)

    return {"format": FORMAT, **plain_data(service, leave, {Relationship: "key"}, Hidden(service).instead)}
