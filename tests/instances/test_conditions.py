"""Conditions: what they say of what exists, and why they do not hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.instances.conditions import ConditionEvaluator, Verdict
from ordito.instances.context import Trace
from ordito.instances.entities import LinkEntity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Link, Snapshot
from ordito.model.imperative import Assertion, Condition
from ordito.model.schema import Constraint
from ordito.model.service import Service
from tests.support.documents import resolve
from tests.support.services import definition, node, service
from tests.support.thorough import examples

FILE = Path(__file__).parent / "data" / "conditions" / "service.yaml"
LINE = re.compile(r"^#: (\S+) (\{.*\})$", re.MULTILINE)


def read() -> tuple[Service, ConditionEvaluator]:
    made, diagnostics = resolve(FILE)
    assert made is not None, [d.message for d in diagnostics]
    snapshot = Snapshot()
    for name, text in LINE.findall(FILE.read_text()):
        values = json.loads(text)
        state = values.pop("state")
        if "." in name:
            source, requirement, target = name.split(".")
            key = next(r.key for r in made.nodes["web"].requirements if r.requirement == requirement)
            snapshot.apply(Delta(links=(Link(name, key, source, target, state),)))
        else:
            stem, _, number = name.rpartition("_")
            snapshot.apply(Delta(instances=(Instance(name, stem, int(number) - 1, "", state, "ok"),)))
        snapshot.apply(Delta(attributes={name: values}))
    return made, ConditionEvaluator(Evaluator(made, snapshot, {}))


SERVICE, CONDITIONS = read()


def entity(of: str) -> NodeEntity | LinkEntity:
    """What a condition is about, by the id of an instance or a link."""
    if "." not in of:
        return NodeEntity(SERVICE.nodes[of.rpartition("_")[0]], of)
    source, requirement, target = of.split(".")
    relationship = next(r for r in SERVICE.nodes["web"].requirements if r.requirement == requirement)
    return LinkEntity(relationship, source, target)


@pytest.mark.parametrize("name", SERVICE.workflows)
def test_what_a_condition_says(name: str) -> None:
    """R-3.6.24-1, R-3.6.24-2, R-3.6.25-2, R-3.6.25-3, R-3.6.25-4."""
    workflow = SERVICE.workflows[name]
    of, expected = workflow.metadata["of"], workflow.metadata["verdict"]
    (precondition,) = workflow.preconditions
    condition = precondition.condition
    assert condition is not None
    verdict = CONDITIONS.of(condition, entity(of))
    assert verdict.holds == (expected == "holds")
    assert str(verdict) == ("" if verdict.holds else expected)
    assert "s3cr3t" not in f"{verdict!r}{verdict}"
    # What does not hold is said with its place.
    assert all(unmet.span is not None and unmet.span.line > 1 for unmet in verdict.unmet)


# --------------------------------------------------------------------------------------------------- truth tables

NAMES = ("a", "b", "c", "d")
Tree = tuple[str, list[object]] | str

TREES = st.recursive(
    st.sampled_from(NAMES),
    lambda inner: st.tuples(st.sampled_from(["and", "or", "not", ""]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=12,
)


def condition_of(tree: object) -> Condition | Assertion:
    if isinstance(tree, str):
        return Assertion(tree, (Constraint("equal", "yes"),))
    assert isinstance(tree, tuple)
    operator, parts = tree
    return Condition(operator or "and", tuple(condition_of(part) for part in parts))


def truth(tree: object, values: dict[str, str], asked: list[str]) -> bool:
    """What a tree comes to, by the words of the specification; the assertions that are asked, in their order."""
    if isinstance(tree, str):
        asked.append(tree)
        return values[tree] == "yes"
    assert isinstance(tree, tuple)
    operator, parts = tree
    results = (truth(part, values, asked) for part in parts)
    if operator == "or":
        return any(results)
    return not all(results) if operator == "not" else all(results)


class Counting(Evaluator):
    """Notes what is asked, in order."""

    asked: list[str]

    def evaluate(self, value, context, trace=None):  # type: ignore[no-untyped-def]
        self.asked.append(str(value.arguments[1]))
        return super().evaluate(value, context, trace)


@settings(max_examples=examples(60), deadline=None)
@given(TREES, st.fixed_dictionaries({name: st.sampled_from(["yes", "no"]) for name in NAMES}))
def test_truth_tables(tree: object, values: dict[str, str]) -> None:
    """R-3.6.25-2, R-3.6.25-5: and, or (at least one), not (at least one does not hold), in listed order, no further
    than needed; what is missing does not hold."""
    made = service(node("n", declares=[definition(name) for name in NAMES]))
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=(Instance("n_1", "n", 0),)))
    snapshot.apply(Delta(attributes={"n_1": {n: v for n, v in values.items() if v == "yes"}}))
    evaluator = Counting(made, snapshot, {})
    evaluator.asked = []
    part = condition_of(tree)
    condition = part if isinstance(part, Condition) else Condition("and", (part,))
    trace = Trace()
    verdict: Verdict = ConditionEvaluator(evaluator).of(condition, NodeEntity(made.nodes["n"], "n_1"), trace)
    asked: list[str] = []
    assert verdict.holds == truth(tree, values, asked)
    assert evaluator.asked == asked
    assert verdict.holds == (not verdict.unmet)
    assert trace.reads == {"n_1"}
