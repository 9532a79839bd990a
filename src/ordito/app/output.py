"""Show the outputs of the service, evaluated from what exists now (R-3.9-4)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.place import Place, place_of
from ordito.app.services.in_use import service_as_it_runs
from ordito.base.diagnostics import suggestion
from ordito.base.sensitive import revealed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.store import Ensemble, read_ensemble
from ordito.instances.evaluate import Evaluator
from ordito.instances.topology_outputs import topology_outputs


class OutputRequest(msgspec.Struct, frozen=True):
    """The ensemble, and an output, "" for all. With ``reveal`` the sensitive value of a single output is given."""

    directory: str
    name: str = ""
    reveal: bool = False


class OutputResult(msgspec.Struct, frozen=True):
    """The wanted outputs by name; None for those without a value. ``caveat`` says why they are those of the last job,
    and not evaluated now."""

    outputs: Mapping[str, object]
    caveat: str = ""


def output(request: OutputRequest) -> OutputResult:
    """Show outputs. Raises ``Refused`` if there is no ensemble or no such output, and ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with read_ensemble(request.directory) as ensemble:
        outputs, problems, caveat = _outputs(place, ensemble)
        was_deployed = bool(ensemble.status.service or ensemble.unfinished)
    if not request.name:
        return OutputResult(outputs, caveat)
    if request.name not in outputs and not was_deployed:
        raise Refused(
            "not-deployed",
            f"nothing is deployed in {place.shown}, so there are no outputs yet",
            next_words=("deploy",),
            purpose="deploy it",
        )
    if request.name not in outputs:
        raise Refused("unknown-output", f'there is no output "{request.name}"', suggestion(request.name, outputs))
    if outputs[request.name] is None:
        raise Refused(
            "no-value",
            f'output "{request.name}" has no value now',
            problems.get(request.name, ""),
            next_words=("status",),
            purpose="see whether what it comes from exists",
        )
    found = outputs[request.name]
    return OutputResult({request.name: revealed(found) if request.reveal else found}, caveat)


def _outputs(place: Place, ensemble: Ensemble) -> tuple[Mapping[str, object], Mapping[str, str], str]:
    """The present outputs, why some could not be evaluated, and why none could: then they are those of the last job."""
    used, caveat = service_as_it_runs(place, ensemble)
    if used is None:
        return ensemble.status.outputs, {}, caveat
    counts = {**ensemble.status.counts, **(ensemble.unfinished.counts if ensemble.unfinished else {})}
    try:
        values, problems = topology_outputs(Evaluator(used.service, ensemble.snapshot, used.inputs), counts)
    except EnsembleError as error:
        # Something sensitive is needed for them, and cannot be opened here.
        return ensemble.status.outputs, {}, error.message
    return values, problems, ""
