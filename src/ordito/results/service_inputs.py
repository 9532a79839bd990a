"""What a service takes that an ensemble is to deploy: its inputs, their values so far, what is wrong with others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from ordito.app.inputs.bound import bind_given, secret_inputs
from ordito.app.inputs.gathered import GatheredInputs, gather_inputs
from ordito.app.inputs.used_spec import UsedSpec, use_spec
from ordito.app.inputs.variables import evaluation_of
from ordito.app.place import place_of
from ordito.app.requests import ChoiceOptions, GivenInputs
from ordito.app.services.chosen import circumstances_of
from ordito.app.services.read import read_service
from ordito.app.services.step_blocks import StepSources
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostic, Diagnostics, Severity
from ordito.base.sensitive import SHOWN, shown
from ordito.ensemble.store import read_ensemble
from ordito.instances.static_values import check_static_values
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.planning.checks import check_operation_inputs
from ordito.results.answer import Asked, ResultData, UseCase
from ordito.results.findings import FindingData, findings_data
from ordito.results.packaged import PackageInput
from ordito.results.packages import inputs_of


class ServiceInput(msgspec.Struct, frozen=True):
    """An input of a service, as an ensemble has it."""

    input: PackageInput
    value: object
    """Its value if nothing is given for it, without secrets; null for none, or where it cannot be told."""

    remembered: bool
    """Whether that is what an earlier command has given."""

    written: bool
    """Whether the user's part of the ensemble says it."""

    findings: tuple[FindingData, ...]
    """What is wrong with its value."""


class ServiceInputsData(ResultData, frozen=True, tag="ordito.service-inputs/1"):
    """What a service takes, with the values that it would be deployed with."""

    service: str
    environment: str
    environments: tuple[str, ...]
    """All that there are."""

    inputs: tuple[ServiceInput, ...]
    valid: bool
    """Whether it can be deployed with these values, as far as that can be seen before planning."""

    diagnostics: tuple[FindingData, ...]
    """What is wrong besides."""


class ServiceInputsAsked(Asked, frozen=True, kw_only=True):
    """About the inputs of a service."""

    service: str = ""
    """The path of the service, "" for that of the ensemble."""

    environment: str | None = None
    """None for the one in which the ensemble is deployed, else the first."""

    inputs: Mapping[str, object] = {}
    """Values that are to be given."""

    input_texts: Mapping[str, str] = {}
    """Values as on a command line: the type of an input says what they mean."""

    forget: tuple[str, ...] = ()
    """Inputs whose values of earlier commands are to be forgotten."""


def _service_inputs(directory: str, asked: ServiceInputsAsked) -> ServiceInputsData:
    place, found = place_of(directory), Diagnostics()
    with read_ensemble(directory) as ensemble:
        status = ensemble.status
        used = use_spec(place, ensemble.snapshot, status, asked.environment)
    environment = used.environment
    # What a secret holds is looked up when it is planned.
    known = {name: value for name, value in asked.inputs.items() if not _is_secret(value)}
    given = GivenInputs(texts=dict(asked.input_texts), values=known, forgotten=asked.forget)
    gathered = gather_inputs(environment, status.given, given, evaluation_of(place, found, environment), found)
    circumstances = circumstances_of(ChoiceOptions(), gathered.values, status.choices, found, final=False)
    path = asked.service or used.user.service_path(place.layout, place.shown)
    with paused_collector():
        sources = StepSources(project=directory, looked_past=True)
        read = read_service(path, found, circumstances=circumstances, sources=sources)
    service = read.service
    bound = bind_given(service, gathered, found, had=None)
    secrets = asked.inputs.keys() - known.keys()
    missing = {service.inputs[name].span for name in secrets if name in service.inputs}
    found = _without(found, missing)
    if not found.has_errors and not secrets:
        check_static_values(service, bound.inputs, found)
        check_operation_inputs(service, bound.inputs, found)
    return _told(used, service, gathered, bound.inputs, found)


def _is_secret(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"secret"}


def _without(found: Diagnostics, places: Collection[object]) -> Diagnostics:
    """The findings but for those that inputs at some places have no value."""
    kept = Diagnostics()
    kept.extend(one for one in found if not (one.code == MISSING and one.span in places))
    return kept


MISSING = "missing-input"


def _told(
    used: UsedSpec, service: Service, gathered: GatheredInputs, bound: Mapping[str, object], found: Iterable[Diagnostic]
) -> ServiceInputsData:
    of_input: dict[str, list[Diagnostic]] = {name: [] for name in service.inputs}
    places = {f"{one.span}": name for name, one in service.inputs.items() if one.span is not None}
    rest: list[Diagnostic] = []
    all_found = list(found)
    for one in all_found:
        name = _about(one, places)
        of_input.get(name, rest).append(one)
    hidden = {*secret_inputs(service, gathered), *_hidden(service)}
    declared = {one.name: one for one in inputs_of(service)}
    return ServiceInputsData(
        service=service.name,
        environment=used.environment.name,
        environments=tuple(used.user.environments.by_name),
        inputs=tuple(
            ServiceInput(
                declared[name],
                SHOWN if name in hidden and name in gathered.values else _plain(name, gathered, bound),
                name in gathered.kept,
                name in gathered.written,
                findings_data(of_input[name]),
            )
            for name in service.inputs
        ),
        valid=not any(one.severity is Severity.ERROR for one in all_found),
        diagnostics=findings_data(one for one in rest if one.severity is not Severity.NOTE),
    )


def _about(found: Diagnostic, places: Mapping[str, str]) -> str:
    """The input that a finding is about, "" for none."""
    if found.severity is not Severity.ERROR or found.span is None:
        return ""
    _, is_given, name = found.span.source.name.partition(GIVEN)
    return name if is_given else places.get(f"{found.span}", "")


GIVEN = "-i "
"""How values that are given to inputs are called where findings are about them, before the name of the input."""


def _hidden(service: Service) -> Iterable[str]:
    marks = Marks(service.data_types)
    return (name for name, one in service.inputs.items() if marks.of(one) is not None)


def _plain(name: str, gathered: GatheredInputs, bound: Mapping[str, object]) -> object:
    """The value of an input that nothing is given for now."""
    return None if name in gathered.asked or name not in gathered.values else shown(bound.get(name))


SERVICE_INPUTS = UseCase("service inputs", ServiceInputsAsked, (ServiceInputsData,), _service_inputs)
