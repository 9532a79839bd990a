"""Show the evaluated user's part of an ensemble, in the chosen environment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.inputs.bound import secret_inputs
from ordito.app.inputs.environments import Environment
from ordito.app.inputs.gathered import GatheredInputs, gather_inputs, plain
from ordito.app.inputs.sources import kind_of
from ordito.app.inputs.used_spec import UsedSpec, use_spec
from ordito.app.inputs.variables import evaluation_of, variables_of
from ordito.app.place import place_of
from ordito.app.requests import GivenInputs
from ordito.app.services.chosen import weighed
from ordito.app.services.read import read_service
from ordito.app.services.step_blocks import StepSources
from ordito.base.allowable import EVERY
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.base.sensitive import SHOWN, shown
from ordito.ensemble.store import read_ensemble
from ordito.model.circumstances import Circumstances
from ordito.model.inputs import bind_inputs, is_sensitive
from ordito.model.service import Service
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence

REMEMBERED = "given with an earlier command"


class SpecRequest(msgspec.Struct, frozen=True):
    """The ensemble, and the environment, None if the command names none."""

    directory: str
    environment: str | None = None


class Shown(msgspec.Struct, frozen=True):
    """A value without secrets, and where it comes from."""

    value: object
    origin: str


class SpecResult(msgspec.Struct, frozen=True):
    """The evaluated user's part. ``variables`` are those of operations, including properties of connections, ``files``
    the merged files. ``found`` are the diagnostics: if there are errors, a part is missing."""

    service: str
    environment: str
    environments: tuple[str, ...]
    inputs: Mapping[str, Shown]
    variables: Mapping[str, object]
    lock: str
    files: tuple[str, ...]
    found: tuple[Diagnostic, ...]


def show_spec(request: SpecRequest) -> SpecResult:
    """Evaluate the user's part; changes nothing. Secrets, and inputs that are declared sensitive, are masked.

    Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with read_ensemble(request.directory) as ensemble:
        used = use_spec(place, ensemble.snapshot, ensemble.status, request.environment)
        remembered = dict(ensemble.status.given)
    environment, found = used.environment, Diagnostics()
    gathered = gather_inputs(environment, remembered, GivenInputs(), evaluation_of(place, found, environment), found)
    service = _service(used, gathered)
    typed = _typed(gathered, service)
    hidden = _hidden(gathered, service)
    variables: Mapping[str, object] = {}
    if service is not None:
        variables = variables_of(place, environment, service, found)
    else:
        # What is typed by the service cannot be checked without it; everything else can be said.
        variables = variables_of(place, _untyped(environment), Service("", "", (), {}, {}, {}, {}, {}, {}), found)
    return SpecResult(
        service=used.user.service,
        environment=environment.name,
        environments=tuple(used.user.environments.by_name),
        inputs={name: _shown(name, gathered, typed, hidden) for name in gathered.values},
        variables={name: shown(value) for name, value in sorted(variables.items())},
        lock=environment.section.lock or "none",
        files=used.user.files,
        found=tuple(weighed(d) for d in found),
    )


def _service(used: UsedSpec, gathered: GatheredInputs) -> Service | None:
    """The service, if it can be read: only it says which inputs are sensitive."""
    if used.user.service:
        with suppress(InvalidDocument):
            path = used.user.service_path(used.place.layout, used.place.shown)
            circumstances = Circumstances(inputs=gathered.values, allowed=EVERY)
            sources = StepSources(looked_past=True)
            return read_service(path, Diagnostics(), circumstances=circumstances, sources=sources).service
    return None


def _hidden(gathered: GatheredInputs, service: Service | None) -> Collection[str]:
    """The inputs that are not shown: secret ones; without a service, all that are not written literally."""
    if service is None:
        return {name for name in gathered.values if not _stands(gathered.written.get(name))}
    declared = {name for name, definition in service.inputs.items() if is_sensitive(definition)}
    return secret_inputs(service, gathered) | declared


def _typed(gathered: GatheredInputs, service: Service | None) -> Mapping[str, object]:
    """The inputs that fit their declarations, with their types, and with sensitive parts wrapped."""
    if service is None:
        return {}
    bound = bind_inputs(service, gathered.values, Diagnostics(), quiet=secret_inputs(service, gathered))
    return {name: value for name, value in bound.items() if value is not None}


def _stands(node: Node | None) -> bool:
    """Whether a value is written literally in the file."""
    if node is None or kind_of(node):
        return False
    if isinstance(node, Scalar):
        return "{{" not in node.text and "{%" not in node.text
    parts = node.items if isinstance(node, Sequence) else list(node.values.values())
    return all(_stands(part) for part in parts)


def _untyped(environment: Environment) -> Environment:
    section = environment.section
    connections = {n: c for n, c in section.connections.items() if not c.type}
    return msgspec.structs.replace(environment, section=msgspec.structs.replace(section, connections=connections))


def _shown(name: str, gathered: GatheredInputs, typed: Mapping[str, object], hidden: Collection[str]) -> Shown:
    node = gathered.written.get(name)
    origin = REMEMBERED if name in gathered.kept or node is None else str(node.span)
    if name in hidden:
        return Shown(SHOWN, origin)
    if name in typed:
        return Shown(shown(typed[name]), origin)
    value = gathered.values[name]
    return Shown(plain(value) if isinstance(value, Scalar | Sequence | MappingNode) else shown(value), origin)
