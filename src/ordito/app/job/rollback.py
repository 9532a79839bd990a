"""How a job that has failed is rolled back: planned when it is known what it has done."""

from __future__ import annotations

from dataclasses import replace

from ordito.app.plan_options import plan_options
from ordito.app.plugins import Plugins
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import Whole
from ordito.app.services.pinned import measured_files
from ordito.app.services.read import ReadService
from ordito.ensemble.layout import Layout
from ordito.instances.records import Snapshot
from ordito.planning.options import Forms, Hooking, RolledBack
from ordito.planning.refused import PlanRefused
from ordito.planning.roll_back import cannot_be_taken_back, made
from ordito.planning.undo_hooks import cannot_be_undone
from ordito.planning.workflows import ROLLBACK, UNDOING, plan
from ordito.work.hooks import DoneHook
from ordito.work.plan import Plan
from ordito.work.records import JobHeader
from ordito.work.rollback import WayBack
from ordito.work.workflows import workflow_of


def way_back(  # noqa: PLR0913  (what a job is)
    layout: Layout,
    plugins: Plugins,
    read: ReadService,
    whole: Whole,
    snapshot: Snapshot,
    header: JobHeader,
    new: frozenset[str],
    *,
    forms: EarlierForms,
    done: tuple[DoneHook, ...] = (),
) -> WayBack:
    """The plan that takes back what the job did, and what that cannot take back; ``new`` are the new instances of its
    plan, ``forms`` earlier forms of its service, ``done`` the lifecycle steps that it has carried out. What it has
    removed is not made again. What cannot be planned remains. Raises ``EnsembleError``."""
    rolled_back = RolledBack(header.id, new)
    options = replace(
        plan_options(layout, plugins, whole, measured_files(layout, read).digests),
        forms=Forms(forms.former, own=header.id),
        allow_large=True,
        rolled_back=rolled_back,
        hooking=Hooking(which="none", done=done, undoes=True),
    )
    gone = made(snapshot, rolled_back)
    workflow = UNDOING if workflow_of(header.workflow).removes else ROLLBACK
    try:
        back = plan(workflow, whole.service, snapshot, header.inputs, options)
    except PlanRefused as refused:
        problems = tuple(f"the rollback could not be planned: {d.message}" for d in refused.diagnostics)
        return WayBack(Plan(ROLLBACK, (), (), (), ()), problems, gone)
    return WayBack(back, (*cannot_be_undone(done, back), *cannot_be_taken_back(snapshot, rolled_back)), gone)
