"""The environment of an operation: the variables that its implementation gets, whichever executor runs it.

Both families of names are there: ``NODE``, ``INSTANCE``, ``INSTANCES``, ``HOST`` and ``SOURCE_*``, ``TARGET_*`` of the
normative lifecycle, and ``SOURCE``, ``SOURCES``, ``TARGET``, ``TARGETS`` of TOSCA 1.3 §4.2. Every declared input is
there under its own name and, for each instance of the side its value comes from, as ``<instance>_<input>``.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.masking import Masking
from ordito.base.paths import is_url
from ordito.base.sensitive import revealed, sensitive_parts, shown
from ordito.base.text import shell_name
from ordito.instances.context import Context, EvaluationError, Nothing, Trace, is_in_place, own_copy
from ordito.instances.evaluate import Evaluator
from ordito.model.operation import Artifact
from ordito.model.service import Service
from ordito.operations.input_texts import InputTexts, InputTextsOfJob, entry_size
from ordito.work.invocation import SCRATCH, FilePlacement
from ordito.work.operation_inputs import OperationInput, OperationInputs, inputs_of, text_of
from ordito.work.outputs import WrongValue, fitting
from ordito.work.places import ExecutionPlace
from ordito.work.plan import Step

MOST_BYTES = 64 * 1024
MOST_VARIABLES = 1_000

MOST_MERGED = 256
"""How many calls have the merged texts of all instances cached."""

Artifacts = tuple[dict[str, str], tuple[FilePlacement, ...]]
"""The variables that name artifacts, and the copies to which they point."""

OPERATION = "ORDITO_OPERATION"
"""The variable that names the operation; the id of a step need not end with that name."""

LISTS = frozenset({"INSTANCES", "SOURCES", "TARGETS", "SOURCE_INSTANCES", "TARGET_INSTANCES"})
"""The variables that grow with the number of instances."""


class OperationEnvironment(msgspec.Struct, frozen=True):
    """The variables of an operation."""

    variables: dict[str, str]
    """The variables by name."""

    large: dict[str, str] = {}
    """Variables that are too large for an environment; they are handed over in a file."""

    files: tuple[FilePlacement, ...] = ()
    """The copies of artifacts that the operation needs."""

    warnings: tuple[str, ...] = ()
    """Warnings about inputs that are unset or hidden."""

    refusals: tuple[str, ...] = ()
    """Why the operation must not start."""


class OperationEnvironments:
    """Prepares the environments of a job's operations.

    The values of an input for all instances of a side are built once (`InputTexts`), shared by all operations that see
    the same values, and updated entry by entry when something changes that an entry has read.

    ``prepare`` is called once for every step: what is the same for all steps of an operation is found out once, in
    ``OperationInputs``.
    """

    def __init__(self, evaluator: Evaluator, masking: Masking, variables: Mapping[str, object] | None = None) -> None:
        """Every operation gets ``variables``; its own variables override them. ``masking`` learns the sensitive values
        that operations are given."""
        self._evaluator = evaluator
        self._masking = masking
        masking.know(sensitive_parts(variables or {}))
        self._common = {name: str(revealed(value)) for name, value in (variables or {}).items()}
        self._service: Service = evaluator.service
        self._listed = evaluator.entities.listed
        self._texts = InputTextsOfJob(evaluator, masking)
        self._inputs_of: dict[tuple[int, str], OperationInputs] = {}
        self._lists: dict[str, tuple[tuple[str, ...], str]] = {}
        self._same: dict[tuple[int, str, str], str] = {}
        self._merged: dict[int, tuple[object, dict[str, str]]] = {}
        self._shared: dict[tuple[int, str], SharedEnvironment] = {}
        self._large: dict[str, tuple[object, dict[str, str]]] = {}
        self._known_artifacts: dict[tuple[str, str, str], Artifacts] = {}

    def prepare(self, place: ExecutionPlace, step: Step) -> OperationEnvironment:
        """The environment of an operation, evaluated now."""
        ids = self._listed(place.node)
        shared = self._shared.get((id(place.operation), place.node))
        if shared is not None and shared.instances is ids:
            return OperationEnvironment(shared.of(place.instance), files=shared.files)
        inputs = self._known_of(place)
        own, trace, warnings, refusals = self._inputs(inputs, place, step)
        artifacts, placements = self._artifacts(place)
        below = {**self._common, **artifacts}
        base = {**below, **_of_its_instance(inputs, place, own)}
        for name in inputs.hidden:
            if own.pop(name, None) is not None:
                warnings.append(f'input "{name}" has the name of a reserved variable, which keeps its own value')
        base.update(own)
        of_all = self._texts_of_all(inputs, place)
        for texts in of_all:
            if missing := texts.missed(place.instance if place.relationship is None else ""):
                warnings.append(missing)
        reserved = self._reserved(place)
        variables, large = self._fit(place, step, base, reserved, of_all)
        files = placements
        if trace.copies:
            asked = [FilePlacement(c.file, c.path, c.remove, c.own) for c in trace.copies]
            files = without_nested((*asked, *(p for p in placements if p not in asked)))
        if not (large or trace.copies or warnings or refusals) and self._is_shared(inputs, place, own, of_all):
            merged = self._merged_of(step, of_all)
            if merged.keys().isdisjoint(below):
                self._share(place, SharedEnvironment(ids, {**merged, **below, **own, **reserved}, files))
        return OperationEnvironment(variables, large, files, tuple(warnings), tuple(refusals))

    def _is_shared(
        self, inputs: OperationInputs, place: ExecutionPlace, own: Mapping[str, str], of_all: list[InputTexts]
    ) -> bool:
        """Whether the variables are the same for all instances of a node, apart from those that contain the name of an
        instance."""
        if place.relationship is not None or not of_all:
            return False
        if any(texts.same is None or texts.same != own.get(texts.declared.name) for texts in of_all):
            return False
        return all(i.text is not None or (id(i), place.node, "") in self._same for i in inputs.inputs)

    def _share(self, place: ExecutionPlace, shared: SharedEnvironment) -> None:
        if len(self._shared) > MOST_MERGED:
            self._shared.clear()
        self._shared[(id(place.operation), place.node)] = shared

    def _texts_of_all(self, inputs: OperationInputs, place: ExecutionPlace) -> list[InputTexts]:
        """The texts of all inputs for all instances; none in the usual case that the node has only this instance."""
        if place.relationship is None and self._listed(place.node) == (place.instance,):
            return []
        where = "" if place.relationship is None else place.relationship.key
        same = self._same
        found = (self._texts.of(place, i, same.get((id(i), place.node, where))) for i in inputs.inputs)
        return [texts for texts in found if texts is not None]

    def _known_of(self, place: ExecutionPlace) -> OperationInputs:
        # Nodes of one type that change nothing share its operations. What is kept here keeps the operation, too, so
        # that no other one gets its identity.
        key = (id(place.operation), place.side)
        known = self._inputs_of.get(key)
        if known is None:
            known = self._inputs_of[key] = inputs_of(place.operation, place.side)
        return known

    # -------------------------------------------------------------------------------------------------- inputs

    def shown_inputs(self, place: ExecutionPlace, step: Step) -> dict[str, object]:
        """The present values of the inputs of an operation, without secrets; inputs without a value are left out."""
        return {name: shown(value) for name, value in self.data(place, step).items()}

    def values(self, place: ExecutionPlace, step: Step) -> dict[str, object]:
        """The present values of the inputs of an operation with secrets, to fill templates with."""
        found = self.data(place, step)
        self._masking.know(sensitive_parts(found))
        return {name: revealed(value) for name, value in found.items()}

    def data(self, place: ExecutionPlace, step: Step) -> dict[str, object]:
        """The present values of the inputs of an operation as data, which the environment has as texts; some may be
        sensitive."""
        owner = place.source if step.link else place.instance
        trace = Trace({owner: step.effect.enter} if step.effect.enter else None)
        found: dict[str, object] = {}
        for formed in self._known_of(place).inputs:
            declared = formed.declared
            try:
                value = self._value(formed, place.context, trace)
            except (EvaluationError, WrongValue):
                continue  # What is wrong with it is said where the operation is refused for it.
            if value is None or isinstance(value, Nothing):
                continue
            marks = self._evaluator.marks
            found[declared.name] = marks.wrap(value, marks.by(declared.schema, declared.metadata))
        return found

    def _inputs(
        self, inputs: OperationInputs, place: ExecutionPlace, step: Step
    ) -> tuple[dict[str, str], Trace, list[str], list[str]]:
        """The value of each input for this instance; a warning for each that has none, and a refusal if it is
        required."""
        owner = place.source if step.link else place.instance
        trace = Trace({owner: step.effect.enter} if step.effect.enter else None)
        context = place.context
        where = place.relationship.key if place.relationship else ""
        found: dict[str, str] = {}
        warnings: list[str] = []
        refusals: list[str] = []
        for formed in inputs.inputs:
            declared = formed.declared
            text = formed.text if formed.text is not None else self._same.get((id(formed), place.node, where))
            if text is not None:
                found[declared.name] = text
                continue
            try:
                value = self._value(formed, context, trace)
            except (EvaluationError, WrongValue) as error:
                refusals.append(f'input "{declared.name}" cannot be evaluated: {error}')
                continue
            if value is not None and not isinstance(value, Nothing):
                found[declared.name] = text_of(declared, value)
                if formed.is_same(value, trace) and len(self._listed(place.node)) > 1:
                    self._same[(id(formed), place.node, where)] = found[declared.name]
            elif declared.required:
                reason = value.reason if isinstance(value, Nothing) else "it is null"
                where = f" (declared at {declared.span})" if declared.span else ""
                refusals.append(f'required input "{declared.name}" has no value: {reason}{where}')
            elif declared.has_value and isinstance(value, Nothing):
                warnings.append(f'input "{declared.name}" is unset: {value.reason}')
        return _with_aliases(found, inputs), trace, warnings, refusals

    def _value(self, formed: OperationInput, context: Context, trace: Trace) -> object:
        """The value of an input, checked against its declared type and constraints (R-3.6.11-2)."""
        declared = formed.declared
        if not declared.has_value:
            return Nothing("it is not given")
        value = self._evaluator.evaluate(declared.value, context, trace)
        schema = declared.schema
        if value is None or isinstance(value, Nothing) or formed.constant:
            return value
        data_types, marks = self._service.data_types, self._evaluator.marks
        value = marks.wrap(value, marks.by(schema, declared.metadata))
        self._masking.know(sensitive_parts(value))
        if schema is None:
            return value
        return fitting(value, schema, data_types)

    def _artifacts(self, place: ExecutionPlace) -> Artifacts:
        """A variable for each artifact of the node and of the relationship, which override those of the node; and the
        copies to which they point."""
        key = (place.node, place.side, "" if place.relationship is None else place.relationship.key)
        known = self._known_artifacts.get(key)
        if known is None:
            known = self._known_artifacts[key] = self._found_artifacts(place)
        return known

    def _found_artifacts(self, place: ExecutionPlace) -> Artifacts:
        owner = place.node
        if place.relationship is not None:
            owner = place.relationship.source if place.side == "source" else place.relationship.target
        artifacts: dict[str, Artifact] = dict(self._service.nodes[owner].artifacts)
        if place.relationship is not None:
            artifacts.update(place.relationship.artifacts)
        variables: dict[str, str] = {}
        copies: dict[FilePlacement, None] = {}
        for artifact in artifacts.values():
            name, file = shell_name(artifact.name), artifact.file
            if is_url(file):
                variables[name] = file
            elif is_in_place(artifact):
                # Scripts are run where they lie, beside what they need.
                variables[name] = f"{self._evaluator.root}/{file}"
            else:
                copy = own_copy(SCRATCH, file)
                variables[name] = copy.path
                copies[FilePlacement(copy.file, copy.path, copy.remove, copy.own)] = None
        return variables, without_nested(tuple(copies))

    # ------------------------------------------------------------------------------------------------ reserved

    def _reserved(self, place: ExecutionPlace) -> dict[str, str]:
        relationship, called = place.relationship, {OPERATION: place.operation.name}
        if relationship is None:
            host = self._service.nodes[place.node].host
            found = {"NODE": place.node, "INSTANCE": place.instance, "INSTANCES": self._list(place.node), **called}
            return {**found, "HOST": host.target} if host else found
        found = called
        for end, node, instance in (
            ("SOURCE", relationship.source, place.source),
            ("TARGET", relationship.target, place.target),
        ):
            ids = self._list(node)
            found |= {f"{end}_NODE": node, f"{end}S": ids, f"{end}_INSTANCES": ids}
            if instance:
                found |= {end: instance, f"{end}_INSTANCE": instance}
        return found

    def _list(self, node: str) -> str:
        ids = self._listed(node)
        if len(ids) == 1:
            return ids[0]
        known = self._lists.get(node)
        if known is None or known[0] is not ids:
            known = self._lists[node] = (ids, ",".join(ids))
        return known[1]

    # -------------------------------------------------------------------------------------------------- limits

    def _fit(
        self,
        place: ExecutionPlace,
        step: Step,
        base: dict[str, str],
        reserved: dict[str, str],
        of_all: list[InputTexts],
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The variables, and apart from them those that grow with the number of instances, if all together are too
        large."""
        if _is_small(base, reserved, of_all):
            return {**self._merged_of(step, of_all), **base, **reserved}, {}
        apart = {k: v for k, v in base.items() if not any(k in b.variables for b in of_all)}
        count = len(apart) + len(reserved) + sum(len(b.variables) for b in of_all)
        size = _size(apart) + _size(reserved) + sum(b.size for b in of_all)
        if count <= MOST_VARIABLES and size <= MOST_BYTES:
            return {**self._merged_of(step, of_all), **base, **reserved}, {}
        ends = (place.instance, place.far)
        near = {k: v for b in of_all for k in b.names(ends) if (v := b.variables.get(k)) is not None}
        small = {k: v for k, v in reserved.items() if k not in LISTS}
        lists = {k: v for k, v in reserved.items() if k in LISTS}
        return {**near, **base, **small}, self._apart(step, of_all, lists)

    def _merged_of(self, step: Step, of_all: list[InputTexts]) -> dict[str, str]:
        """The texts for all instances, merged once for all steps of a call that see the same."""
        if not of_all:
            return {}
        state = [(b, b.version) for b in of_all]
        known = self._merged.get(step.call)
        if known is None or known[0] != state:
            if len(self._merged) > MOST_MERGED:
                self._merged.clear()
            known = self._merged[step.call] = (state, {k: v for b in of_all for k, v in b.variables.items()})
        return known[1]

    def _apart(self, step: Step, of_all: list[InputTexts], lists: dict[str, str]) -> dict[str, str]:
        """The variables that do not fit: one mapping for all steps of a call that see the same."""
        state = (tuple((id(b), b.version) for b in of_all), tuple(lists.values()))
        key = str(step.call)
        known = self._large.get(key)
        if known is None or known[0] != state:
            merged = {k: v for b in of_all for k, v in b.variables.items()}
            known = self._large[key] = (state, {**merged, **lists})
        return known[1]


