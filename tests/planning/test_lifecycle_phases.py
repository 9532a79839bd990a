"""Where the lifecycle steps of a service come in a plan, and what is to be ready before them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.engine.core import Core
from ordito.engine.messages import Start, StepEnded
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.service import NodeTemplate, Service
from ordito.planning.options import Hooking, PlanOptions, RolledBack
from ordito.planning.workflows import ROLLBACK_OF_JOB
from ordito.work.hooks import Block, BlockScript, DoneHook, Hook, Moment, Transition
from ordito.work.options import ChangeOptions, JobOptions
from ordito.work.plan import Action, Plan
from tests.support.runs import OPTIONS, World, assert_order, steps_of
from tests.support.services import Requires, maintain, node, service

BLOCK = Block(
    fqn="example.com/lifecycle/test@v1#Say",
    version="1.0.0",
    digest="d",
    execute=BlockScript("say.sh", "tosca.artifacts.Implementation.Bash"),
)
UNDOABLE = msgspec.structs.replace(BLOCK, undo=BlockScript("unsay.sh", "tosca.artifacts.Implementation.Bash"))
INSTALL, UPGRADE, DELETE = Transition.INSTALL, Transition.UPGRADE, Transition.DELETE


def checked(made: NodeTemplate, **settings: object) -> NodeTemplate:
    """A node with a check."""
    more = msgspec.structs.replace(made.settings, **settings)
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain("check")}, settings=more)


def step(name: str, on_failure: str = "abort") -> LifecycleStep:
    """``api.install.before`` is a step of that phase; ``install.before`` one of the module."""
    component, _, phase = name.rpartition(".")[0].rpartition(".")
    phase = f"{phase}.{name.rpartition('.')[2]}"
    return LifecycleStep(id=name, fqn=BLOCK.fqn, phase=phase, component=component, on_failure=on_failure)


def shop(*names: str, api: int = 1, ready: float | None = None) -> Service:
    """An api that requires a database, with lifecycle steps; the api stands first in the template."""
    made = service(
        checked(node("api", Requires("database"), operations=["create", "start", "stop", "delete"], count=api)),
        checked(node("database", operations=["create", "start", "stop", "delete"]), ready=ready),
    )
    return msgspec.structs.replace(made, hooks={name: step(name) for name in names})


def options(world: World, transition: Transition, block: Block = BLOCK, **more: object) -> PlanOptions:
    blocks = dict.fromkeys(world.service.hooks, block)
    return replace(OPTIONS, hooking=Hooking(transition=transition, blocks=blocks, **more))  # type: ignore[arg-type]


EVERYWHERE = [
    f"{component}{transition}.{moment}"
    for component in ("", "api.", "database.")
    for transition in ("install", "upgrade", "delete")
    for moment in ("after", "before")
]


def in_order(plan: Plan, *steps: str) -> None:
    """These are all steps of the plan, and they can only be carried out in this order."""
    assert sorted(steps_of(plan)) == sorted(steps)
    assert_order(plan, *steps)


def test_an_installation_has_its_phases_in_order() -> None:
    world = World(shop(*EVERYWHERE))
    plan = world.plan(options=options(world, INSTALL))
    begins = ["database.install.before", "api.install.before"]
    resources = [f"{i}.Standard.{o}" for i in ("database_1", "api_1") for o in ("create", "configure", "start")]
    ready = ["database_1.Maintain.check.ready", "api_1.Maintain.check.ready"]
    ends = ["database.install.after", "api.install.after", "install.before", "install.after"]
    assert sorted(steps_of(plan)) == sorted([*begins, *resources, *ready, *ends])
    for asked in ready:
        assert_order(plan, *begins, *resources, asked, *ends)
    assert [hook.id for hook in plan.hooks] == [plan.hooks[s.hook].id for s in plan.steps if s.action is Action.HOOK]


def test_removing_has_its_phases_in_order() -> None:
    world = World(shop(*EVERYWHERE))
    world.run()
    plan = world.plan("undeploy", options(world, DELETE))
    in_order(
        plan,
        "delete.before",
        "delete.after",
        "api.delete.before",
        "database.delete.before",
        "api_1.Standard.stop",
        "api_1.Standard.delete",
        "database_1.Standard.stop",
        "database_1.Standard.delete",
        "api.delete.after",
        "database.delete.after",
    )


def test_only_what_changes_has_lifecycle_steps_unless_all_are_asked_for() -> None:
    world = World(shop(*EVERYWHERE))
    world.run()
    world.service = shop(*EVERYWHERE, api=2)
    changed = world.plan(options=options(world, UPGRADE))
    assert {h.id for h in changed.hooks} == {
        "api.upgrade.before",
        "api.upgrade.after",
        "upgrade.before",
        "upgrade.after",
    }
    every = world.plan(options=options(world, UPGRADE, which="all"))
    assert {h.id for h in every.hooks} == {name for name in EVERYWHERE if "upgrade" in name}
    assert not world.plan(options=options(world, UPGRADE, which="none")).hooks


def test_what_depends_on_a_change_is_to_be_ready_too() -> None:
    world = World(shop("upgrade.after"))
    world.run()
    made = shop("upgrade.after")
    database = msgspec.structs.replace(made.nodes["database"], instance_count=2, occurrences=(0, None))
    world.service = msgspec.structs.replace(
        service(made.nodes["api"], database, checked(node("other"))), hooks=made.hooks
    )
    plan = world.plan(options=options(world, UPGRADE))
    asked = {s for s in steps_of(plan) if s.endswith(".ready")}
    assert "api_1" not in {change.instance for change in plan.changes}
    assert asked == {f"{i}.Maintain.check.ready" for i in ("database_1", "database_2", "api_1", "other_1")}


@pytest.mark.parametrize("which", ["changed", "all"])
def test_nothing_changes_nothing_is_carried_out(which: str) -> None:
    world = World(shop(*EVERYWHERE))
    world.run()
    assert world.plan(options=options(world, UPGRADE, which=which)).is_empty


def test_without_lifecycle_steps_a_plan_is_as_it_was() -> None:
    world = World(shop())
    plan = world.plan(options=options(world, INSTALL))
    assert not any(s.flow.barrier for s in plan.steps)
    assert plan == world.plan()


@pytest.mark.parametrize("workflow", ["stop", "restart", "heal", "check"])
def test_other_workflows_have_no_lifecycle_steps(workflow: str) -> None:
    world = World(shop(*EVERYWHERE))
    world.run()
    chosen = replace(options(world, UPGRADE), instances=frozenset({"api_1"}))
    assert not world.plan(workflow, chosen).hooks


def test_an_attempt_goes_on_with_what_is_left_of_it() -> None:
    """What was carried out by an earlier attempt is not carried out again, unless it would do something else now; what
    comes after the resources follows even where nothing is left to be done to them."""
    world = World(shop(*EVERYWHERE))
    first = world.plan(options=options(world, INSTALL))
    world.run()
    done = tuple(DoneHook(h, "job1", "c") for h in first.hooks if h.id.endswith("before"))
    again = world.plan(options=options(world, INSTALL, done=done))
    ready = [f"{i}.Maintain.check.ready" for i in ("api_1", "database_1")]
    after = ("database.install.after", "api.install.after", "install.after")
    assert sorted(steps_of(again)) == sorted([*ready, *after])
    assert_order(again, ready[0], *after)
    assert_order(again, ready[1], *after)
    assert sum("was carried out by job job1" in warning for warning in again.summary.warnings) == 3
    changed = msgspec.structs.replace(BLOCK, digest="another")
    assert "api.install.before" in {h.id for h in world.plan(options=options(world, INSTALL, changed, done=done)).hooks}
    every = tuple(DoneHook(h, "job1", "c") for h in first.hooks)
    assert world.plan(options=options(world, INSTALL, done=every)).is_empty


def test_what_is_forced_has_its_steps_again() -> None:
    world = World(shop(*EVERYWHERE))
    first = world.plan(options=options(world, INSTALL))
    world.run()
    done = tuple(DoneHook(h, "job1", "c") for h in first.hooks)
    forced = replace(options(world, INSTALL, done=done), force=True)
    assert [h.id for h in world.plan(options=forced).hooks] == [h.id for h in first.hooks]
    upgraded = world.plan(options=replace(options(world, UPGRADE), force=True))
    assert {h.id for h in upgraded.hooks} == {name for name in EVERYWHERE if "upgrade" in name}


def test_a_step_that_may_fail_holds_nothing_up() -> None:
    made = shop()
    made = msgspec.structs.replace(made, hooks={"install.after": step("install.after", "continue")})
    world = World(made)
    (found,) = [s for s in world.plan(options=options(world, INSTALL)).steps if s.action is Action.HOOK]
    assert found.flow.optional
    assert found.flow.non_blocking


def test_the_time_to_get_ready_is_a_setting_of_the_node() -> None:
    world = World(shop("install.after", ready=7.0))
    plan = world.plan(options=options(world, INSTALL))
    within = {s.id: plan.calls[s.call].within for s in plan.steps if s.id.endswith(".ready")}
    assert within == {"database_1.Maintain.check.ready": 7.0, "api_1.Maintain.check.ready": 300.0}


@pytest.mark.parametrize(("prune", "is_last"), [("last", True), ("early", False)])
def test_what_leaves_is_removed_last_or_first(prune: str, is_last: bool) -> None:
    world = World(shop("upgrade.after", api=2))
    world.run()
    nodes = {**shop(api=1).nodes, "cache": node("cache", operations=["create"])}
    world.service = msgspec.structs.replace(service(*nodes.values()), hooks=shop("upgrade.after").hooks)
    plan = world.plan(options=replace(options(world, UPGRADE), changes=ChangeOptions(prune=prune)))
    steps = ["cache_1.Standard.create", "api_2.Standard.stop"]
    assert_order(plan, *(steps if is_last else steps[::-1]))
    assert_order(
        plan, *(["upgrade.after", "api_2.Standard.stop"] if is_last else ["api_2.Standard.delete", "upgrade.after"])
    )


def test_what_was_done_is_undone_around_what_takes_back_the_resources() -> None:
    names = ["database.install.before", "api.install.before", "api.install.after", "install.after"]
    world = World(shop(*names))
    made = world.run()
    hooks = world.plan(options=options(world, INSTALL, UNDOABLE, which="none"))
    assert not hooks.hooks
    done = tuple(
        DoneHook(Hook(n, UNDOABLE, INSTALL, Moment(step(n).phase.partition(".")[2]), step(n).component), "job1", n)
        for n in names
    )
    asked = replace(
        OPTIONS,
        rolled_back=RolledBack("job1", frozenset(i.id for i in made.records.new)),
        hooking=Hooking(done=done, undoes=True),
    )
    plan = world.plan(ROLLBACK_OF_JOB, asked)
    in_order(
        plan,
        "install.after.undo",
        "api.install.after.undo",
        "api_1.Standard.stop",
        "api_1.Standard.delete",
        "database_1.Standard.stop",
        "database_1.Standard.delete",
        "api.install.before.undo",
        "database.install.before.undo",
    )
    assert all(s.flow.after_failure for s in plan.steps if s.action is Action.UNDO)


MADE_AGAIN = [f"{i}.Standard.{o}" for i in ("database_1", "api_1") for o in ("create", "configure", "start")]


def going_back(world: World, *done: DoneHook) -> Plan:
    """The plan of a rollback to the service of a world of which nothing is there any more."""
    return world.plan("rollback", replace(OPTIONS, hooking=Hooking(done=done, undoes=True)))


def done_by(name: str, block: Block = UNDOABLE) -> DoneHook:
    """A step that was carried out, as ``step`` names it."""
    phase = step(name).phase.partition(".")
    return DoneHook(Hook(name, block, Transition(phase[0]), Moment(phase[2]), step(name).component), "job1", name)


def undone_once(state: str) -> Block:
    """A block that is undone when its component has come to a node state again."""
    return msgspec.structs.replace(UNDOABLE, undone_once=state)


def test_what_prepared_a_removal_is_undone_when_all_is_made_again() -> None:
    """The reverse of the order in which it was done, around the resources; what a module did before a removal too."""
    names = ["database.upgrade.before", "upgrade.after", "delete.before", "api.delete.before", "database.delete.before"]
    plan = going_back(World(shop()), *map(done_by, [*names, "api.delete.after"]))
    api, database = "api_1.Maintain.check", "database_1.Maintain.check"
    steps = [s for s in steps_of(plan) if not s.startswith((api, database))]
    undone = [f"{name}.undo" for name in reversed(names)]
    assert sorted(steps) == sorted(["api.delete.after.undo", *MADE_AGAIN, *undone])
    after, before = ["api.delete.after.undo", "upgrade.after.undo"], [u for u in undone if u != "upgrade.after.undo"]
    for asked in (api, database):
        assert_order(plan, *after, *MADE_AGAIN, f"{asked}.again", *before, f"{asked}.ready")


def test_a_block_may_be_undone_before_its_component_is_up_again() -> None:
    steps = done_by("database.delete.before", undone_once("configured")), done_by("api.delete.before")
    plan = going_back(World(shop(api=2)), *steps)
    database = [f"database_1.Standard.{o}" for o in ("create", "configure", "start")]
    assert_order(plan, *database[:2], "database.delete.before.undo", database[2], "api_1.Standard.start")
    assert_order(plan, "api_2.Standard.start", "api.delete.before.undo")
    early = going_back(World(shop(api=2)), done_by("api.delete.before", undone_once("created")))
    for number in (1, 2):
        made = [f"api_{number}.Standard.{o}" for o in ("create", "configure", "start")]
        assert_order(early, made[0], "api.delete.before.undo", *made[1:])


def test_what_was_done_later_is_undone_earlier_whatever_its_block_asks() -> None:
    """The steps of one component are undone in the reverse of their order."""
    first = done_by("api.upgrade.before", undone_once("created"))
    for state, before in (("configured", "api_1.Standard.start"), ("created", "api_1.Standard.configure")):
        last = done_by("api.delete.before", undone_once(state))
        plan = going_back(World(shop()), first, last)
        assert_order(plan, "api.delete.before.undo", "api.upgrade.before.undo", before)
    plan = going_back(World(shop()), first, done_by("api.delete.before"))
    assert_order(plan, "api_1.Standard.start", "api.delete.before.undo", "api.upgrade.before.undo")


@pytest.mark.parametrize("state", ["created", "configured", "started"])
@pytest.mark.parametrize("fails", ["create", "configure", "start", ""])
def test_nothing_is_undone_of_what_could_not_be_made_again(state: str, fails: str) -> None:
    """It holds nothing up either: what is of another component is undone."""
    done = done_by("database.delete.before", undone_once(state)), done_by("delete.before")
    plan = going_back(World(shop()), *done)
    ended: set[str] = set()
    core = Core(plan, JobOptions(on_failure="continue"))
    while commands := core.wake():
        for command in commands:
            if isinstance(command, Start):
                name = plan.steps[command.step].id
                ended.add(name)
                core.react(StepEnded(command.step, succeeded=name != f"database_1.Standard.{fails}"))
    operations = ["create", "configure", "start"]
    reached = operations.index(fails) if fails else 3
    assert ("database.delete.before.undo" in ended) is (reached > ["created", "configured", "started"].index(state))
    assert "delete.before.undo" in ended


def test_what_fails_to_be_undone_holds_nothing_up() -> None:
    steps = [done_by(f"{name}.delete.before", undone_once("created")) for name in ("api", "database")]
    plan = going_back(World(shop()), *steps)
    core, ended = Core(plan, JobOptions(on_failure="continue")), set[str]()
    while commands := core.wake():
        for command in commands:
            assert isinstance(command, Start)
            name = plan.steps[command.step].id
            ended.add(name)
            core.react(StepEnded(command.step, succeeded=not name.endswith(".undo")))
    assert ended == set(steps_of(plan))


def test_very_many_instances_make_few_edges() -> None:
    """Every phase costs as many edges as it has steps."""
    few, many = (World(shop(*EVERYWHERE, api=count)) for count in (50, 100))
    edges = [len(world.plan(options=options(world, INSTALL)).edges) for world in (few, many)]
    assert edges[1] < 2.1 * edges[0]
