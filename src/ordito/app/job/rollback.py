"""The rollback of a failed job: planned when it is known what the job has done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from ordito.app.place import Place
from ordito.app.plan_options import plan_options
from ordito.app.plugins import Plugins
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import ServiceWithOrphans, left_behind, whole_service
from ordito.app.services.pinned import measured_files
from ordito.app.services.read import ReadService
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.status import Status
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.planning.options import DataLoss, Former, Forms, Hooking, RolledBack
from ordito.planning.refused import PlanRefused
from ordito.planning.roll_back import cannot_be_taken_back, made
from ordito.planning.undo_hooks import cannot_be_undone
from ordito.planning.workflows import ROLLBACK_OF_JOB, UNDOING, plan
from ordito.work.forms import not_made
from ordito.work.hooks import DoneHook
from ordito.work.options import EARLY, ChangeOptions
from ordito.work.plan import ChangeKind, Plan
from ordito.work.records import JobHeader
from ordito.work.rollback import WayBack
from ordito.work.workflows import ROLLBACK, workflow_of


def way_back(  # noqa: PLR0913  (what a job is)
    layout: Layout,
    plugins: Plugins,
    read: ReadService,
    whole: ServiceWithOrphans,
    snapshot: Snapshot,
    header: JobHeader,
    new: frozenset[str],
    *,
    forms: EarlierForms,
    done: tuple[DoneHook, ...] = (),
) -> WayBack:
    """The plan that takes back what the job did, and what it cannot take back; ``new`` are the new instances of the
    job's plan, ``forms`` earlier deployed versions of its service, ``done`` the lifecycle steps that it has carried
    out. What the job has removed is not created again. What cannot be planned remains. Raises ``EnsembleError``."""
    rolled_back = RolledBack(header.id, new)
    options = replace(
        plan_options(layout, plugins, whole, measured_files(layout, read).digests),
        forms=Forms(forms.former, own=header.id),
        allow_large=True,
        rolled_back=rolled_back,
        hooking=Hooking(which="none", done=done, undoes=True),
    )
    gone = made(snapshot, rolled_back)
    workflow = UNDOING if workflow_of(header.workflow).removes else ROLLBACK_OF_JOB
    try:
        back = plan(workflow, whole.service, snapshot, header.inputs, options)
    except PlanRefused as refused:
        problems = tuple(f"the rollback could not be planned: {d.message}" for d in refused.diagnostics)
        return WayBack(Plan(ROLLBACK_OF_JOB, (), (), (), ()), problems, gone)
    return WayBack(back, (*cannot_be_undone(done, back), *cannot_be_taken_back(snapshot, rolled_back)), gone)


# How a job that has changed what ran is rolled back: by planning what leads from what there is now to what was
# deployed before, with the files and inputs of then. So going back is found by the same comparison as going forth.


def leads_to_base(header: JobHeader) -> bool:
    """Whether a job is rolled back to what was completely deployed before it; else to nothing."""
    return workflow_of(header.workflow).describes and bool(header.base)


class ToBase(msgspec.Struct, frozen=True):
    """The rollback of a job to what was deployed before it."""

    place: Place
    plugins: Plugins
    header: JobHeader
    """The header of the job."""

    read: ReadService
    whole: ServiceWithOrphans
    """The job's service with orphans."""

    forms: EarlierForms
    """Earlier deployed versions."""

    snapshot: Snapshot
    """What exists."""

    status: Status
    """The status when the job began."""

    done: Callable[[], tuple[DoneHook, ...]] = tuple
    """Gives the lifecycle steps that the job has carried out, in order."""

    absent: tuple[Instance, ...] = ()
    """The absent instances that the job was to create again, as they were before."""

    def way_back(self) -> WayBack:
        """The rollback plan, and what it cannot take back. What cannot be planned remains."""
        try:
            with paused_collector():
                done = self.done()
                absent = not_made(self.header, self.absent, self.snapshot)
                back = self._plan(Hooking(which="none", undoes=True, done=done), absent, leaves_absent=True)
        except (PlanRefused, InvalidDocument, EnsembleError) as refused:
            return WayBack(Plan(ROLLBACK, (), (), (), ()), tuple(_problems(refused)))
        replace, base = msgspec.structs.replace, self.header.base
        # Who names no form is in the job's own until that has ended; what is made now is in the one to which it leads.
        made = tuple(replace(record, form=base) for record in back.records.new)
        back = replace(back, records=replace(back.records, new=(*made, *absent)))
        return WayBack(back, cannot_be_undone(done, back))

    def different(self) -> tuple[str, ...]:
        """What still differs from the state before, for people, after the rollback."""
        try:
            with paused_collector():
                left = self._plan(Hooking(which="none"))
        except (PlanRefused, InvalidDocument, EnsembleError) as refused:
            return tuple(_problems(refused))
        # What nothing is to be done about, and of which nothing has to be recorded, is as it was.
        at_work = {step.instance for step in left.steps}
        return tuple(
            f"{c.instance}: {c.reason}" for c in left.changes if c.kind != ChangeKind.ADOPT or c.instance in at_work
        )

    def _plan(self, hooking: Hooking, absent: tuple[Instance, ...] = (), *, leaves_absent: bool = False) -> Plan:
        """The rollback plan. With ``leaves_absent``, instances that keep data and were found to be absent stay absent,
        since nobody can be asked here whether they may be created again. ``absent`` are those of them that the job has
        not begun to create.
        """
        snapshot = self.snapshot
        if absent:
            snapshot = snapshot.copy()
            snapshot.apply(Delta(instances=absent))
        header, layout, plugins = self.header, self.place.layout, self.plugins
        form, read = header.forms[header.base], self.forms.read(header.base)
        measured = measured_files(layout, read)
        left = left_behind(read.service, snapshot, header)
        whole = whole_service(self.place, read.service, left, measured.root)
        options = replace(
            plan_options(layout, plugins, whole, measured.digests),
            allow_large=True,
            kept=self.status.kept,
            forms=Forms(self._former, base=header.id, own=header.base),
            changes=ChangeOptions(prune=EARLY),
            hooking=hooking,
            data_loss=DataLoss(leaves_absent=leaves_absent),
        )
        return plan(ROLLBACK, whole.service, snapshot, form.inputs, options)

    def _former(self, form: str) -> Former | None:
        if form != self.header.id:
            return self.forms.former(form)
        digests = {**measured_files(self.place.layout, self.read).digests, **self.whole.digests}
        return Former(self.whole.service, self.header.inputs, digests, self.whole.names)


def _problems(refused: PlanRefused | InvalidDocument | EnsembleError) -> list[str]:
    said = [refused.message] if isinstance(refused, EnsembleError) else [d.message for d in refused.diagnostics]
    return [f"the rollback could not be planned: {message}" for message in said]
