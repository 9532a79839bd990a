"""Changing what runs: which class instances are of, by which causes, and in which order what is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from ordito.model.operation import Interface, Operation
from ordito.model.service import LIFECYCLE, NodeTemplate, Service
from ordito.planning.options import FileDigests, Former, Forms, Orphans, PlanOptions
from ordito.work.invocation import Ending
from ordito.work.options import ChangeOptions
from ordito.work.plan import Action, Change, Plan, Step
from tests.support.forming import Forming
from tests.support.runs import OPTIONS, World, able, steps_of, with_files
from tests.support.services import Requires, compute, maintain, node, on, operation, service
from tests.support.services import script as file_of

ALL = ["create", "configure", "start", "stop", "delete"]
BEFORE = "job-before"


class Running:
    """A service that runs, of which another form is planned."""

    def __init__(
        self, before: Service, *, inputs: Mapping[str, object] | None = None, digests: Mapping[str, str] | None = None
    ) -> None:
        self.world = World(before, inputs)
        self.digests = dict(digests or {})
        self.world.run(options=with_files(self.digests))
        assert not self.world.failed
        self.former = Former(before, dict(inputs or {}), self.digests)

    def plan(
        self,
        after: Service | None = None,
        *,
        digests: Mapping[str, str] | None = None,
        inputs: Mapping[str, object] | None = None,
        workflow: str = "upgrade",
        changes: ChangeOptions | None = None,
        options: PlanOptions = OPTIONS,
    ) -> Plan:
        """The plan for another form, of a service with other digests of its files."""
        if after is not None:
            self.world.service = after
        if inputs is not None:
            self.world.inputs = dict(inputs)
        forms = Forms(former=lambda form: self.former if form == BEFORE else None, base=BEFORE)
        options = replace(
            options,
            files=FileDigests(self.digests if digests is None else digests),
            forms=forms,
            changes=changes or ChangeOptions(prune="last"),
        )
        return self.world.plan(workflow, options)


def called(made: Plan) -> list[str]:
    """The steps that carry something out."""
    return [s.id for s in made.steps if s.action is not Action.JOIN and made.calls[s.call].artifact]


def kinds(made: Plan) -> dict[str, str]:
    return {c.instance: c.kind for c in made.changes}


def of(made: Plan, instance: str) -> Change:
    return next(c for c in made.changes if c.instance == instance)


def tiers(**more: NodeTemplate) -> Service:
    """database <- api <- web, of which some may be given."""
    made = {
        "database": node("database", operations=ALL),
        "api": node("api", "database", operations=ALL),
        "web": node("web", "api", operations=ALL),
    }
    return service(*(made | more).values())


def test_what_configures_one_node_changes_it_in_place() -> None:
    """Stopped as it was declared, configured and started as it is wanted; what requires it goes on."""
    running = Running(tiers(api=node("api", "database", operations=[*ALL[:1], "start", "stop", CONFIGURE_1])))
    made = running.plan(tiers(api=node("api", "database", operations=[*ALL[:1], "start", "stop", CONFIGURE_2])))
    assert called(made) == ["api_1.Standard.stop", "api_1.Standard.configure", "api_1.Standard.start"]
    assert kinds(made) == {"api_1": "reconfigure"}
    assert [(d.what, d.before, d.after) for d in of(made, "api_1").differences] == [
        ("Standard.configure: input port", 1, 2)
    ]
    assert made.records.older == {"api_1": BEFORE}
    assert [(made.calls[s.call].form, s.effect.forms) for s in made.steps if s.action is not Action.JOIN] == [
        (BEFORE, False),
        ("", True),
        ("", False),
    ]


CONFIGURE_1 = operation("configure", inputs={"port": 1})
CONFIGURE_2 = operation("configure", inputs={"port": 2})


def test_what_creates_a_node_replaces_it_between_those_that_require_it() -> None:
    running = Running(tiers(), digests={"scripts/create.sh": "1"})
    changed = node("database", operations=[operation("create", "scripts/new.sh"), *ALL[1:]])
    made = running.plan(tiers(database=changed))
    assert called(made) == [
        "web_1.Standard.stop",
        "api_1.Standard.stop",
        "database_1.Standard.stop",
        "database_1.Standard.delete",
        "database_1.Standard.create",
        "database_1.Standard.configure",
        "database_1.Standard.start",
        "api_1.Standard.start",
        "web_1.Standard.start",
    ]
    assert kinds(made) == {"database_1": "replace", "api_1": "restart", "web_1": "restart"}
    assert of(made, "database_1").symbol == "-/+"
    assert of(made, "api_1").reason == "it requires database (database), which is replaced"


def test_what_starts_a_node_restarts_it() -> None:
    running = Running(tiers(), digests={"scripts/start.sh": "1"})
    made = running.plan(tiers(), digests={"scripts/start.sh": "1", "scripts/stop.sh": "2"})
    # What stops them all is another script now: with the one that it was they are stopped.
    assert set(kinds(made).values()) == {"restart"}
    # What is required is changed first, and nothing is down longer than it must.
    assert called(made) == [
        *("database_1.Standard.stop", "database_1.Standard.start"),
        *("api_1.Standard.stop", "api_1.Standard.start"),
        *("web_1.Standard.stop", "web_1.Standard.start"),
    ]


def test_the_same_once_more_is_no_change() -> None:
    running = Running(tiers())
    assert running.plan(tiers()).is_empty
    assert running.plan(tiers()).changes == ()


def test_what_has_an_update_is_updated_in_place() -> None:
    def made(port: int) -> Service:
        a = node("a", operations=ALL, properties={"port": port})
        return service(_with(a, maintain("update")))

    running = Running(made(1))
    plan = running.plan(made(2))
    assert called(plan) == ["a_1.Maintain.update"]
    assert kinds(plan) == {"a_1": "update"}
    step = next(s for s in plan.steps if s.action is Action.CALL)
    assert plan.calls[step.call].given == {"changed": ["port"], "old": {"port": 1}, "new": {"port": 2}}
    assert (step.effect.enter, step.effect.leave, step.effect.forms) == ("configuring", "started", True)


def _with(made: NodeTemplate, interfaces: Mapping[str, object]) -> NodeTemplate:
    import msgspec

    return msgspec.structs.replace(made, interfaces={**made.interfaces, **interfaces})


def test_a_property_that_nothing_names_configures_again() -> None:
    running = Running(service(node("a", operations=ALL, properties={"size": 1})))
    made = running.plan(service(node("a", operations=ALL, properties={"size": 2})))
    assert kinds(made) == {"a_1": "reconfigure"}
    assert of(made, "a_1").reason == "property size has changed"


def test_what_is_hosted_goes_with_its_host() -> None:
    def made(image: str) -> Service:
        return service(
            node("h", operations=[operation("create", image), *ALL[1:]]), node("a", on("h"), operations=ALL), node("b")
        )

    running = Running(made("one.sh"))
    plan = running.plan(made("two.sh"))
    assert kinds(plan) == {"h_1": "replace", "a_1": "replace"}
    assert called(plan) == [
        "a_1.Standard.stop",
        "a_1.Standard.delete",
        "h_1.Standard.stop",
        "h_1.Standard.delete",
        "h_1.Standard.create",
        "h_1.Standard.configure",
        "h_1.Standard.start",
        "a_1.Standard.create",
        "a_1.Standard.configure",
        "a_1.Standard.start",
    ]


def test_another_host_is_a_move_under_the_same_id() -> None:
    def made(host: str) -> Service:
        return service(compute("h"), compute("i"), node("a", on(host), operations=ALL))

    running = Running(made("h"))
    plan = running.plan(made("i"))
    assert [(s.id, s.runs_on) for s in plan.steps if s.id in called(plan)] == [
        ("a_1.Standard.stop", "h_1"),
        ("a_1.Standard.delete", "h_1"),
        ("a_1.Standard.create", "i_1"),
        ("a_1.Standard.configure", "i_1"),
        ("a_1.Standard.start", "i_1"),
    ]
    assert plan.records.moved == {"a_1": "i_1"}
    assert [(d.what, d.before, d.after) for d in of(plan, "a_1").differences] == [("host", "h", "i")]


def test_another_target_is_linked_in_the_place_of_the_old_one() -> None:
    def made(target: str) -> Service:
        wanted = Requires(target, "add_target", "remove_target", name="db")
        return service(node("one", operations=ALL), node("two", operations=ALL), node("a", wanted, operations=ALL))

    running = Running(made("one"))
    plan = running.plan(made("two"))
    assert called(plan) == ["a_1.db.one_1.Configure.remove_target", "a_1.db.two_1.Configure.add_target"]
    assert kinds(plan) == {"a_1": "relink"}
    assert [s.id for s in plan.steps if s.action is Action.ADOPT] == ["a_1.ordito.adopt"]
    assert set(plan.records.adopted["a_1"]) == {"Standard.create", "Standard.configure", "Standard.start"}
    forms = {s.id: plan.calls[s.call].form for s in plan.steps if s.action is Action.CALL}
    assert forms["a_1.db.one_1.Configure.remove_target"] == BEFORE
    assert forms["a_1.db.two_1.Configure.add_target"] == ""


def test_a_node_is_replaced_because_somebody_says_so() -> None:
    running = Running(tiers())
    made = running.plan(tiers(), changes=ChangeOptions(replaced=("web",)))
    assert kinds(made) == {"web_1": "replace"}
    assert steps_of(made)[0] == "web_1.Standard.stop"


def left(before: Service, after: Service, name: str) -> Service:
    """A service together with a node that it has lost, as it was."""
    from ordito.model.left_behind import Left, with_left_behind

    return with_left_behind(after, [Left("x", before, {}, frozenset({name}))])


def test_what_the_template_has_lost_is_removed_last() -> None:
    """Unlinked, then removed by what it was declared with, when all else is done; its id is free again."""
    linked = Requires("cache", "add_target", "remove_target")

    def made(script: str, *more: NodeTemplate) -> Service:
        needs = [linked] if more else []
        return service(*more, node("a", *needs, operations=[*ALL[:1], operation("configure", script), *ALL[2:]]))

    cache = node("cache", operations=ALL)
    running = Running(made("1.sh", cache))
    plan = running.plan(
        left(made("1.sh", cache), made("2.sh"), "cache"),
        options=replace(OPTIONS, orphans=Orphans(frozenset({"cache"}))),
    )
    assert kinds(plan) == {"a_1": "reconfigure", "cache_1": "removed"}
    assert called(plan) == [
        "a_1.cache.cache_1.Configure.remove_target",
        "a_1.Standard.stop",
        "a_1.Standard.configure",
        "a_1.Standard.start",
        "cache_1.Standard.stop",
        "cache_1.Standard.delete",
    ]
    assert plan.counts.wanted == {"a": 1, "cache": 0}
    assert running.plan(
        options=replace(OPTIONS, orphans=Orphans(frozenset({"cache"}))), changes=ChangeOptions()
    ).changes


def test_more_and_fewer_are_a_class_of_their_own() -> None:
    running = Running(service(node("a", count=2), node("b", count=2)))
    made = running.plan(service(node("a", count=1), node("b", count=3), node("c")))
    assert kinds(made) == {"a_2": "scale", "b_3": "scale", "c_1": "added"}


def test_what_has_to_go_before_what_it_requires_is_replaced_is_said() -> None:
    def db(script: str) -> NodeTemplate:
        return node("db", operations=[operation("create", script), "start", "stop", "delete"])

    lost = node("lost", Requires("db"), operations=ALL)
    before = service(db("1.sh"), lost)
    for script, said in (("2.sh", True), ("1.sh", False)):
        world = Forming(before)
        world.to(before)
        plan = world.differs(service(db(script)))
        assert any("lost_1" in warning and "not last" in warning for warning in plan.summary.warnings) is said


def test_what_a_job_that_was_cut_had_begun_to_stop_gets_what_is_new() -> None:
    """Wherever the first attempt ended, the next one configures for what the pair is configured with now."""
    before = service(compute("c"), node("b", on("c", "remove_source"), operations=["create"]))
    after = service(compute("c"), node("b", on("c", "pre_configure_source"), operations=["create", "stop"]))
    stopping = 0
    for cut in range(6):
        world = Forming(before)
        world.to(before)
        world.to(after, cut=cut)
        stopping += world.snapshot.instances["b_1"].state == "stopping"
        world.to(after)
        left = world.differs(after)
        assert left.is_empty, (cut, [s.id for s in left.steps])
    assert stopping


def linked_by(create: Operation | str, size: int, *operations: str) -> Service:
    """front, which waits for middle, and whose link with back has only these operations."""
    configured = operation("configure", inputs={"size": size})
    return service(
        node("back", operations=["create", "delete"]),
        node("middle", operations=["create", configured, "delete"]),
        node(
            "front",
            Requires("back", *operations),
            "middle",
            operations=[create, configured, "start", "stop", "delete"],
        ),
    )


def middle_fails(step: Step, operation: str) -> Ending | None:
    return Ending.FAILED if (step.instance, operation) == ("middle_1", "Standard.configure") else None


def link_fails(step: Step, operation: str) -> Ending | None:
    return Ending.FAILED if step.link else None


def test_what_linked_is_looked_at_though_what_made_cannot_be_run_any_more() -> None:
    """Neither leaving a form nor removing what is in it has anything of it carried out that makes instances."""
    odd = ("own.Odd", "tosca.artifacts.Implementation")
    made_oddly = msgspec.structs.replace(operation("create"), implementation=file_of("create.odd", odd))
    forming = Forming(linked_by(made_oddly, 1, "add_target"))
    forming.run("upgrade", options=able(forming.options(forming.service), accepts=lambda _: True))
    forming.current = "job1"
    forming.forms["job1"] = Former(forming.service)
    left = forming.differs(linked_by("create", 2, "add_target"))
    assert "front_1.Standard.create" in called(left)
    # One is in the earlier form, and the other one in that which is removed.
    after = linked_by(made_oddly, 2, "add_target")
    forming.run("upgrade", middle_fails, options=able(forming.options(after), accepts=lambda _: True))
    forming.forms["job2"] = Former(after)
    forms = Forms(forming.forms.get)
    removed = forming.plan("undeploy", replace(OPTIONS, forms=forms))
    assert "front_1.Standard.delete" in called(removed)


def test_a_link_that_failed_is_not_undone_as_a_later_form_says() -> None:
    """The later one has not reached it."""
    before, after = linked_by("create", 1, "add_target"), linked_by("create", 2, "add_target", "remove_target")
    forming = Forming(before)
    forming.to(before, answers=link_fails)
    forming.to(after, answers=middle_fails)
    forming.to(before)
    assert "front_1.back.back_1.Configure.remove_target" not in forming.ran
    assert "front_1.back.back_1.Configure.add_target" in forming.ran


MIXED = ("create", "configure", "start")
CHAIN = [
    "a.t/Configure.pre_configure_source",
    "Standard.configure",
    "lifecycle.configure",
    "a.t/Configure.post_configure_source",
    "Standard.start",
    "lifecycle.start",
]


def mixed(size: int) -> Service:
    """An instance with the lifecycles of two vocabularies, of which only one has an operation that stops it."""
    prepared = operation("pre_configure_source", inputs={"size": size})
    a = node("a", Requires("t", prepared, "post_configure_source"), operations=ALL)
    lifecycle = Interface("lifecycle", (LIFECYCLE,), {o: operation(o, interface="lifecycle") for o in MIXED})
    a = msgspec.structs.replace(a, interfaces={**a.interfaces, "lifecycle": lifecycle})
    return service(node("t", operations=["create"]), a)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("cut", range(1, 8))
def test_what_was_cut_while_it_was_configured_anew_is_carried_out_to_the_end(cut: int, back: bool) -> None:
    """Nothing counts that was carried out before something that comes before it in the lifecycle."""
    forming = Forming(mixed(1))
    forming.to(mixed(1))
    forming.to(mixed(2), cut=cut)
    forming.to(mixed(1 if back else 2))
    record = forming.snapshot.instances["a_1"]
    assert (record.state, record.local, dict(record.failed)) == ("started", "ok", {})
    changes = [record.applied[key].change for key in CHAIN]
    assert changes == sorted(changes)
