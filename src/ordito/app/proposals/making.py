"""From a service that was read to a plan of a workflow."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.plugins import plugins_of
from ordito.app.proposal import Known
from ordito.app.services import ReadService, artifact_files, definition_files
from ordito.ensemble.pins import measure
from ordito.planning.options import PlanOptions
from ordito.planning.workflows import plan
from ordito.work.plan import Plan


def make_plan(
    known: Known, workflow: str, read: ReadService, inputs: Mapping[str, object], *, allow_large: bool = False
) -> tuple[Plan, str]:
    """The plan, and the digest of the files that it was made for. Raises ``PlanRefused`` and ``EnsembleError``."""
    layout, package, service = known.place.layout, read.package, read.service
    plugins = plugins_of(layout)
    measured = measure(layout, package.tree, package.opener, definition_files(read), artifact_files(read))
    options = PlanOptions(
        digests=measured.digests, accepts=plugins.accepts, provides=plugins.provides, allow_large=allow_large
    )
    return plan(workflow, service, known.snapshot, inputs, options), measured.digest
