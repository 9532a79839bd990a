"""Check a service, and the inputs given with it. Needs no ensemble and touches nothing."""

from __future__ import annotations

import msgspec

from ordito.app.collector import paused_collector
from ordito.app.inputs import GivenInputs, read_given
from ordito.app.services import check_files, read_service
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.model.inputs import bind_inputs
from ordito.model.service import Service

MISSING_INPUT = "missing-input"


class ValidateRequest(msgspec.Struct, frozen=True):
    """Which service: a definitions file or a folder; and values to check against its inputs."""

    service: str
    inputs: GivenInputs = GivenInputs()


class ValidateResult(msgspec.Struct, frozen=True):
    """A service without errors; ``diagnostics`` are warnings and notes."""

    name: str
    nodes: int
    relationships: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def validate(request: ValidateRequest) -> ValidateResult:
    """Check a service. Raises ``InvalidDocument`` with everything that is wrong with it or with the inputs."""
    diagnostics = Diagnostics()
    with paused_collector():
        read = read_service(request.service, diagnostics)
        service = read.service
        check_files(read, diagnostics, required=False)
        _check_inputs(service, request.inputs, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return ValidateResult(
        service.name,
        len(service.nodes),
        sum(len(node.requirements) for node in service.nodes.values()),
        tuple(service.inputs),
        tuple(service.outputs),
        tuple(diagnostics.sorted()),
    )


def _check_inputs(service: Service, given: GivenInputs, diagnostics: Diagnostics) -> None:
    """Check the values that are given; an input without a value is no fault of a service that is only looked at."""
    found = Diagnostics()
    bind_inputs(service, read_given(given, found), found)
    for diagnostic in found:
        if diagnostic.code == MISSING_INPUT:
            diagnostics.extend([msgspec.structs.replace(diagnostic, severity=Severity.NOTE)])
        else:
            diagnostics.extend([diagnostic])
