"""Reading the service that a command looks at and does nothing with, as far as its choices are made."""

from __future__ import annotations

from ordito.app.chosen import chosen_service
from ordito.app.circumstances import check_choices, circumstances_of
from ordito.app.given_choices import GivenChoices
from ordito.app.services import ReadService, network, read_service
from ordito.app.step_blocks import StepSources
from ordito.base.diagnostics import Diagnostics
from ordito.model.choices import Choices


def look_at(
    service: str, directory: str, choices: GivenChoices, diagnostics: Diagnostics, *, fetch: bool
) -> ReadService:
    """The service that is named, or that ``chosen_service`` finds. Raises ``InvalidDocument``."""
    chosen = chosen_service(service, directory, diagnostics)
    circumstances = circumstances_of(choices, chosen.inputs.values, Choices(), diagnostics, final=False)
    read = read_service(chosen.path, diagnostics, network(fetch), circumstances, StepSources(project=directory))
    check_choices(choices, read.service, diagnostics)
    return read
