"""Workflows that an artifact implements, as one step of a job: what their processor is given, and what its outputs
change (§7.3.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.base.sensitive import revealed, shown
from ordito.base.text import as_text
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Snapshot
from ordito.model.operation import Operation
from ordito.work.invocation import Invocation, Outcome
from ordito.work.outputs import WrongValue, notified, sensitive_outputs
from ordito.work.places import ExecutionPlace
from ordito.work.plan import PROCESSES, OperationCall, Step

FORMAT = "ordito.workflow-call/1"

Describe = Callable[[], Mapping[str, object]]
"""Gives the service as plain data, for programs that read it."""


class Job(msgspec.Struct, frozen=True):
    """What all workflows of a job share: its id, the folder of the service's files, and the service as plain data."""

    id: str
    root: str
    describe: Describe


def invocation_of(
    job: Job, step: Step, call: OperationCall, attempt: int, inputs: Mapping[str, object], snapshot: Snapshot
) -> Invocation:
    """The invocation of a workflow: a script gets the inputs as variables, a processor everything that it may need."""
    values = {name: revealed(value) for name, value in inputs.items() if value is not None}
    data: dict[str, object] | None = None
    environment = {name: as_text(value) for name, value in values.items()}
    if call.processor.startswith(PROCESSES):
        environment = {}
        data = {
            "format": FORMAT,
            "workflow": call.operation,
            "inputs": values,
            "outputs": list(call.outputs),
            "job": job.id,
            "attempt": attempt,
            "service": job.describe(),
            "snapshot": snapshot_data(snapshot),
        }
    return Invocation(
        job=job.id,
        step=step.id,
        attempt=attempt,
        processor=call.processor,
        root=job.root,
        artifact=call.artifact,
        environment=environment,
        dependencies=call.dependencies,
        outputs=call.outputs,
        timeout=call.timeout,
        data=data,
    )


def inputs_of(evaluator: Evaluator, call: OperationCall, given: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """The inputs of a workflow (given values first, then declared defaults), and what is wrong with them, "" for
    nothing."""
    found: dict[str, object] = {}
    workflow = evaluator.service.workflows[call.operation]
    for name, declared in workflow.inputs.items():
        key = f"{workflow.prefix}{name}"
        value = given.get(key)
        if key not in given and declared.has_default:
            try:
                value = evaluator.evaluate(declared.default, Context())
            except EvaluationError as error:
                return found, f'input "{name}" of workflow "{call.operation}" cannot be evaluated: {error}'
        if value is not None and not isinstance(value, Nothing):
            found[name] = evaluator.marks.wrap(value, evaluator.marks.of(declared))
        elif declared.required:
            return found, f'workflow "{call.operation}" needs input "{name}", and nothing gives it a value'
    return found, ""


def snapshot_data(snapshot: Snapshot) -> dict[str, object]:
    """The snapshot as plain data without secrets."""
    attributes = snapshot.attributes
    instances = {
        i.id: {
            "node": i.node,
            "index": i.index,
            "host": i.host,
            "state": i.state,
            "local": i.local,
            "attributes": shown(attributes.get(i.id, {})),
        }
        for i in snapshot.instances.values()
        if i.exists
    }
    links = {
        name: {
            "relationship": link.relationship,
            "source": link.source,
            "target": link.target,
            "state": link.state,
            "attributes": shown(attributes.get(name, {})),
        }
        for name, link in snapshot.links.items()
    }
    return {"instances": instances, "links": links}


def outputs_of(evaluator: Evaluator, call: OperationCall, step: Step, outcome: Outcome) -> Delta:
    """What the outputs of a workflow change: attributes of all instances of the nodes that they are mapped to. Raises
    ``WrongValue`` if one is missing or has the wrong type."""
    attributes: dict[str, dict[str, object]] = {}
    for name, path in evaluator.service.workflows[call.operation].outputs.items():
        if name not in outcome.outputs:
            where = ".".join(str(p) for p in path)
            raise WrongValue(f'the workflow gave no output "{name}", which is mapped to {where}')
        for place, at in _places(evaluator, step, name, path):
            for holder, values in notified(evaluator, place, at, {name: outcome.outputs[name]}).items():
                attributes.setdefault(holder, {}).update(values)
    return Delta(attributes=attributes)


def sensitive_results(evaluator: Evaluator, call: OperationCall, step: Step) -> set[str]:
    """The names of the outputs of a workflow that are mapped to sensitive attributes."""
    found: set[str] = set()
    for name, path in evaluator.service.workflows[call.operation].outputs.items():
        for place, at in _places(evaluator, step, name, path):
            found |= sensitive_outputs(evaluator, place, at)
    return found


def _places(
    evaluator: Evaluator, step: Step, name: str, path: tuple[str | int, ...]
) -> list[tuple[ExecutionPlace, Step]]:
    """The attribute to which an output is mapped, of each instance of the node or each pair of the relationship
    template."""
    service, snapshot, first = evaluator.service, evaluator.snapshot, str(path[0])
    operation = Operation("", name, outputs={name: ("SELF", *path[1:])})
    if first in service.nodes:
        return [(ExecutionPlace(operation, first, instance), step) for instance in snapshot.ids_of(first)]
    keys = {r.key: r for r in service.relationship_templates.get(first, ())}
    found: list[tuple[ExecutionPlace, Step]] = []
    for link in snapshot.links.values():
        relationship = keys.get(link.relationship)
        if relationship is not None:
            place = ExecutionPlace(operation, relationship.source, link.source, relationship, "source", link.target)
            found.append((place, msgspec.structs.replace(step, link=link.id)))
    return found
