"""Lifecycle steps that would roll back over what cannot be undone, and those that nobody carries out."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.imperative import Workflow
from ordito.model.lifecycle_steps import BlockType, LifecycleStep
from ordito.model.service import Service
from ordito.planning.lossy_steps import check_service
from ordito.planning.options import Hooking, PlanOptions, WrittenWorkflow
from ordito.planning.refused import PlanRefused
from ordito.work.hooks import Transition
from ordito.work.options import ChangeOptions
from tests.planning.test_lifecycle_phases import BLOCK
from tests.support.runs import OPTIONS, World, codes
from tests.support.services import node, operation, service

UNDOES = BlockType(BLOCK.fqn, undo=operation("undo"))
STAYS = BlockType(BLOCK.fqn)


def shop(*steps: LifecycleStep) -> Service:
    made = service(node("database", operations=["create", "delete"]))
    return msgspec.structs.replace(made, hooks={s.id: s for s in steps})


def step(name: str, phase: str, on_failure: str = "abort", block: BlockType = STAYS) -> LifecycleStep:
    component = "" if name.startswith("m") else "database"
    return LifecycleStep(name, BLOCK.fqn, phase, component, on_failure=on_failure, block=block)


def options(made: Service, transition: Transition = Transition.INSTALL, **more: object) -> PlanOptions:
    blocks = dict.fromkeys(made.hooks, BLOCK)
    return replace(OPTIONS, hooking=Hooking(transition=transition, blocks=blocks, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("is_strict", [False, True])
def test_a_rollback_over_what_has_no_undo_is_said(is_strict: bool) -> None:
    made = shop(
        step("migrate", "install.before"),
        step("warm", "install.after", block=UNDOES),
        step("m_test", "install.after", "rollback"),
    )
    found = Diagnostics()
    check_service(made, found)
    assert codes(found) == ["lossy-rollback"]
    assert '"m_test" would roll back over "migrate"' in next(iter(found)).message
    world = World(made)
    if is_strict:
        with pytest.raises(PlanRefused) as refused:
            world.plan(options=options(made, strict=True))
        assert codes(refused.value.diagnostics) == ["lossy-rollback"]
    else:
        (warning,) = world.plan(options=options(made)).summary.warnings
        assert "warning[lossy-rollback]" in warning


def test_what_was_done_in_an_other_transition_is_none_of_it() -> None:
    made = shop(step("migrate", "upgrade.before"), step("m_test", "install.after", "rollback"))
    found = Diagnostics()
    check_service(made, found)
    assert codes(found) == []


def test_nothing_brings_back_what_was_removed() -> None:
    made = shop(step("saved", "delete.before", block=UNDOES), step("gone", "delete.after", "rollback"))
    world = World(made)
    world.run()
    (warning,) = world.plan("undeploy", options(made, Transition.DELETE)).summary.warnings
    assert "they are not created again" in warning


def test_a_rollback_over_what_is_replaced_is_said() -> None:
    """By steps behind that alone: what comes before loses nothing."""
    made = shop(
        step("saved", "upgrade.before", "rollback", UNDOES), step("m_test", "upgrade.after", "rollback", UNDOES)
    )
    world = World(made)
    world.run()
    told = replace(options(made, Transition.UPGRADE), changes=ChangeOptions(replaced=("database",)))
    (warning,) = world.plan("upgrade", told).summary.warnings
    assert (
        'warning[lossy-replace]: lifecycle step "m_test" would roll back over what is replaced: database_1' in warning
    )
    assert not world.plan("upgrade", options(made, Transition.UPGRADE, which="all")).summary.warnings


def test_a_workflow_of_the_template_carries_out_no_steps() -> None:
    made = shop(step("m_test", "install.after"), step("m_saved", "delete.before"))
    made = msgspec.structs.replace(made, workflows={"deploy": Workflow("deploy")})
    plan = World(made).plan(options=replace(options(made), written=WrittenWorkflow("deploy")))
    assert not plan.hooks
    (warning,) = plan.summary.warnings
    assert 'workflow "deploy" of the template carries out no lifecycle steps: m_test' in warning