def without_nested(placements: tuple[FilePlacement, ...]) -> tuple[FilePlacement, ...]:
    """The copies to make, without those that lie in the folder of another copy."""
    folders = [f"{p.file.rstrip('/')}/" for p in placements if p.own]
    return tuple(p for p in placements if not p.own or not any(p.file.startswith(f) and p.file != f for f in folders))


def _with_aliases(texts: dict[str, str], inputs: OperationInputs) -> dict[str, str]:
    """The texts of names that shells do not accept, under names that they do."""
    for name, alias in inputs.aliases:
        if name in texts:
            texts.setdefault(alias, texts[name])
    return texts


def _of_its_instance(inputs: OperationInputs, place: ExecutionPlace, own: Mapping[str, str]) -> dict[str, str]:
    """The values of an operation under names with the id of its instance: it sees the same value under both names."""
    found: dict[str, str] = {}
    for formed in inputs.inputs:
        name = formed.declared.name
        if name in own and (member := formed.member(place)):
            found[f"{member}_{name}"] = own[name]
    return found


def _is_small(base: Mapping[str, str], reserved: Mapping[str, str], of_all: list[InputTexts]) -> bool:
    """Whether variables fit even if each character takes four bytes."""
    characters = sum(map(len, base)) + sum(map(len, base.values()))
    characters += sum(map(len, reserved)) + sum(map(len, reserved.values()))
    count, size = len(base) + len(reserved), 0
    for texts in of_all:
        count += len(texts.variables)
        size += texts.size
    return count <= MOST_VARIABLES and 4 * characters + 2 * count + size <= MOST_BYTES


def _size(variables: Mapping[str, str]) -> int:
    return sum(entry_size(name, value) for name, value in variables.items())


# Environments that the instances of a node share: nothing in them differs but the names of instances.


class SharedEnvironment(msgspec.Struct, frozen=True):
    """The variables of an operation that are the same for all instances of a node, valid as long as the node has these
    ``instances``; and the copies of artifacts that each of them gets."""

    instances: tuple[str, ...]
    variables: dict[str, str]
    files: tuple[FilePlacement, ...] = ()

    def of(self, instance: str) -> dict[str, str]:
        """The variables of the operation for one of the instances."""
        return {**self.variables, "INSTANCE": instance}
