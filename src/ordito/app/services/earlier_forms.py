"""Earlier deployed versions (forms) of a service, read from their pins: instances that no job has brought to another
version yet are stopped and removed by their definitions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

import msgspec

from ordito.app.place import Place
from ordito.app.services.left_behind import ServiceWithOrphans
from ordito.app.services.pinned import measured_files, read_pinned
from ordito.app.services.read import ReadService
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.revisions import recorded_form
from ordito.instances.records import Snapshot
from ordito.model.left_behind import Left, with_left_behind
from ordito.model.service import Service
from ordito.planning.options import Former, Forms
from ordito.work.forms import forms_in_use, is_same
from ordito.work.plan import OperationCall
from ordito.work.records import Form


class EarlierForms:
    """The deployed versions that a job or proposal needs, by id; each is read when it is first needed. ``current`` is
    the one that was deployed last, "" for none; ``known`` are those that were read already."""

    def __init__(
        self,
        place: Place,
        forms: Mapping[str, Form],
        current: str = "",
        known: Mapping[str, ReadService] | None = None,
    ) -> None:
        self._place = place
        self._read: dict[str, ReadService] = {name: read for name, read in (known or {}).items() if name in forms}
        self._former: dict[str, Former | None] = {}
        self._recorded: dict[str, Form] = {}
        self.forms = forms
        self.current = current

    @property
    def known(self) -> Mapping[str, ReadService]:
        """The versions that were read so far; later ones are added."""
        return self._read

    def read(self, form: str) -> ReadService:
        """A version as it was deployed. Raises ``EnsembleError`` if it is not known or its files are missing, and
        ``InvalidDocument`` if its files were changed."""
        if form not in self._read:
            self._read[form] = read_pinned(self._place, self.form(form))
        return self._read[form]

    def form(self, form: str) -> Form:
        """The record of a version: in the ensemble, or, if no instance has it any more, in the record of its job.
        Raises ``EnsembleError`` if there is none."""
        if form in self.forms:
            return self.forms[form]
        if form not in self._recorded:
            found = recorded_form(self._place.layout, form)
            if found is None:
                raise EnsembleError(
                    f"the version of the service that job {form} has deployed is not known",
                    "restore ensemble.yaml and the folder jobs from git",
                )
            self._recorded[form] = found
        return self._recorded[form]

    def former(self, form: str) -> Former | None:
        """A version as planning needs it; None if it can no longer be read."""
        if form not in self._former:
            try:
                read = self.read(form)
                digests = measured_files(self._place.layout, read).digests
                self._former[form] = Former(read.service, self.form(form).inputs, digests)
            except (EnsembleError, InvalidDocument):
                self._former[form] = None
        return self._former[form]

    def of_plan(self, own: Form) -> Forms:
        """The versions for a plan whose service is ``own``."""
        is_own = not self.current or is_same(self.forms[self.current], own)
        return Forms(self.former, base="" if is_own else self.current)

    def whole(
        self,
        form: str,
        own: ServiceWithOrphans,
        inputs: Mapping[str, object],
        root: str,
        only: Collection[str] | None = None,
    ) -> Service:
        """A version together with the nodes that only the service of the job has (``own``, with its inputs and the
        folder of its pinned files); with ``only``, just these nodes. Raises as ``read``."""
        read = self.read(form)
        missing = frozenset(own.service.nodes) - read.service.nodes.keys()
        if only is not None:
            missing = missing.intersection(only)
        if not missing:
            return read.service
        before, now = (os.path.abspath(path) for path in (read.package.root, root))  # noqa: PTH100  (compared as texts)
        return with_left_behind(read.service, [Left("now", own.service, inputs, missing, os.path.relpath(now, before))])


# A service as it runs: each node as the form says in which its instances are.
#
# Where a job has brought only a part of what exists into another form, what functions give for a property of a node
# is what its instances were made with. A node with instances in several forms is seen as the service has it.


class DeployedForm(msgspec.Struct, frozen=True):
    """A deployed version of a service: its id, "" for the last one; the service, its inputs, and the folder of its
    files."""

    form: str
    service: Service
    inputs: Mapping[str, object]
    root: str


def with_mixed_forms(
    seen: DeployedForm, last: DeployedForm, forms: EarlierForms, snapshot: Snapshot, keep: Collection[str] = ()
) -> Service:
    """The service of a version, in which nodes whose instances all have another version are replaced by their
    definitions there, except for those in ``keep``; ``last`` is the version that was deployed last. Versions that can
    no longer be read are ignored."""
    if seen.form == last.form and not forms_in_use(snapshot.instances):
        return seen.service
    others: list[Left] = []
    for form, nodes in _others(seen, snapshot, keep).items():
        other = last if form == last.form else _read(forms, form)
        known = nodes.intersection(other.service.nodes) if other is not None else frozenset()
        if other is not None and known:
            others.append(Left(form or "now", other.service, other.inputs, known, _way(seen.root, other.root)))
    moved = {name for left in others for name in left.nodes}
    if not moved:
        return seen.service
    rest = {name: node for name, node in seen.service.nodes.items() if name not in moved}
    joined = with_left_behind(msgspec.structs.replace(seen.service, nodes=rest), others)
    order = dict.fromkeys((*seen.service.nodes, *joined.nodes))
    return msgspec.structs.replace(joined, nodes={name: joined.nodes[name] for name in order})


def _others(seen: DeployedForm, snapshot: Snapshot, keep: Collection[str]) -> dict[str, frozenset[str]]:
    """By id of another version, the nodes whose instances all have that version."""
    forms: dict[str, set[str]] = {}
    for record in snapshot.instances.values():
        if record.exists:
            forms.setdefault(record.node, set()).add(record.form)
    found: dict[str, set[str]] = {}
    for node, of in forms.items():
        if len(of) == 1 and seen.form not in of and node in seen.service.nodes and node not in keep:
            found.setdefault(next(iter(of)), set()).add(node)
    return {form: frozenset(nodes) for form, nodes in found.items()}


def _read(forms: EarlierForms, form: str) -> DeployedForm | None:
    try:
        read = forms.read(form)
    except (EnsembleError, InvalidDocument):
        return None
    return DeployedForm(form, read.service, forms.forms[form].inputs, read.package.root)


def _way(start: str, end: str) -> str:
    first, then = (os.path.abspath(path) for path in (start, end))  # noqa: PTH100  (compared as texts)
    return os.path.relpath(then, first)


def linked(service: Service, calls: Iterable[OperationCall]) -> set[str]:
    """The nodes with the requirements whose relationships these calls are about."""
    names = {call.owner for call in calls if call.side}
    if not names:
        return set()
    return {node.name for node in service.nodes.values() if any(r.key in names for r in node.requirements)}


def owners(service: Service, calls: Iterable[OperationCall]) -> set[str]:
    """The nodes that calls are about."""
    relationships = {r.key: r for node in service.nodes.values() for r in node.requirements}
    found: set[str] = set()
    for call in calls:
        relationship = relationships.get(call.owner) if call.side else None
        found.update((relationship.source, relationship.target) if relationship is not None else (call.owner,))
    return found
