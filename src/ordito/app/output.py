"""Show the outputs of the service as the last job left them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.gate import no_ensemble
from ordito.app.place import place_of
from ordito.base.diagnostics import suggestion
from ordito.ensemble.store import read_ensemble


class OutputRequest(msgspec.Struct, frozen=True):
    """Which ensemble, and which output; "" for all."""

    directory: str
    name: str = ""


class OutputResult(msgspec.Struct, frozen=True):
    """The outputs asked for, by name; None for those without a value."""

    outputs: Mapping[str, object]


def output(request: OutputRequest) -> OutputResult:
    """Look at the outputs. Raises ``Refused`` where there is no ensemble or no such output, and ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    with read_ensemble(request.directory) as ensemble:
        outputs = ensemble.status.outputs
    if not request.name:
        return OutputResult(outputs)
    if request.name not in outputs:
        raise Refused("unknown-output", f'there is no output "{request.name}"', suggestion(request.name, outputs))
    if outputs[request.name] is None:
        raise Refused(
            "no-value",
            f'output "{request.name}" has no value now',
            next_words=("status",),
            purpose="see whether what it comes from exists",
        )
    return OutputResult({request.name: outputs[request.name]})
