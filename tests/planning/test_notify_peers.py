"""Who is told that the other end of a relationship has changed: when, how often, and when not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from ordito.base.sensitive import Sensitive
from ordito.instances.evaluate import Evaluator
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Service
from ordito.planning.options import Healing, PlanOptions
from ordito.work.invocation import Ending
from ordito.work.peer_knowledge import PeerKnowledge
from ordito.work.plan import Plan, Step, StepCondition
from tests.support.runs import OPTIONS, Answers, World, is_before, steps_of
from tests.support.services import Requires, definition, get_attribute, get_property, maintain, node, operation, service

READS = {"ip": get_attribute("TARGET", "ip")}
LINKS = ("add_target", "remove_target")


def tells(**inputs: object) -> Operation:
    """``target_changed`` with these inputs."""
    return operation("target_changed", interface="Configure", inputs=inputs)  # type: ignore[arg-type]


def target(count: int = 1, port: str = "80", **more: object) -> NodeTemplate:
    """A node that can be looked at, which finds its ``ip`` and its ``mood``."""
    declares = [definition("ip"), definition("mood")]
    create = operation("create", outputs={"ip": ("SELF", "ip")})
    made = node("T", declares=declares, operations=[create, "start", "stop"], count=count, properties={"port": port})
    return replace(made, interfaces={**made.interfaces, **maintain("check")}, **more)


def world(*operations: Operation | str, sources: int = 1, targets: int = 1, port: str = "80") -> World:
    return World(service_of(*operations, sources=sources, targets=targets, port=port))


def service_of(*operations: Operation | str, sources: int = 1, targets: int = 1, port: str = "80") -> Service:
    return service(target(targets, port), node("S", Requires("T", *operations), count=sources, operations=["start"]))


def finding(values: Mapping[str, object]) -> Answers:
    """Every target is found to have these values, or, by its id, its own ones."""

    def answer(step: Step, name: str) -> dict[str, object] | None:
        if name == "Maintain.check":
            own = {n.partition(".")[2]: v for n, v in values.items() if n.startswith(f"{step.instance}.")}
            return {**{n: v for n, v in values.items() if "." not in n}, **own}
        return None

    return answer


def told(run: World) -> list[str]:
    """Who was told, in order."""
    return [step.partition(".")[0] for step in run.ran if step.endswith("_changed")]


def of(*instances: str) -> PlanOptions:
    return replace_options(frozenset(instances))


def replace_options(instances: frozenset[str], *, reinstall: bool = False) -> PlanOptions:
    return dataclasses.replace(OPTIONS, instances=instances, healing=Healing(reinstall))


@pytest.mark.parametrize("links", [(), LINKS])
def test_of_a_changed_attribute_once_and_not_when_it_is_linked(links: tuple[str, ...]) -> None:
    """R-5.8.5-7: not in the job that links the pair, once when the value is another one, and not again."""
    run = world(tells(**READS), *links)
    made = run.run(answers=lambda _, __: {"ip": "1"})
    assert not [s for s in steps_of(made) if "target_changed" in s]
    run.run("check", finding({"ip": "1"}))
    assert told(run) == []
    assert run.needless == {"S_1.S.T.Configure.target_changed": "none of the values that it depends on has changed"}
    made = run.run("check", finding({"ip": "2"}))
    assert told(run) == ["S_1"]
    assert is_before(made, "T_1.Maintain.check", "S_1.S.T.Configure.target_changed")
    run.run("check", finding({"ip": "2"}))
    assert told(run) == []
    assert run.plan().is_empty


def test_an_attribute_that_no_input_reads_is_no_news() -> None:
    """Only what an input of the operation reads counts; where it has no input, every attribute does."""
    run = world(tells(**READS))
    run.run()
    run.run("check", finding({"mood": "good"}))
    assert told(run) == []
    run = world("target_changed")
    run.run()
    run.run("check", finding({"mood": "good"}))
    assert told(run) == ["S_1"]


def test_several_targets_are_one_piece_of_news() -> None:
    """At most once per relationship and source instance, when all targets have been dealt with."""
    run = world(tells(**READS), sources=2, targets=3)
    run.run(answers=lambda _, __: {"ip": "1"})
    made = run.run("check", finding({"T_1.ip": "4", "T_2.ip": "5", "T_3.ip": "1"}))
    assert sorted(told(run)) == ["S_1", "S_2"]
    for number in (1, 2, 3):
        assert is_before(made, f"T_{number}.Maintain.check", "S_2.S.T.Configure.target_changed")
    step = next(s for s in made.steps if s.id.startswith("S_2.S.T"))
    assert (step.far, step.link, step.flow.condition) == ("T_1", "", StepCondition.IF_CHANGED)


@pytest.mark.parametrize("links", [(), LINKS])
def test_a_target_that_goes_down_and_comes_back(links: tuple[str, ...]) -> None:
    """R-5.8.5-7: the source, which does with the other target, is told that one has stopped and that it is up again;
    where the pair is unlinked and linked it knows."""
    run = world(tells(**READS), *links, targets=2)
    run.run()
    run.run("stop", options=of("T_1"))
    assert run.done("stop") == ["T_1.Standard.stop"]
    assert told(run) == ([] if links else ["S_1"])
    assert run.run("restart", options=of("T_2")).steps
    assert told(run) == ([] if links else ["S_1"])
    run.run("start", options=of("T_1"))
    assert told(run) == ([] if links else ["S_1"])
    run.run("check")
    assert told(run) == []


@pytest.mark.parametrize("links", [(), LINKS])
def test_a_target_that_takes_its_source_down(links: tuple[str, ...]) -> None:
    """A source that is down hears nothing; when both are up again it is told that its target was away."""
    run = world(tells(**READS), *links)
    run.run()
    run.run("stop", options=of("T_1"))
    assert run.snapshot.instances["S_1"].state == "configured"
    assert told(run) == []
    made = run.run("start", options=of("T_1", "S_1"))
    assert told(run) == ([] if links else ["S_1"])
    if not links:
        assert is_before(made, "S_1.Standard.start", "S_1.S.T.Configure.target_changed")
    assert run.plan().is_empty


@pytest.mark.parametrize("links", [(), LINKS])
def test_a_source_that_was_down_meanwhile(links: tuple[str, ...]) -> None:
    """What it was not told of when it was down it is told of when it is up again, unless it is linked again then."""
    run = world(tells(**READS), *links)
    run.run()
    run.run("stop", options=of("S_1"))
    run.run("check", finding({"ip": "2"}))
    assert told(run) == []
    run.run("start", options=of("S_1"))
    assert told(run) == ([] if links else ["S_1"])
    assert run.plan().is_empty


@pytest.mark.parametrize("links", [(), LINKS])
@pytest.mark.parametrize("targets", [1, 2])
def test_a_restarted_target(targets: int, links: tuple[str, ...]) -> None:
    """It went from started to not started and back, whether its source was restarted with it or not."""
    run = world(tells(**READS), *links, targets=targets)
    run.run()
    run.run("restart", options=of("T_1"))
    assert told(run) == ([] if links else ["S_1"])
    assert run.plan().is_empty


@pytest.mark.parametrize("links", [(), LINKS])
def test_a_target_that_is_replaced(links: tuple[str, ...]) -> None:
    """Its sources are told where no operation unlinks and links it."""
    run = world(tells(**READS), *links)
    run.run()
    run.run("heal", options=replace_options(frozenset({"T_1"}), reinstall=True))
    assert told(run) == ([] if links else ["S_1"])
    assert run.plan().is_empty


def test_new_members_are_no_news() -> None:
    """A relationship that is added to a running target runs add_* only."""
    run = world(tells(**READS), "add_target", "pre_configure_source", "pre_configure_target")
    run.run()
    run.service = service_of(
        tells(**READS), "add_target", "pre_configure_source", "pre_configure_target", sources=2, targets=2
    )
    run.run()
    assert told(run) == []
    assert run.done("pre_configure_target") == ["T_2.S.T.Configure.pre_configure_target"]
    assert run.done("pre_configure_source") == ["S_2.S.T.Configure.pre_configure_source"]
    assert len(run.done("add_target")) == 3


@pytest.mark.parametrize("links", [(), LINKS])
def test_a_changed_property(links: tuple[str, ...]) -> None:
    """It is known when the plan is made, and the plan has nothing else."""
    changed = tells(port=get_property("TARGET", "port"))
    run = world(changed, *links)
    run.run()
    run.service = service_of(changed, *links, port="81")
    made = run.run()
    assert steps_of(made) == ["S_1.S.T.Configure.target_changed"]
    assert told(run) == ["S_1"]
    assert run.plan().is_empty


def test_what_could_not_be_told_is_told_the_next_time() -> None:
    """A failure leaves the instance started and in error, and is made good by the next deployment."""
    run = world(tells(**READS))
    run.run()

    def refuses(step: Step, name: str) -> object:
        return Ending.FAILED if name.endswith("target_changed") else {"ip": "2"}

    run.run("check", refuses)  # type: ignore[arg-type]
    assert run.failed == ["S_1.S.T.Configure.target_changed"]
    assert run.snapshot.instances["S_1"].state == "started"
    assert run.snapshot.instances["S_1"].local == "unknown"
    run.run()
    assert told(run) == ["S_1"]
    assert run.snapshot.instances["S_1"].local == "ok"
    assert run.plan().is_empty


def test_sources_change_as_well() -> None:
    """Where a type declares it a target is told of its sources."""
    changed = operation("source_changed", interface="Configure", inputs={"m": get_attribute("SOURCE", "mood")})
    source = node("S", Requires("T", changed), declares=[definition("mood")], count=2)
    source = replace(source, interfaces={**source.interfaces, **maintain("check")})
    run = World(service(target(2), source))
    run.run()
    assert told(run) == []
    run.run("check", finding({"S_2.mood": "good"}))
    assert sorted(told(run)) == ["T_1", "T_2"]
    run.run("check", finding({"S_2.mood": "good"}))
    assert told(run) == []


def test_news_travel() -> None:
    """Who is told may change itself, and others are told of that in the same job."""
    passes = operation(
        "target_changed", interface="Configure", inputs=READS, outputs={"ip": ("SOURCE", "ip")}
    )  # fmt: skip
    middle = node("M", Requires("T", passes), declares=[definition("ip")])
    last = node("L", Requires("M", tells(**READS)))
    run = World(service(target(), middle, last))
    run.run()
    made = run.run("check", lambda step, name: {"ip": "2"} if "heck" in name or "M_1" in step.id else None)
    assert told(run) == ["M_1", "L_1"]
    assert is_before(made, "M_1.M.T.Configure.target_changed", "L_1.L.M.Configure.target_changed")


def test_values_that_come_from_elsewhere() -> None:
    """An attribute that takes its value from another node changes with it."""
    base = target()
    far = node("F", "T", declares=[definition("url")], attributes={"url": get_attribute("T", "ip")})
    near = node("S", Requires("F", tells(url=get_attribute("TARGET", "url"))))
    run = World(service(base, far, near))
    run.run()
    run.run("check", finding({"ip": "9"}))
    assert told(run) == ["S_1"]


def test_a_sensitive_value_leaves_no_digest_to_guess_by() -> None:
    """What is noted of it is made with the key of the ensemble."""
    run = world(tells(**READS))
    run.run()
    run.snapshot.attributes["T_1"]["ip"] = Sensitive("1")
    (relationship,) = run.service.nodes["S"].requirements
    seen = set()
    for key in (b"one", b"two"):
        evaluator = Evaluator(run.service, run.snapshot, {})
        knowledge = PeerKnowledge(run.service, run.snapshot, evaluator, lambda key=key: key)  # type: ignore[misc]
        seen.add(knowledge.now(relationship, "source", "T_1").digest)
    assert len(seen) == 2


def test_what_changes_after_the_pair_was_linked() -> None:
    """The job that links a pair never tells of it; what changed later in that job is told by the next one, once."""
    counts = operation("add_source", interface="Configure", outputs={"ip": ("TARGET", "ip")})
    run = world(tells(**READS), "add_target", counts, sources=2)
    run.run(answers=lambda step, name: {"ip": step.far or "0"} if name != "Configure.add_target" else None)
    assert run.snapshot.attributes["T_1"]["ip"] == "S_2"
    assert told(run) == []
    run.run()
    assert told(run) == ["S_1"]
    assert run.plan().is_empty


def test_nothing_is_planned_for_what_nobody_watches() -> None:
    """A step at a target that can change nothing that is known of it brings no further ones."""
    run = world(tells(**READS), "add_target", "add_source", targets=1)
    run.run()
    run.service = service_of(tells(**READS), "add_target", "add_source", sources=2)
    made: Plan = run.run()
    assert not [s for s in steps_of(made) if "target_changed" in s]
