"""An instance of which nothing is known is checked first, in the job that goes on with it; and what only looks."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import Delta, note_of
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Step
from tests.support.runs import OPTIONS, Answers, Reply, World, assert_order, failing, steps_of
from tests.support.services import Requires, compute, definition, maintain, node, on, operation, service

ALL = ["create", "configure", "start", "stop", "delete"]


def checked(name: str, *requires: Requires | str, check: bool = True, **more: object):  # type: ignore[no-untyped-def]
    made = node(name, *requires, operations=ALL, **more)  # type: ignore[arg-type]
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain("check")}) if check else made


def world_with(failed: str, *, check: bool = True) -> World:
    """A world where an operation has failed without a word, so that nothing is known of its instance."""
    world = World(service(node("db", operations=["start"]), checked("web", Requires("db", "add_target"), check=check)))
    world.run(answers=failing(failed))
    assert world.snapshot.instances["web_1"].local == "unknown"
    return world


def says(code: int, otherwise: Answers = lambda *_: None) -> Answers:
    """What check exits with."""

    def answer(step: Step, name: str) -> Reply:
        if name == "Maintain.check":
            return Outcome(Ending.FAILED if code else Ending.SUCCEEDED, exit_code=code)
        return otherwise(step, name)

    return answer


RESTART = ["web_1.Standard.stop", "web_1.Standard.start"]
WEB = ["web_1.Standard.create", "web_1.Standard.configure", "web_1.Standard.start"]
LINK = "web_1.db.db_1.Configure.add_target"


@pytest.mark.parametrize(
    ("failed", "code", "ran"),
    [
        ("web_1.Standard.start", 0, [LINK]),
        ("web_1.Standard.start", 1, [*RESTART, LINK]),
        ("web_1.Standard.start", 2, [*RESTART, LINK]),
        ("web_1.Standard.start", 3, [*WEB, LINK]),
        ("web_1.Standard.create", 0, [LINK]),
        ("web_1.Standard.create", 1, [*WEB, LINK]),
        ("web_1.Standard.create", 3, [*WEB, LINK]),
        (LINK, 0, [LINK]),
        (LINK, 3, [*WEB, LINK]),
    ],
)
def test_deploying_goes_on_by_what_check_says(failed: str, code: int, ran: list[str]) -> None:
    world = world_with(failed)
    world.run(answers=says(code))
    assert world.ran == ["web_1.Maintain.check", *ran]
    record = world.snapshot.instances["web_1"]
    assert (record.local, record.state, record.failed) == ("ok", "started", {})
    assert set(record.applied) == {"Standard.create", "Standard.configure", "Standard.start"}
    assert world.plan().is_empty


def test_without_a_check_deploying_goes_on_after_the_last_operation() -> None:
    world = world_with("web_1.Standard.configure", check=False)
    world.run()
    assert world.ran == [*WEB[1:], LINK]
    assert world.snapshot.instances["web_1"].local == "ok"


def test_what_failed_to_start_is_stopped_before_it_is_started_again() -> None:
    """It may be running all the same; to stop it in vain decides nothing, and changes nothing of what is known."""
    world = world_with("web_1.Standard.start", check=False)
    world.run(answers=failing("web_1.Standard.start"))
    assert (world.ran, world.failed) == (RESTART[:1], RESTART[1:])
    assert world.snapshot.instances["web_1"].local == "unknown"
    world.run(answers=failing("web_1.Standard.stop"))
    record = world.snapshot.instances["web_1"]
    assert (world.ran, world.failed) == ([RESTART[1], LINK], RESTART[:1])
    assert (record.local, record.state) == ("ok", "started")
    assert world.plan().is_empty


def test_starting_stops_first_as_well() -> None:
    world = world_with("web_1.Standard.start", check=False)
    world.run("start", options=replace(OPTIONS, instances=frozenset({"web_1"})))
    assert world.ran == [*RESTART, LINK]


def test_what_cannot_be_started_after_it_was_stopped_in_vain_is_not_up() -> None:
    world = world_with("web_1.Standard.start", check=False)
    ends = {"web_1.Standard.stop": Ending.FAILED, "web_1.Standard.start": Ending.UNREACHABLE}
    world.run(answers=lambda step, _: ends.get(step.id))
    assert world.snapshot.instances["web_1"].local == "unknown"


def test_what_failed_to_start_and_changed_nothing_is_not_stopped() -> None:
    world = World(service(node("db", operations=["start"]), checked("web", "db", check=False)))
    unharmed = Outcome(Ending.FAILED, changed=False)
    world.run(answers=lambda step, _: unharmed if step.id == "web_1.Standard.start" else None)
    world.run()
    assert world.ran == ["web_1.Standard.start"]


def test_an_instance_that_cannot_be_asked_is_not_touched() -> None:
    world = world_with("web_1.Standard.start")
    world.run(answers=lambda _, name: Ending.UNREACHABLE if name == "Maintain.check" else None)
    assert (world.ran, world.failed) == ([], ["web_1.Maintain.check"])
    assert world.snapshot.instances["web_1"].local == "unknown"


def test_what_is_broken_and_was_carried_out_is_no_success() -> None:
    """Everything was carried out, and check says error: a deployment that repairs it in vain has failed."""
    world = world_with(LINK)
    broken = msgspec.structs.replace(world.snapshot.instances["web_1"], local="ok")
    world.snapshot.apply(Delta(instances=(broken,)))
    world.run()
    lost = msgspec.structs.replace(world.snapshot.instances["web_1"], local="unknown")
    world.snapshot.apply(Delta(instances=(lost,)))
    world.run(answers=says(1))
    assert world.failed == ["web_1.Maintain.check.ready", "web_1.Maintain.check.ready.again"]
    assert world.snapshot.instances["web_1"].local == "error"


def found_in_error(check: bool = True) -> World:
    """A world where everything was carried out, and something has found an instance to be in error since."""
    world = World(service(checked("web", check=check), node("app", "web", operations=ALL)))
    world.run()
    broken = msgspec.structs.replace(world.snapshot.instances["web_1"], local="error", state="error")
    world.snapshot.apply(Delta(instances=(broken,)))
    return world


@pytest.mark.parametrize(
    ("code", "local", "ran"), [(0, "ok", []), (1, "error", RESTART), (2, "unknown", RESTART), (3, "absent", WEB)]
)
def test_what_was_found_in_error_is_checked_and_never_taken_for_mended(code: int, local: str, ran: list[str]) -> None:
    world = found_in_error()
    world.run(answers=says(code))
    did = [step for step in world.ran if "ordito" not in step]
    assert [step.removesuffix(".again") for step in did[: 1 + len(ran)]] == ["web_1.Maintain.check", *ran]
    assert bool(world.failed) is (local != "ok")
    assert world.snapshot.instances["web_1"].local == local


def test_what_is_in_error_and_cannot_be_checked_is_stopped_and_started() -> None:
    world = found_in_error(check=False)
    world.run()
    assert [step for step in world.ran if "ordito" not in step] == ["web_1.Standard.stop", "web_1.Standard.start"]
    assert world.snapshot.instances["web_1"].local == "ok"


@pytest.mark.parametrize(("code", "removed"), [(0, True), (1, True), (2, True), (3, False)])
def test_undeploying_asks_too(code: int, removed: bool) -> None:
    """What is absent need not be removed; anything else is stopped and deleted."""
    world = world_with("web_1.Standard.start")
    world.run("undeploy", answers=says(code))
    own = [s for s in world.ran if s.startswith("web_1")]
    assert own == ["web_1.Maintain.check", *(["web_1.Standard.stop", "web_1.Standard.delete"] if removed else [])]
    record = world.snapshot.instances["web_1"]
    assert (record.local, record.state, record.applied) == ("absent", "deleted", {})
    assert world.existing == []


def test_what_is_pending_because_of_others_is_not_made_again() -> None:
    """An instance that is ok itself is skipped, whatever its dependencies have come to."""
    world = World(service(node("db", operations=ALL), checked("web", "db")))
    world.run()
    down = msgspec.structs.replace(world.snapshot.instances["db_1"], local="pending")
    world.snapshot.apply(Delta(instances=(down,)))
    assert [s for s in steps_of(world.plan()) if s.startswith("web_1")] == []


# ------------------------------------------------------------------------------------------------ optional parts


def optional(operation: str = "") -> dict[str, str]:
    return {f"ordito.{operation}.priority" if operation else "ordito.priority": "optional"}


def test_what_an_optional_operation_fails_does_not_hold_up() -> None:
    world = World(service(node("a", operations=ALL, metadata=optional("Standard.configure")), node("b", "a")))
    world.run(answers=failing("a_1.Standard.configure"))
    assert world.skipped == []
    a, b = world.snapshot.instances["a_1"], world.snapshot.instances["b_1"]
    assert (a.local, a.state, b.local) == ("degraded", "started", "ok")
    world.run()
    assert world.ran == ["a_1.Standard.configure"]
    a = world.snapshot.instances["a_1"]
    assert (a.local, a.state) == ("ok", "started")
    assert world.plan().is_empty


@pytest.mark.parametrize("operation", ["create", "configure", "start"])
def test_an_optional_operation_that_fails_twice(operation: str) -> None:
    world = World(service(node("a", operations=ALL, metadata=optional(f"Standard.{operation}"))))
    for _ in range(2):
        world.run(answers=failing(f"a_1.Standard.{operation}"))
        assert world.snapshot.instances["a_1"].local in {"degraded", "unknown"}
    world.run()
    a = world.snapshot.instances["a_1"]
    assert (a.local, a.state, a.failed) == ("ok", "started", {})
    assert operation != "configure" or world.ran == ["a_1.Standard.configure"]


def test_what_requires_an_optional_node_goes_on_without_it() -> None:
    """It is not linked with what is not up, and is when that is up."""
    cache = node("cache", operations=ALL, metadata=optional())
    web = node("web", Requires("cache", "pre_configure_source", "add_target"), operations=ALL)
    world = World(service(cache, web))
    made = world.run(answers=failing("cache_1.Standard.create"))
    assert_order(made, "cache_1.Standard.start", "web_1.Standard.create")
    own = [f"cache_1.Standard.{o}" for o in ("create", "configure", "start")]
    assert [s.id for s in made.steps if s.flow.optional] == own
    assert world.needless == {
        "web_1.web.cache.Configure.pre_configure_source": "cache_1 is not up",
        "web_1.cache.cache_1.Configure.add_target": "cache_1 is not up",
    }
    records = world.snapshot.instances
    assert (records["cache_1"].local, records["web_1"].local, records["web_1"].state) == ("unknown", "ok", "started")
    world.run()
    assert "web_1.cache.cache_1.Configure.add_target" in world.ran
    assert world.plan().is_empty


def test_what_an_optional_node_hosts_waits_for_it() -> None:
    world = World(service(node("box", operations=ALL, metadata=optional()), node("app", on("box"), operations=ALL)))
    made = world.run(answers=failing("box_1.Standard.create"))
    assert "app_1.Standard.create" in world.skipped
    assert not any(s.flow.optional for s in made.steps if s.instance == "app_1")


# ------------------------------------------------------------------------------------------------- what only looks


def test_every_instance_with_a_check_is_looked_at_those_first_that_others_require() -> None:
    world = World(
        service(compute("server"), checked("db", on("server"), count=2), node("x", "db"), checked("web", "x"))
    )
    world.run()
    before = dict(world.snapshot.instances)
    made = world.run("check", answers=says(0))
    assert sorted(world.ran) == ["db_1.Maintain.check", "db_2.Maintain.check", "web_1.Maintain.check"]
    assert_order(made, "db_2.Maintain.check", "web_1.Maintain.check")
    assert world.snapshot.instances == before
    assert world.plan().is_empty


def test_a_check_changes_what_it_finds_and_nothing_else() -> None:
    world = World(service(checked("db"), checked("web", Requires("db", "add_target"))))
    world.run()
    before = world.snapshot.instances["web_1"]
    world.run("check", answers=lambda s, n: says(1)(s, n) if s.instance == "web_1" else None)
    after = world.snapshot.instances["web_1"]
    assert (after.local, after.state) == ("error", "error")
    assert after.last_state_change == "job2-0009-web_1.Maintain.check" > after.last_config_change
    same = {"applied", "created", "last_config_change", "failed", "host", "index"}
    assert all(getattr(after, name) == getattr(before, name) for name in same)
    assert world.snapshot.links["web_1.db.db_1"].applied


def test_what_was_found_absent_may_come_back_or_be_made_again() -> None:
    world = World(service(checked("db"), checked("web", Requires("db", "add_target"))))
    world.run()
    world.run("check", answers=lambda s, n: says(3)(s, n) if s.instance == "db_1" else None)
    gone = world.snapshot.instances["db_1"]
    assert (gone.local, gone.state, gone.exists, world.snapshot.links) == ("absent", "deleted", False, {})
    world.run("check")
    back = world.snapshot.instances["db_1"]
    assert (back.local, note_of(back), back.applied) == ("ok", "", gone.applied)
    world.run("check", answers=lambda s, n: says(3)(s, n) if s.instance == "db_1" else None)
    world.run()
    assert world.done("create") == ["db_1.Standard.create"]
    assert "web_1.db.db_1.Configure.add_target" in world.ran
    assert world.snapshot.instances["db_1"].local == "ok"


def test_what_a_missing_host_carried_is_made_again_with_it() -> None:
    """Its own record says that it is there, and nothing can be without its host."""
    world = World(service(checked("box"), node("app", on("box"), operations=ALL)))
    world.run()
    world.run("check", answers=says(3))
    assert world.snapshot.instances["app_1"].local == "ok"
    world.run()
    assert world.done("create") == ["box_1.Standard.create", "app_1.Standard.create"]
    assert [(i.id, i.host, i.local) for i in world.snapshot.instances.values()] == [
        ("box_1", "", "ok"),
        ("app_1", "box_1", "ok"),
    ]


def test_what_discover_finds_becomes_attributes() -> None:
    """Outputs that are mapped, and those that have the name of an attribute; what is recorded already is no change."""
    discover = operation("discover", interface="Maintain", outputs={"found": ("SELF", "port")}, inputs={"size": "1"})
    made = node("db", operations=ALL, declares=[definition("port", "integer"), definition("url"), definition("size")])
    world = World(service(msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain(discover)})))
    world.run()
    found: Outcome = Outcome(Ending.SUCCEEDED, outputs={"found": "80", "url": "http://x", "size": "1", "other": "y"})
    plan = world.run("discover", answers=lambda *_: found)
    assert set(plan.calls[0].outputs) == {"found", "port", "url"}
    assert world.snapshot.attributes == {"db_1": {"port": 80, "url": "http://x"}}
    last = world.snapshot.instances["db_1"].last_state_change
    world.run("discover", answers=lambda *_: found)
    assert world.snapshot.instances["db_1"].last_state_change == last
    world.run("discover", answers=lambda *_: Outcome(Ending.SUCCEEDED, outputs={"found": "many"}))
    assert world.failed == ["db_1.Maintain.discover"]


def test_a_secret_that_is_discovered_is_wrapped_wherever_it_is_kept() -> None:
    """It has the name of a sensitive attribute: the attribute and the outcome hold it wrapped, and output is masked."""
    token = msgspec.structs.replace(definition("token"), metadata={"sensitive": "true"})
    made = node("db", operations=ALL, declares=[token])
    world = World(service(msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain("discover")})))
    world.run()
    found = Outcome(Ending.SUCCEEDED, outputs={"token": "canary"}, tail=("found canary",))
    plan = world.run("discover", answers=lambda *_: found)
    assert world.operations is not None
    assert world.operations.prepare(plan.steps[0], 1).withholds
    kept = world.operations.without_secrets(plan.steps[0], found)
    assert str(kept.outputs["token"]) == "(sensitive)"
    assert "canary" not in "".join(kept.tail)
    assert str(world.snapshot.attributes["db_1"]["token"]) == "(sensitive)"


# ------------------------------------------------------------------------------------------------- what is watched


def watched(name: str, *requires: Requires | str):  # type: ignore[no-untyped-def]
    made = node(name, *requires, operations=ALL)
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain("monitor_start", "monitor_stop")})


def test_watching_is_last_when_something_is_made_and_first_when_it_is_removed() -> None:
    """Step 9 of the installation, after the links; before links are undone on removal."""
    world = World(service(node("db", operations=ALL), watched("web", Requires("db", "add_target", "remove_target"))))
    world.run()
    assert world.ran[-2:] == ["web_1.db.db_1.Configure.add_target", "web_1.Maintain.monitor_start"]
    assert (world.snapshot.instances["web_1"].local, world.plan().is_empty) == ("ok", True)
    world.run("undeploy")
    assert world.ran[:2] == ["web_1.Maintain.monitor_stop", "web_1.db.db_1.Configure.remove_target"]
    assert world.existing == []


def test_watching_that_fails_leaves_the_state_and_is_begun_again() -> None:
    world = World(service(watched("web")))
    world.run(answers=failing("monitor_start"))
    record = world.snapshot.instances["web_1"]
    assert (record.local, record.state, list(record.failed)) == ("unknown", "started", ["Maintain.monitor_start"])
    world.run()
    assert world.ran == ["web_1.Maintain.monitor_start"]
    record = world.snapshot.instances["web_1"]
    assert (record.local, record.state, record.failed) == ("ok", "started", {})


def test_what_was_never_watched_is_not_ceased_to_be() -> None:
    world = World(service(watched("web")))
    world.run(answers=failing("web_1.Standard.start"))
    world.run("undeploy")
    assert world.ran == ["web_1.Standard.stop", "web_1.Standard.delete"]
