"""Workflows that are written in a language which nothing here processes."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics
from ordito.executors.processors import GROUP, command_for
from ordito.model.service import Service
from ordito.planning.artifact_workflows import processor_of


def warn_of_unprocessed(service: Service, diagnostics: Diagnostics) -> None:
    """Warn of workflows that nobody can run here; all others are none the worse for them (R-7.3.8-2)."""
    for workflow in service.workflows.values():
        artifact = workflow.implementation
        if artifact is not None and not processor_of(artifact, lambda kinds: command_for(kinds[0]) is not None):
            diagnostics.warning(
                "no-processor",
                f'nothing here carries out workflow "{workflow.name}": {artifact.file} is of type {artifact.kinds[0]}',
                workflow.span,
                hint=f"install a processor for it (entry point group {GROUP}), or write it in steps or as a script",
            )
