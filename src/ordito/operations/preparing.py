"""Preparing a step that is about to start: its invocation with present inputs, or why there is none."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ordito.base.masking import Masking
from ordito.base.paths import above, from_above, levels_above
from ordito.base.sensitive import revealed, sensitive_parts, shown
from ordito.instances.context import EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import compute_of
from ordito.instances.lifecycle import DEPLOYS_ARTIFACT, UNDEPLOYS_ARTIFACT
from ordito.instances.records import Snapshot
from ordito.model.artifacts import ANSIBLE
from ordito.model.deploying import PLACING
from ordito.model.operation import Operation
from ordito.model.service import Service
from ordito.operations.artifact_workflows import Describe, Job, inputs_of, invocation_of, sensitive_results
from ordito.operations.called import PlanCalls
from ordito.operations.environment import OperationEnvironment, OperationEnvironments
from ordito.operations.script_context import CONTEXT, OF_FABRIC, PROCESS, SERVICE, OwnProgram, ScriptContexts, launch_of
from ordito.operations.secrecy import as_shown
from ordito.operations.targeting import Targets
from ordito.work.agents import FABRIC_ENV
from ordito.work.artifact_calls import LEFT, artifact_data
from ordito.work.doubts import IN_DOUBT, id_of_question
from ordito.work.given_helpers import FABRIC, STARTED_BY, given_to
from ordito.work.inventory import OperationSubject, TopologyInventory
from ordito.work.invocation import Ending, FilePlacement, Helpers, Invocation
from ordito.work.needs import ImplementationNeeds, needs_of
from ordito.work.places import ExecutionPlace
from ordito.work.plan import ARTIFACTS, SCRIPTS, Action, OperationCall, Step
from ordito.work.probes import CHECK, is_probe, maintaining
from ordito.work.targets import HostTarget, TargetRefused, Unreachable

CALL, WORKFLOW = Action.CALL, Action.WORKFLOW


class PreparedStep(msgspec.Struct, frozen=True):
    """A step that is about to start: its invocation, or why it must not start."""

    invocation: Invocation | None = None
    refusal: str = ""
    """Why it must not start, "" if it may."""

    ending: Ending = Ending.NOT_STARTED
    """How it ends if it must not start."""

    warnings: tuple[str, ...] = ()
    withholds: bool = False
    """Whether its output is shown only at its end, because it gives secrets that are not known before."""

    locked: bool = False
    """Whether its host refuses the login (``Outcome.refused``)."""


class OperationFiles(msgspec.Struct, frozen=True):
    """The files that an operation needs, relative to ``root``, which is ``levels`` folders above that of the
    service."""

    root: str
    artifact: str
    dependencies: tuple[str, ...]
    placements: tuple[FilePlacement, ...]
    levels: int = 0


class Preparing:
    """Prepares the steps of a job that are ready to start. The files of each call are located once."""

    def __init__(  # noqa: PLR0913  (what an invocation is made of)
        self,
        service: Service,
        snapshot: Snapshot,
        called: PlanCalls,
        evaluator: Evaluator,
        masking: Masking,
        variables: Mapping[str, object],
        targets: Targets,
        *,
        root: str,
        job: str,
        describe: Describe,
        deployment: str = "",
        program: OwnProgram | None = None,
    ) -> None:
        named = deployment or service.name
        self._contexts = ScriptContexts(service, snapshot, evaluator, masking, named, job, program)
        self._service = service
        self._snapshot = snapshot
        self._called = called
        self._evaluator = evaluator
        self._masking = masking
        self._environments = OperationEnvironments(evaluator, masking, variables)
        self._targets = targets
        self._root = root
        self._job = job
        self._describe = describe
        self._known_needs: dict[int, ImplementationNeeds | None] = {}
        self._topology = TopologyInventory(service, snapshot, self._target)
        self._places = SharedPlaces(service, snapshot, self._target)
        self._known_files: dict[tuple[str, tuple[str, ...], tuple[FilePlacement, ...]], OperationFiles] = {}

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """The invocation of a called operation, with its inputs evaluated now; or why it cannot start."""
        call = self._called.plan.calls[step.call]
        if call.scope >= 0 and (wrong := self._called.scopes.wrong(call.scope)):
            return PreparedStep(refusal=self._masking.text(wrong))
        if step.action is WORKFLOW:
            return self._prepared_workflow(step, call, attempt)
        place = self._called.place(step, call)
        environment = self._environments.prepare(place, step)
        if environment.refusals:
            return PreparedStep(
                refusal=self._masking.text("; ".join(environment.refusals)), warnings=environment.warnings
            )
        target: HostTarget | None = None
        if step.runs_on or _is_fabric(place):
            try:
                target = self._target_of(step, place)
            except Unreachable as unreachable:
                return PreparedStep(
                    refusal=str(unreachable),
                    ending=Ending.UNREACHABLE,
                    warnings=environment.warnings,
                    locked=isinstance(unreachable, TargetRefused),
                )
        invocation = self._invocation(step, call, place, environment, target, attempt)
        if call.processor == PLACING or call.processor.startswith(ARTIFACTS):
            data = self._artifact_data(call, place, step, attempt)
            invocation = msgspec.structs.replace(invocation, data=data)
        helpers = given_to(place.operation.implementation)
        if helpers is not None:
            invocation = self._with_context(invocation, helpers, step, call, place, attempt)
        gives = bool(place.operation.outputs) or is_probe(self._service, call)
        withholds = bool(self._called.sensitive_outputs(step)) if gives else False
        return PreparedStep(invocation, warnings=environment.warnings, withholds=withholds)

    def _invocation(
        self,
        step: Step,
        call: OperationCall,
        place: ExecutionPlace,
        environment: OperationEnvironment,
        target: HostTarget | None,
        attempt: int,
    ) -> Invocation:
        """The invocation of an operation whose environment is known."""
        # What is put in place lies where it lies.
        placements = () if call.processor == PLACING else environment.files
        files = self._files(call, placements)
        needs = self._needs(place.operation)
        return Invocation(
            job=self._job,
            step=step.id,
            attempt=attempt,
            processor=call.processor,
            root=files.root,
            artifact=files.artifact,
            environment=environment.variables,
            dependencies=files.dependencies,
            large=environment.large,
            outputs=call.outputs,
            timeout=call.timeout,
            host=step.runs_on,
            files=files.placements,
            target=target,
            needs=None if needs is None else self._with_values(needs, files, place, step),
            subject=self._subject(place, step) if call.processor == ANSIBLE else None,
        )

    def _with_context(
        self,
        invocation: Invocation,
        helpers: Helpers,
        step: Step,
        call: OperationCall,
        place: ExecutionPlace,
        attempt: int,
    ) -> Invocation:
        """The invocation of a script that is told of its instance."""
        implementation = place.operation.implementation
        assert implementation is not None
        inputs, fabric = self._environments.data(place, step), _is_fabric(place)
        launch, added = launch_of(revealed(inputs.get(PROCESS)))
        hidden = (PROCESS, *OF_FABRIC) if fabric else (PROCESS,)
        variables = {name: value for name, value in invocation.environment.items() if name not in hidden}
        document = self._contexts.document(self._called.plan, place, call, attempt, inputs, implementation)
        if starter := STARTED_BY.get(implementation.kinds[0]):
            launch = msgspec.structs.replace(launch, prefix=(starter,))
        target = invocation.target
        if fabric and inputs.get("use_sudo") and target is not None:
            # The whole operation has the rights, so that what it is given stays as it is.
            settings = {**target.settings, "become": target.settings.get("become") or True}
            target = HostTarget(target.protocol, target.name, settings)
        variables[SERVICE] = f"{self._root}/{self._service.main}".rpartition("/")[0]
        return msgspec.structs.replace(
            invocation,
            environment={**variables, **added},
            documents={CONTEXT: document},
            helpers=helpers,
            launch=launch,
            target=target,
        )

    def _artifact_data(self, call: OperationCall, place: ExecutionPlace, step: Step, attempt: int) -> dict[str, object]:
        """The data for a processor of artifacts. Properties that cannot be evaluated now are left out."""
        artifact = place.operation.implementation
        assert artifact is not None
        values = self._environments.values(place, step)
        properties: dict[str, object] = {}
        for name, value in artifact.properties.items():
            with contextlib.suppress(EvaluationError):
                found = self._evaluator.evaluate(value, place.context)
                self._masking.know(sensitive_parts(found))
                properties[name] = None if isinstance(found, Nothing) else revealed(found)
        data = artifact_data(call, place, artifact, properties, values, self._job, attempt)
        if call.processor == PLACING and self._places.is_left(call, place.instance):
            data["verb"] = LEFT
        return data

    def _needs(self, operation: Operation) -> ImplementationNeeds | None:
        """What an operation needs besides its file; looked up once."""
        # Operations are kept as long as the job, so that no other one gets the identity of one of them.
        if id(operation) not in self._known_needs:
            implementation = operation.implementation
            found = needs_of(implementation, operation.dependencies) if implementation is not None else None
            if implementation is not None and PLACING in implementation.kinds and operation.name in UNDEPLOYS_ARTIFACT:
                found = None  # What is removed need not be filled.
            self._known_needs[id(operation)] = found
        return self._known_needs[id(operation)]

    def _with_values(
        self, needs: ImplementationNeeds, files: OperationFiles, place: ExecutionPlace, step: Step
    ) -> ImplementationNeeds:
        """What an operation needs, with the values for its templates."""
        values = self._environments.values(place, step) if needs.templates else {}
        return msgspec.structs.replace(self._moved(needs, files), values=values)

    def _moved(self, needs: ImplementationNeeds, files: OperationFiles) -> ImplementationNeeds:
        """What an artifact needs, with its files relative to the root of the invocation."""
        requirements, templates = (
            tuple(from_above(self._root, files.levels, file) for file in found)
            for found in (needs.requirements, needs.templates)
        )
        return ImplementationNeeds(needs.version, requirements, templates)

    def _prepared_workflow(self, step: Step, call: OperationCall, attempt: int) -> PreparedStep:
        """The invocation that carries out a workflow as a whole."""
        inputs, wrong = inputs_of(self._evaluator, call, self._called.scopes.inputs(call.scope))
        self._masking.know(sensitive_parts(inputs))
        if wrong:
            return PreparedStep(refusal=self._masking.text(wrong))
        files = self._files(call, ())
        found = msgspec.structs.replace(call, artifact=files.artifact, dependencies=files.dependencies)
        job = Job(self._job, files.root, self._describe)
        invocation = invocation_of(job, step, found, attempt, inputs, self._snapshot)
        workflow = self._service.workflows[call.operation]
        needs = needs_of(workflow.implementation, workflow.dependencies) if workflow.implementation else None
        if needs is not None:
            values = {name: revealed(value) for name, value in inputs.items()}
            needs = msgspec.structs.replace(self._moved(needs, files), values=values if needs.templates else {})
            invocation = msgspec.structs.replace(invocation, needs=needs)
        return PreparedStep(invocation, withholds=bool(sensitive_results(self._evaluator, call, step)))

    def shown_inputs(self, step: Step) -> dict[str, object]:
        """The present inputs of a called operation, without secrets; none for what a provider does."""
        if step.action is WORKFLOW:
            call = self._called.plan.calls[step.call]
            inputs, _ = inputs_of(self._evaluator, call, self._called.scopes.inputs(call.scope))
            return as_shown({name: shown(value) for name, value in inputs.items()}, self._masking)
        if step.action is not CALL or step.call < 0:
            return {}
        call = self._called.plan.calls[step.call]
        holder = self._called.relationships.get(call.owner) if call.side else self._service.nodes.get(call.owner)
        interface = holder.interfaces.get(call.interface) if holder is not None else None
        if interface is None or call.operation not in interface.operations:
            return {}  # It is called for its place in the order only.
        place = self._called.place(step, call)
        inputs = self._environments.shown_inputs(place, step) if place.operation.inputs else {}
        return as_shown(inputs, self._masking)

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """The check that can tell whether a called operation in doubt was done, to be run where that has run; None if
        the instance has no check that an executor ``accepts`` there, or if the check itself is in doubt. Raises
        ``Unreachable``."""
        if step.action is WORKFLOW:
            return None  # It belongs to no instance that could be asked.
        call, node = (
            self._called.plan.calls[step.call],
            self._service.nodes[self._snapshot.instances[step.instance].node],
        )
        operation = None if is_probe(self._service, call) else maintaining(node, CHECK)
        implementation = operation.implementation if operation is not None else None
        if operation is None or implementation is None:
            return None
        target = self._target(step.runs_on)
        protocol = target.protocol if target is not None else ""
        processor = next((kind for kind in implementation.kinds if accepts((kind,), protocol)), "")
        asked = Step(id_of_question(step.id), instance=step.instance, runs_on=step.runs_on)
        place = ExecutionPlace(operation, node.name, step.instance)
        environment = self._environments.prepare(place, asked)
        if not processor or environment.refusals:
            return None
        check = OperationCall(
            node.name,
            "",
            operation.interface,
            CHECK,
            implementation.file,
            processor,
            tuple(d.file for d in operation.dependencies),
            outputs=call.outputs,
            timeout=operation.timeout,
        )
        invocation = self._invocation(asked, check, place, environment, target, 1)
        variables = {**invocation.environment, IN_DOUBT: call.name}
        return msgspec.structs.replace(invocation, environment=variables)

    def _target(self, compute: str) -> HostTarget | None:
        """How a Compute is reached; the masking learns its credentials. Raises ``Unreachable``."""
        target = self._targets.of(compute)
        if target is not None:
            self._masking.know(sensitive_parts(target.settings))
        return target

    def target_of(self, step: Step) -> HostTarget | None:
        """How the host of a step is reached, None for this machine. Raises ``Unreachable``."""
        if step.action is CALL and step.call >= 0:
            call = self._called.plan.calls[step.call]
            if call.holds_far or call.processor in SCRIPTS:
                return self._target_of(step, self._called.place(step, call))
        return self._target(step.runs_on)

    def _target_of(self, step: Step, place: ExecutionPlace) -> HostTarget | None:
        if not _is_fabric(place):
            return self._target(step.runs_on)
        given = revealed(self._environments.data(place, step).get(FABRIC_ENV))
        target = self._targets.of_fabric(step.runs_on, place.instance, given if isinstance(given, Mapping) else {})
        self._masking.know(sensitive_parts(target.settings))
        return target

    def _subject(self, place: ExecutionPlace, step: Step) -> OperationSubject:
        """The instance or pair that an operation is for, with its inputs as data."""
        implementation = place.operation.implementation
        settings: dict[str, object] = {}
        for name, value in (implementation.properties if implementation else {}).items():
            with contextlib.suppress(EvaluationError):
                found = self._evaluator.evaluate(value, place.context)
                if found is not None and not isinstance(found, Nothing):
                    settings[name] = found
        inputs = self._environments.data(place, step)
        self._masking.know(sensitive_parts([inputs, settings]))
        return OperationSubject(place.instance, self._topology, place.side, inputs, settings)

    def _files(self, call: OperationCall, placements: tuple[FilePlacement, ...]) -> OperationFiles:
        """The files of an invocation, relative to a folder above all of them; computed once for each call whose steps
        all need the same copies."""
        if any(not p.own for p in placements):
            return _files_of(self._root, call, placements)
        key = (call.artifact, call.dependencies, placements)
        known = self._known_files.get(key)
        if known is None:
            known = self._known_files[key] = _files_of(self._root, call, placements)
        return known


def _is_fabric(place: ExecutionPlace) -> bool:
    implementation = place.operation.implementation
    return implementation is not None and implementation.kinds[0] in FABRIC


def _files_of(root: str, call: OperationCall, placements: tuple[FilePlacement, ...]) -> OperationFiles:
    levels = max(levels_above(f) for f in (call.artifact, *call.dependencies, *(p.file for p in placements)))
    return OperationFiles(
        above(root, levels),
        from_above(root, levels, call.artifact),
        tuple(from_above(root, levels, d) for d in call.dependencies),
        tuple(msgspec.structs.replace(p, file=from_above(root, levels, p.file)) for p in placements),
        levels,
    )


# Who else has an artifact at the same place: instances of one node that lie on one machine share what their node is
# deployed with, and only the last of them to go removes it.


class SharedPlaces:
    """The instances that hold each deployed artifact, by machine. An instance that no longer does is dropped when it is
    met, so that a node of very many instances is gone through only once."""

    def __init__(self, service: Service, snapshot: Snapshot, target: Callable[[str], HostTarget | None]) -> None:
        self._service = service
        self._snapshot = snapshot
        self._target = target
        self._holders: dict[tuple[str, str], dict[tuple[str, str], dict[str, None]]] = {}

    def is_left(self, call: OperationCall, instance: str) -> bool:
        """Whether a call that would remove an artifact must leave it, because another instance needs it. Raises
        ``Unreachable``."""
        node = self._snapshot.instances[instance].node
        machine = self._machine(instance)
        if call.operation not in UNDEPLOYS_ARTIFACT:
            if (node, call.interface) in self._holders:
                self._holders[node, call.interface].setdefault(machine, {})[instance] = None
            return False
        holders = self._of(node, call.interface).get(machine, {})
        keys = [f"{call.interface}.{operation}" for operation in DEPLOYS_ARTIFACT]
        holders.pop(instance, None)
        for other in list(holders):
            record = self._snapshot.instances.get(other)
            if record is not None and record.exists and any(key in record.applied for key in keys):
                return True
            del holders[other]
        return False

    def _of(self, node: str, interface: str) -> dict[tuple[str, str], dict[str, None]]:
        known = self._holders.get((node, interface))
        if known is None:
            known = self._holders[node, interface] = {}
            for instance in self._snapshot.ids_of(node):
                try:
                    known.setdefault(self._machine(instance), {})[instance] = None
                except Unreachable:
                    continue  # Nobody knows that machine any more: it is not the one where something is removed.
        return known

    def _machine(self, instance: str) -> tuple[str, str]:
        """The machine of an instance: the protocol and name of its target, both "" for this one."""
        compute = compute_of(self._service, self._snapshot, instance)
        target = self._target(compute) if compute else None
        return (target.protocol, target.name) if target is not None else ("", "")
