"""What the steps of a job's plan mean, by the service of the job, and by earlier deployed versions that calls name."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import msgspec

from ordito.app.plugins import Plugins
from ordito.app.services.compiled import compiled
from ordito.app.services.earlier_forms import DeployedForm, EarlierForms, linked, owners, with_mixed_forms
from ordito.app.services.left_behind import ServiceWithOrphans
from ordito.base.masking import Masking
from ordito.ensemble.store import Ensemble
from ordito.ensemble.vault import Vault
from ordito.model.service import Service
from ordito.operations.operations import FormedOperations, PlanOperations
from ordito.operations.script_context import OwnProgram
from ordito.source.reach import is_confined
from ordito.work.forms import forms_in_use
from ordito.work.plan import Plan
from ordito.work.records import JobHeader
from ordito.work.workflows import workflow_of


class JobOperations(msgspec.Struct, frozen=True):
    """Everything that decides what the steps of a plan mean: the ensemble, the header of the job, its service with
    orphans, the folder of its pinned files, earlier deployed versions, and the plug-ins."""

    ensemble: Ensemble
    header: JobHeader
    whole: ServiceWithOrphans
    root: str
    forms: EarlierForms
    plugins: Plugins

    def of(self, plan: Plan) -> FormedOperations | PlanOperations:
        """What the steps of a plan mean. A rollback may lead to an earlier deployed version, even if no step before it
        names one. Raises ``EnsembleError`` and ``InvalidDocument`` if a version cannot be read that steps need."""
        header, forms = self.header, {call.form for call in plan.calls} - {"", self.header.id}
        for form in sorted(forms):
            self.forms.read(form)
        own = self._made(plan, self._service(plan), header.inputs, self.root)
        if not (forms or plan.hooks or header.options.on_failure == "rollback"):
            return own
        return FormedOperations(own, plan, self._formed, header.id)

    @property
    def _own(self) -> DeployedForm:
        return DeployedForm("", self.whole.service, self.header.inputs, self.root)

    @property
    def _is_about_what_runs(self) -> bool:
        """Whether the job brings no instance to another version, so that its operations see what runs."""
        return not workflow_of(self.header.workflow).revises or workflow_of(self.header.workflow).removes

    def _service(self, plan: Plan) -> Service:
        """The service as the operations of the job see it."""
        if not self._is_about_what_runs:
            return self.whole.service
        snapshot = self.ensemble.snapshot
        if not forms_in_use(snapshot.instances):
            return self.whole.service
        keep = owners(self.whole.service, (call for call in plan.calls if not call.form))
        return with_mixed_forms(self._own, self._own, self.forms, snapshot, keep)

    def _formed(self, form: str, plan: Plan, masking: Masking) -> PlanOperations:
        """What the steps of a plan mean by an earlier deployed version of the service."""
        service = self.forms.whole(form, self.whole, self.header.inputs, self.root)
        inputs, root = self.forms.form(form).inputs, self.forms.read(form).package.root
        if self._is_about_what_runs:
            # A link of this form may be that of an instance which a job that failed has left in an earlier one.
            keep = linked(service, (call for call in plan.calls if call.form == form))
            seen = DeployedForm(form, service, inputs, root)
            service = with_mixed_forms(seen, self._own, self.forms, self.ensemble.snapshot, keep)
        return self._made(plan, service, inputs, root, form, masking)

    def _made(
        self,
        plan: Plan,
        service: Service,
        inputs: Mapping[str, object],
        root: str,
        form: str = "",
        masking: Masking | None = None,
    ) -> PlanOperations:
        header, ensemble = self.header, self.ensemble
        return PlanOperations(
            service,
            ensemble.snapshot,
            plan,
            inputs,
            root=root,
            job=header.id,
            describe=lambda: compiled(service),
            variables=header.variables,
            digest_key=Vault(ensemble.layout).digest_key,
            counts=ensemble.status.counts,
            targets=self.plugins.targets,
            ensemble=header.ensemble,
            form=form,
            masking=masking,
            program=own_program(str(ensemble.layout.root)),
        )


def own_program(directory: str) -> OwnProgram | None:
    """How operations call this program; None where the process is confined, which a command that it calls is not."""
    return None if is_confined() else OwnProgram((sys.executable, "-m", "ordito"), directory)
