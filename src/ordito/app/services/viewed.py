"""Reading the service that a command looks at and does nothing with, as far as its choices are made."""

from __future__ import annotations

from ordito.app.given_changes import GivenHooks
from ordito.app.given_choices import GivenChoices
from ordito.app.lifecycle_steps.blocks import StepSources
from ordito.app.services.chosen import chosen_service
from ordito.app.services.circumstances import check_choices, circumstances_of
from ordito.app.services.read import ReadService, network, read_service
from ordito.base.diagnostics import Diagnostics
from ordito.model.choices import Choices


def look_at(
    service: str,
    directory: str,
    choices: GivenChoices,
    diagnostics: Diagnostics,
    *,
    fetch: bool,
    hooks: GivenHooks | None = None,
) -> ReadService:
    """The service that is named, or that ``chosen_service`` finds; ``hooks`` say where lifecycle steps and their blocks
    are, None for who has nothing to do with them. Raises ``InvalidDocument``."""
    chosen = chosen_service(service, directory, diagnostics)
    circumstances = circumstances_of(choices, chosen.inputs.values, Choices(), diagnostics, final=False)
    sources = StepSources(project=directory, looked_past=True)
    if hooks is not None:
        sources = StepSources(hooks.catalogs, hooks.lifecycle, directory)
    read = read_service(chosen.path, diagnostics, network(fetch), circumstances, sources)
    check_choices(choices, read.service, diagnostics)
    return read
