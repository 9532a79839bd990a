"""Check a service, and the inputs given with it. Needs no ensemble and changes nothing."""

from __future__ import annotations

import msgspec

from ordito.app.inputs.bound import secret_inputs
from ordito.app.inputs.environments import Environment
from ordito.app.inputs.gathered import GatheredInputs
from ordito.app.place import Place
from ordito.app.requests import ChoiceOptions, GivenInputs
from ordito.app.services.chosen import check_choices, chosen_service, circumstances_of, weighed
from ordito.app.services.files import check_files
from ordito.app.services.read import ReadService, network, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.app.unsupported import check_supported
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.instances.static_values import check_static_values
from ordito.model.choices import Choices
from ordito.model.inputs import bind_inputs
from ordito.model.service import Service
from ordito.planning.checks import check_operation_inputs
from ordito.planning.lossy_steps import check_service
from ordito.source.package import About
from ordito.work.options import HookOptions

MISSING_INPUT = "missing-input"


class ValidateRequest(msgspec.Struct, frozen=True):
    """The service to check."""

    service: str = ""
    """A definitions file or a folder; "" for the service of the ensemble in ``directory``, or without an ensemble the
    one in the directory itself."""

    inputs: GivenInputs = GivenInputs()
    """Values to check against its inputs."""

    directory: str = "."
    strict: bool = False
    """Whether warnings are errors."""

    fetch: bool = False
    """Whether URLs that it names are fetched."""

    choices: ChoiceOptions = ChoiceOptions()
    """What is chosen where it leaves a choice."""

    environment: str | None = None
    """The environment whose inputs are bound, None for the first."""

    hosts: str | None = None
    """The inventory, None for that of each environment."""

    hooks: HookOptions = HookOptions()
    """Where lifecycle steps and their blocks are."""

    shown: str = ""
    """How messages call the service if it is an archive, "" for its path."""


class ValidateResult(msgspec.Struct, frozen=True):
    """A service without errors; ``diagnostics`` are warnings and notes. ``about`` is the metadata of a CSAR."""

    name: str
    nodes: int
    relationships: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    about: About | None = None
    language: str = ""
    """The version of another language than TOSCA that it is written in."""


def validate(request: ValidateRequest) -> ValidateResult:
    """Check a service. Raises ``InvalidDocument`` with all errors of the service and of the inputs."""
    diagnostics = Diagnostics()
    with paused_collector():
        chosen = chosen_service(request.service, request.directory, diagnostics, request.inputs, request.environment)
        circumstances = circumstances_of(request.choices, chosen.inputs.values, Choices(), diagnostics, final=False)
        sources = StepSources(request.hooks.catalogs, request.hooks.lifecycle, request.directory)
        read = read_service(chosen.path, diagnostics, network(request.fetch), circumstances, sources, request.shown)
        service = read.service
        check_choices(request.choices, service, diagnostics)
        check_files(read, diagnostics, required=False)
        check_service(service, diagnostics)
        for within in (chosen.chosen, *chosen.others()):
            diagnostics.extend(within.found)
            _check_inputs(service, within.inputs, diagnostics)
            if chosen.place is not None:
                _check_variables(chosen.place, within.environment, service, diagnostics)
                _check_hosts(chosen.place, within.environment, request.hosts, read, diagnostics)
        _tell_what_is_not_carried_out(service, diagnostics)
    found = diagnostics.sorted()
    if request.strict:
        # What its author has allowed stays so.
        found = [d if d.code in diagnostics.allowed else _weighed(d) for d in found]
    if any(d.severity is Severity.ERROR for d in found):
        raise InvalidDocument(found)
    return ValidateResult(
        service.name,
        len(service.nodes),
        sum(len(node.requirements) for node in service.nodes.values()),
        tuple(service.inputs),
        tuple(service.outputs),
        tuple(found),
        read.package.about,
        service.language,
    )


def _tell_what_is_not_carried_out(service: Service, diagnostics: Diagnostics) -> None:
    """Add notes about what is valid, but will be refused or warned about by planning."""
    found = Diagnostics()
    check_supported(service, found)
    diagnostics.extend(msgspec.structs.replace(d, severity=Severity.NOTE) for d in found)


def _weighed(found: Diagnostic) -> Diagnostic:
    """A finding in strict mode, in which warnings are errors."""
    if found.severity is not Severity.WARNING:
        return found
    return msgspec.structs.replace(found, severity=Severity.ERROR)


def _check_variables(place: Place, environment: Environment, service: Service, diagnostics: Diagnostics) -> None:
    """Check the variables and connections of an environment."""
    from ordito.app.inputs.variables import variables_of

    found = Diagnostics()
    variables_of(place, environment, service, found)
    diagnostics.extend(map(weighed, found))


def _check_hosts(
    place: Place, environment: Environment, hosts: str | None, read: ReadService, diagnostics: Diagnostics
) -> None:
    """Check the inventory of an environment, except values that refer to other places."""
    from ordito.app.inputs.inventory import find_inventory, read_inventory
    from ordito.app.plugins import plugins_of
    from ordito.app.services.existing_hosts import warn_of_unheeded

    file = find_inventory(place, environment, hosts, "", diagnostics)
    if file.path is None:
        return
    inventory = read_inventory(place, file, environment.name)
    try:
        providers = plugins_of(place.layout, inventory).providers
    except InvalidDocument:
        diagnostics.extend(inventory.diagnostics)
    else:
        warn_of_unheeded(inventory, providers, read, diagnostics)


def _check_inputs(service: Service, inputs: GatheredInputs, diagnostics: Diagnostics) -> None:
    """Check given values; an input without a value is no error of a service that is only checked."""
    found = Diagnostics()
    bound = bind_inputs(service, inputs.values, found, quiet=secret_inputs(service, inputs))
    if all(d.severity is not Severity.ERROR or d.code == MISSING_INPUT for d in found):
        check_static_values(service, bound, found)
        check_operation_inputs(service, bound, found)
    for diagnostic in found:
        if diagnostic.code == MISSING_INPUT:
            diagnostics.extend([msgspec.structs.replace(diagnostic, severity=Severity.NOTE)])
        else:
            diagnostics.extend([diagnostic])
