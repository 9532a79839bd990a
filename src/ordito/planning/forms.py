"""The forms of the service that a plan needs: the wanted one, and the earlier ones of instances that are stopped,
unlinked and removed as was declared then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.base.diagnostics import Diagnostics
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Instance, Snapshot
from ordito.model.service import Service
from ordito.planning.calls import Calls
from ordito.planning.digests import Digests
from ordito.planning.operation_sequence import PairEntry, Pairs
from ordito.planning.operation_sequences import OperationSequences
from ordito.planning.options import Former, PlanOptions
from ordito.work.plan import OperationCall, Scope

OWN = ""
"""The name for the service that the plan is for."""


class Formed:
    """One form of the service in a plan: its values, calls and operation sequences. ``name`` is ``OWN`` or the id under
    which it is known."""

    __slots__ = ("calls", "digests", "inputs", "name", "sequences", "service", "static")

    def __init__(
        self,
        name: str,
        service: Service,
        inputs: Mapping[str, object],
        digests: Digests,
        calls: Calls,
        sequences: OperationSequences,
        static: Evaluator,
    ) -> None:
        self.name = name
        self.service = service
        self.inputs = inputs
        self.digests = digests
        self.calls = calls
        self.sequences = sequences
        self.static = static

    def linking(self, node: str, relationship: str) -> tuple[PairEntry, ...]:
        """The operations that link the pairs of a node's relationship; none if the form does not have it."""
        template = self.service.nodes.get(node)
        every = self.sequences.making(template).link if template is not None else ()
        return tuple(entry for pairs in every if pairs.relationship.key == relationship for entry in pairs.entries)

    def unlinks_of(self, node: str) -> tuple[Pairs, ...]:
        """What undoes the pairs of a node's relationships."""
        template = self.service.nodes.get(node)
        return self.sequences.removing(template).unlink if template is not None else ()

    def requires(self, node: str, relationship: str) -> bool:
        """Whether a node has a relationship."""
        template = self.service.nodes.get(node)
        return template is not None and any(r.key == relationship for r in template.requirements)


class FormsOfPlan:
    """The forms of one plan, each made when it is first asked for; ``own`` is the wanted one."""

    def __init__(
        self,
        service: Service,
        inputs: Mapping[str, object],
        options: PlanOptions,
        diagnostics: Diagnostics,
        scopes: Sequence[Scope],
    ) -> None:
        self._options = options
        self._diagnostics = diagnostics
        self._scopes = scopes
        self._every: list[OperationCall] = []
        self._former: dict[str, Formed | None] = {}
        self._unheard: dict[str, Formed] = {}
        forms = options.forms
        self._base = "" if forms.base == forms.own else forms.base
        lost = options.pruned
        digests = Digests(
            service, inputs, options.files.contents, diagnostics, options.files.key, options.files.names, lost
        )
        self.own = self._form(OWN, service, inputs, digests, forms.own, diagnostics, lost)

    @property
    def known(self) -> list[Formed]:
        """The forms that were asked for so far, the wanted one first."""
        return [self.own, *(form for form in self._former.values() if form is not None)]

    @property
    def has_base(self) -> bool:
        """Whether instances whose records name no form are in another one than the wanted one."""
        return bool(self._base)

    def of(self, record: Instance) -> Formed:
        """The form of an instance: the wanted one if nothing else is known."""
        if not record.form and not self._base:
            return self.own
        name = self.name_of(record)
        former = self.named(name) if name else None
        if former is None or record.node not in former.service.nodes:
            return self.own
        # What the template has lost is part of the service as it was deployed last.
        is_joined = not record.form and record.node in self._options.orphans.nodes
        return self.own if is_joined else former

    def name_of(self, record: Instance) -> str:
        """The id of the form of an instance by its record, ``OWN`` for the wanted one."""
        name = record.form or self._base
        return OWN if name == self._options.forms.own else name

    def named(self, name: str) -> Formed | None:
        """The form with an id; None if its files no longer exist."""
        if name == OWN:
            return self.own
        if name not in self._former:
            former = self._options.forms.former(name)
            self._former[name] = self._of_former(name, former, self._diagnostics) if former is not None else None
        return self._former[name]

    def of_job(self, job: str) -> Formed | None:
        """The form that a job has deployed, or was to deploy; None if its files no longer exist."""
        return self.named(OWN if job == self._options.forms.own else job)

    def unheard(self, form: Formed) -> Formed:
        """A form that is only compared: what could not be carried out of it is not reported."""
        if form.name not in self._unheard:
            options = self._options
            own = Former(form.service, form.inputs, options.files.contents, options.files.names)
            former = own if form is self.own else options.forms.former(form.name)
            self._unheard[form.name] = self._of_former(form.name, former, Diagnostics()) if former is not None else form
        return self._unheard[form.name]

    def unlinking(self, node: str, relationship: str, form: str) -> tuple[Pairs, ...]:
        """What undoes the pairs of a relationship as a form says, or the one that was deployed last if that form does
        not have the relationship; nothing if neither has it. An instance that is hosted on another one stays hosted
        until it is removed."""
        for name in (OWN if form == self._options.forms.own else form, self._base):
            former = self.named(name) if name else None
            if former is not None and former.requires(node, relationship):
                found = (p for p in former.unlinks_of(node) if p.relationship.key == relationship)
                return tuple(p for p in found if not p.relationship.is_hosting)
        return ()

    def _of_former(self, name: str, former: Former, said: Diagnostics) -> Formed:
        # What was wrong with an earlier form is nobody's business any more, except that its operations can be run.
        ignored = Diagnostics()
        digests = Digests(former.service, former.inputs, former.digests, ignored, self._options.files.key, former.names)
        return self._form(name, former.service, former.inputs, digests, name, said)

    def _form(
        self,
        name: str,
        service: Service,
        inputs: Mapping[str, object],
        digests: Digests,
        marked: str,
        said: Diagnostics,
        lost: frozenset[str] = frozenset(),
    ) -> Formed:
        options = self._options
        # Static values are evaluated without any instance, so that they are the same whatever exists.
        static = Evaluator(service, Snapshot(), inputs)
        calls = Calls(service, digests, options, said, self._scopes, form=marked, every=self._every)
        sequences = OperationSequences(service, calls, options, static, said, lost)
        return Formed(name, service, inputs, digests, calls, sequences, static)
