"""Activities and conditions that a plan names by their places in the service: they hold functions that are evaluated
when a step begins, while the plan is plain data.
"""

from __future__ import annotations

from ordito.model.imperative import Activity, Condition
from ordito.model.service import Service

Written = tuple[str, ...]
"""A place in the service: what it is, the names that lead to it, and for activities and preconditions the number."""

STEP = "step"
TRIGGER = "trigger"
PRECONDITION = "precondition"
OUTPUT = "output"


def of_step(workflow: str, step: str) -> Written:
    """The place of a workflow's step."""
    return (STEP, workflow, step)


def of_trigger(policy: str, trigger: str) -> Written:
    """The place of a policy's trigger."""
    return (TRIGGER, policy, trigger)


def of_precondition(workflow: str, number: int) -> Written:
    """The place of a workflow's precondition."""
    return (PRECONDITION, workflow, str(number))


def of_output(workflow: str, name: str) -> Written:
    """The place of a workflow's output."""
    return (OUTPUT, workflow, name)


def output_at(service: Service, holder: Written) -> tuple[str, tuple[str | int, ...]]:
    """The name of a workflow's output, and what it is mapped to."""
    _, workflow, name = holder
    return name, service.workflows[workflow].outputs[name]


def activity_at(service: Service, holder: Written, number: int) -> Activity:
    """The activity with this number, from 0, of a step or a trigger."""
    kind, first, second = holder[:3]
    if kind == TRIGGER:
        return service.policies[first].triggers[second].actions[number]
    return service.workflows[first].steps[second].activities[number]


def condition_at(service: Service, holder: Written) -> Condition | None:
    """The filter of a step, or the condition of a precondition; None if it has none."""
    kind, first, second = holder
    if kind == PRECONDITION:
        return service.workflows[first].preconditions[int(second)].condition
    return service.workflows[first].steps[second].filter
