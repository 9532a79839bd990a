"""From a service that was read to a plan of a workflow."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.left_behind import Whole, left_behind, whole_service
from ordito.app.plugins import plugins_of
from ordito.app.proposal import Known
from ordito.app.services import ReadService, artifact_files, definition_files
from ordito.ensemble.pins import measure
from ordito.planning.options import PlanOptions
from ordito.planning.workflows import plan
from ordito.work.plan import Plan


class Made(msgspec.Struct, frozen=True):
    """A plan, the digest of the files that it was made for, and the service with what it has left behind."""

    plan: Plan
    measured: str
    whole: Whole


def make_plan(
    known: Known, workflow: str, read: ReadService, inputs: Mapping[str, object], *, allow_large: bool = False
) -> Made:
    """The plan of a workflow. Raises ``PlanRefused`` and ``EnsembleError``."""
    layout, package = known.place.layout, read.package
    plugins = plugins_of(layout)
    measured = measure(layout, package.tree, package.opener, definition_files(read), artifact_files(read))
    left = left_behind(read.service, known.snapshot, known.status)
    whole = whole_service(known.place, read.service, left, measured.root)
    options = PlanOptions(
        digests={**measured.digests, **whole.digests},
        accepts=plugins.accepts,
        provides=plugins.provides,
        allow_large=allow_large,
        left_behind=whole.nodes,
    )
    return Made(plan(workflow, whole.service, known.snapshot, inputs, options), measured.digest, whole)
