"""What is known of each workflow: each question is answered by its record, and each has an answer for all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ordito.app.requests import REQUESTS
from ordito.planning.workflows import ROLLBACK_OF_JOB, UNDOING
from ordito.planning.workflows import WORKFLOWS as PLANNED
from ordito.work.workflows import ALIASES, WORKFLOWS, Aim, Workflow, WorkflowEffect, workflow_of

ANSWERS: dict[str, tuple[Callable[[Workflow], bool], set[str]]] = {
    "describes": (lambda w: w.describes, {"deploy", "upgrade"}),
    "forms": (lambda w: w.forms, {"deploy", "upgrade", "rollback"}),
    "goes back": (lambda w: w.goes_back, {"rollback"}),
    "removes": (lambda w: w.removes, {"undeploy"}),
    "scales": (lambda w: w.scales, {"scale"}),
    "heals": (lambda w: w.heals, {"heal"}),
    "looks": (lambda w: w.looks, {"check", "discover"}),
    "calls": (lambda w: w.calls, {"run"}),
    "interrupts": (lambda w: w.interrupts, {"deploy", "upgrade", "rollback", "restart"}),
    "continues": (lambda w: w.continues, {"deploy", "upgrade", "rollback", "undeploy", "scale"}),
    "keeps inputs": (lambda w: w.keeps_inputs, {"run"}),
    "revises": (
        lambda w: w.revises,
        {"deploy", "upgrade", "rollback", "undeploy", "state mv", "state adopt"},
    ),
    "applies": (
        lambda w: w.applies,
        {
            *("deploy", "upgrade", "rollback", "undeploy", "scale", "heal", "start", "stop", "restart"),
            *("state mv", "state adopt"),
        },
    ),
    "prunes": (lambda w: bool(w.prunes), {"deploy", "upgrade"}),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_each_question_is_answered_for_all_workflows(question: str) -> None:
    asks, yes = ANSWERS[question]
    assert {name for name, workflow in WORKFLOWS.items() if asks(workflow)} == yes


def test_what_a_command_asks_for_is_planned_and_has_a_summary() -> None:
    commands = {name for name, workflow in WORKFLOWS.items() if workflow.summary}
    assert commands == REQUESTS.keys() - {"workflow"}
    assert commands | {"tell", ROLLBACK_OF_JOB, UNDOING} == PLANNED.keys()


def test_the_names_of_the_specification_are_known() -> None:
    assert ALIASES == {"install": "deploy", "uninstall": "undeploy"}


@pytest.mark.parametrize("name", ["workflow backup", "backup", ""])
def test_what_somebody_wrote_leaves_what_was_applied(name: str) -> None:
    found = workflow_of(name)
    assert (found.name, found.aim, found.effect, found.keeps_inputs) == (name, Aim.OWN, WorkflowEffect.LEAVES, True)
