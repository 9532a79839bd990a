"""The outputs of the topology, evaluated with the existing instances (§3.6.14, R-4.5.1-6)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Data
from ordito.model.service import NodeTemplate, Output
from ordito.syntax.expressions import Call, Value, calls

OF_INSTANCES = frozenset({"get_attribute", "get_operation_output"})
"""The functions whose results differ between instances."""


def topology_outputs(evaluator: Evaluator, counts: Mapping[str, int]) -> tuple[dict[str, Data], dict[str, str]]:
    """The value of each output, None where it has none; and by the names of those that could not be evaluated, why not.

    A function of a node with several instances (``counts``: the wanted numbers) gives a map {instance id: value}, or
    for an output of type list the values in the order of the instances.
    """
    values: dict[str, Data] = {}
    problems: dict[str, str] = {}
    for output in evaluator.service.outputs.values():
        try:
            values[output.name] = _output(evaluator, output, counts)
        except EvaluationError as error:
            values[output.name] = None
            problems[output.name] = str(error)
    return values, problems


def _output(evaluator: Evaluator, output: Output, counts: Mapping[str, int]) -> Data:
    as_list = output.schema is not None and output.schema.type == "list" and not output.inferred
    found = _value(evaluator, output.value, counts, as_list=as_list)
    return evaluator.marks.wrap(found, evaluator.marks.by(output.schema, output.metadata))


def _value(evaluator: Evaluator, value: Value, counts: Mapping[str, int], *, as_list: bool) -> Data:
    """A value with each of its outermost functions evaluated once per instance, where there are several.

    The nesting of documents is bounded by the loader, so recursion is safe here.
    """
    if isinstance(value, dict):
        return {k: _value(evaluator, v, counts, as_list=False) for k, v in value.items()}
    if isinstance(value, list):
        return [_value(evaluator, v, counts, as_list=False) for v in value]
    if not isinstance(value, Call):
        return value
    several = [n for n in _nodes(evaluator, value) if _is_several(evaluator, n, counts)]
    if not several:
        return _data(evaluator.evaluate(value, Context()))
    members = [evaluator.snapshot.ids_of(n.name) for n in several]
    if len({len(ids) for ids in members}) > 1:
        named = ", ".join(f"{n.name} has {len(ids)}" for n, ids in zip(several, members, strict=True))
        raise EvaluationError(f"a value joins nodes with different numbers of instances: {named}", value.span)
    found: dict[str, Data] = {}
    for ids in zip(*members, strict=True):
        chosen = {n.name: i for n, i in zip(several, ids, strict=True)}
        found[ids[0]] = _data(evaluator.evaluate(value, Context(chosen=chosen)))
    return list(found.values()) if as_list else found


def _nodes(evaluator: Evaluator, value: Call) -> list[NodeTemplate]:
    """The nodes whose instances a value depends on, in the order in which it names them."""
    named = (str(call.arguments[0]) for call in calls(value) if call.function in OF_INSTANCES)
    return [evaluator.service.nodes[n] for n in dict.fromkeys(named) if n in evaluator.service.nodes]


def _is_several(evaluator: Evaluator, node: NodeTemplate, counts: Mapping[str, int]) -> bool:
    """Whether a node counts as one with several instances: more than one wanted or allowed, or there."""
    upper = node.occurrences[1] if node.occurrences else 1
    return upper is None or upper > 1 or counts.get(node.name, 1) > 1 or len(evaluator.snapshot.ids_of(node.name)) > 1


def _data(found: Data | Nothing) -> Data:
    return None if isinstance(found, Nothing) else found
