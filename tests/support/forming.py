"""Worlds in which a service is brought from one form to another, as jobs do it, without an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ordito.base.masking import Masking
from ordito.model.left_behind import Left, with_left_behind
from ordito.model.service import Service
from ordito.operations.operations import FormedOperations, PlanOperations
from ordito.planning.options import Former, Forms, Orphans, PlanOptions
from ordito.work.options import ChangeOptions
from ordito.work.plan import Plan
from tests.support.runs import Answers, World, always_well, with_files

PRUNED = ChangeOptions(prune="last")


class Forming(World):
    """A world that knows the forms in which its service was deployed, by the jobs that did it."""

    def __init__(self, service: Service, inputs: Mapping[str, object] | None = None) -> None:
        super().__init__(service, inputs)
        self.forms: dict[str, Former] = {}
        self.current = ""
        self.wanted = service
        self.left: frozenset[str] = frozenset()

    def options(
        self, service: Service, digests: Mapping[str, str] | None = None, changes: ChangeOptions = PRUNED
    ) -> PlanOptions:
        """What planning another form is told; the world's service becomes that, with what it has lost."""
        self.wanted, before = service, self.forms.get(self.current)
        existing = {i.node for i in self.snapshot.instances.values() if i.exists}
        lost = frozenset(existing - set(service.nodes))
        self.service = service
        for job, former in reversed(self.forms.items()):
            if known := frozenset(lost & set(former.service.nodes)):
                self.service = with_left_behind(self.service, [Left(job, former.service, former.inputs, known)])
                lost -= known
        self.left = frozenset(self.service.nodes.keys() - service.nodes.keys())
        given = dict(digests or {})
        wanted = Former(service, dict(self.inputs), given)
        is_same = before == wanted
        forms = Forms(self.forms.get, base="" if is_same else self.current)
        orphans = Orphans(self.left)
        return replace(with_files(given), forms=forms, changes=changes, orphans=orphans)

    def to(
        self,
        service: Service,
        digests: Mapping[str, str] | None = None,
        answers: Answers = always_well,
        *,
        changes: ChangeOptions = PRUNED,
        cut: int | None = None,
    ) -> Plan:
        """Bring what exists to another form; what is cut or fails leaves the rest in the forms in which it was."""
        options = self.options(service, digests, changes)
        made = self.run("upgrade", answers, options=options, cut=cut)
        self.current = f"job{self.jobs}"
        self.forms[self.current] = Former(service, dict(self.inputs), dict(digests or {}))
        return made

    def differs(self, service: Service, digests: Mapping[str, str] | None = None) -> Plan:
        """The plan for another form."""
        return self.plan("upgrade", self.options(service, digests))

    def operations_of(self, made: Plan) -> PlanOperations | FormedOperations:
        own = PlanOperations(self.service, self.snapshot, made, self.inputs, root="/pinned", job=f"job{self.jobs}")
        return FormedOperations(own, made, self._makes)

    def _makes(self, form: str, made: Plan, masking: Masking) -> PlanOperations:
        former = self.forms[form]
        operations = PlanOperations(
            former.service,
            self.snapshot,
            made,
            former.inputs,
            root=f"/pinned/{form}",
            job=f"job{self.jobs}",
        )
        operations.masking = masking
        return operations
