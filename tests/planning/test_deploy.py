"""What deploy plans: the operations and the order that every execution keeps."""

from tests.support.runs import World, assert_order, failing, is_before, steps_of
from tests.support.services import Requires, compute, node, on, operation, service


def test_one_node_passes_through_its_whole_life() -> None:
    """R-5.8.4-1, R-5.8.4-3, R-5.8.1-1: states advance by the operations, also where these do nothing."""
    world = World(service(node("hello", operations=["create"])))
    made = world.run()
    assert steps_of(made) == ["hello_1.Standard.create", "hello_1.Standard.configure", "hello_1.Standard.start"]
    assert world.states_of("hello_1") == [
        "initial", "creating", "created", "configuring", "configured", "starting", "started",
    ]  # fmt: skip
    assert world.snapshot.instances["hello_1"].local == "ok"


def test_everything_required_is_up_before_anything_begins() -> None:
    """R-1.3-1, R-2.8-1, R-5.8.5-9, R-5.8.5-11, R-7.2.3.2-1, R-7.2.2.1-1, R-7.2.2.4-2, R-7.2.2.3-1: whatever the
    relationship, the target's whole chain comes first."""
    world = World(service(node("web", on("tomcat"), "db"), node("db"), node("tomcat", on("server")), compute("server")))
    made = world.plan()
    assert_order(
        made,
        "server_1.delegate.deploy",
        "tomcat_1.Standard.create",
        "tomcat_1.Standard.start",
        "web_1.Standard.create",
        "web_1.Standard.configure",
        "web_1.Standard.start",
    )
    assert_order(made, "db_1.Standard.start", "web_1.Standard.create")
    assert not is_before(made, "db_1.Standard.start", "tomcat_1.Standard.create")
    assert not is_before(made, "tomcat_1.Standard.start", "db_1.Standard.create")


def test_configure_operations_are_interleaved_on_their_own_side() -> None:
    """R-5.8.5-8, R-5.8.5-1, R-5.8.5-2, R-5.8.5-3, R-5.8.5-9, R-5.8.5-11, R-5.8.5-13: the order for two
    sources and two targets."""
    every = [
        *("pre_configure_source", "pre_configure_target", "post_configure_source", "post_configure_target"),
        *("add_target", "add_source", "target_changed", "remove_target", "remove_source"),
    ]
    world = World(service(node("b", count=2), node("a", Requires("b", *every), count=2)))
    made = world.plan()
    for b in ("b_1", "b_2"):
        assert_order(
            made,
            f"{b}.Standard.create",
            f"{b}.a.b.Configure.pre_configure_target",
            f"{b}.Standard.configure",
            f"{b}.a.b.Configure.post_configure_target",
            f"{b}.Standard.start",
        )
    for a in ("a_1", "a_2"):
        assert_order(
            made,
            f"{a}.Standard.create",
            f"{a}.a.b.Configure.pre_configure_source",
            f"{a}.Standard.configure",
            f"{a}.a.b.Configure.post_configure_source",
            f"{a}.Standard.start",
        )
        for b in ("b_1", "b_2"):
            assert_order(made, f"{b}.Standard.start", f"{a}.Standard.create")
            assert_order(
                made, f"{a}.Standard.start", f"{a}.b.{b}.Configure.add_target", f"{a}.b.{b}.Configure.add_source"
            )
    per_near = [s for s in steps_of(made) if "pre_configure" in s or "post_configure" in s]
    assert len(per_near) == 8  # R-5.8.5-4: once per relationship and near instance
    per_pair = [s for s in steps_of(made) if "add_" in s]
    assert len(per_pair) == 8  # R-5.8.5-5: once per pair
    assert not [s for s in steps_of(made) if "target_changed" in s or "remove" in s]


def test_the_states_hold_while_the_configure_operations_run() -> None:
    """R-5.8.4-2: configuring is entered before the first operation of its stage, and left after the last."""
    seen: list[tuple[str, str]] = []
    world = World(
        service(
            node("b"),
            node("a", Requires("b", "pre_configure_source", "post_configure_source", "add_target"),
                 operations=["create", "configure", "start"]),
        )
    )  # fmt: skip

    def note(step, operation):  # type: ignore[no-untyped-def]
        seen.append((operation.rpartition(".")[2], world.snapshot.instances["a_1"].state))

    world.run(answers=note)
    assert seen == [
        ("create", "creating"),
        ("pre_configure_source", "configuring"),
        ("configure", "configuring"),
        ("post_configure_source", "configuring"),
        ("start", "starting"),
        ("add_target", "started"),
    ]


def test_what_depends_on_a_node_waits_for_its_links_too() -> None:
    world = World(service(node("db"), node("lb", Requires("db", "add_target")), node("client", "lb")))
    assert_order(world.plan(), "lb_1.db.db_1.Configure.add_target", "client_1.Standard.create")


def test_links_of_one_instance_run_requirement_by_requirement_in_declared_order() -> None:
    lb = node("lb", Requires("b", "add_target"), Requires("a", "add_target", "add_source"), count=2)
    world = World(service(node("a", count=2), node("b"), lb))
    made = world.plan()
    for source in ("lb_1", "lb_2"):
        assert_order(
            made,
            f"{source}.b.b_1.Configure.add_target",
            f"{source}.a.a_1.Configure.add_target",
            f"{source}.a.a_1.Configure.add_source",
            f"{source}.a.a_2.Configure.add_target",
            f"{source}.a.a_2.Configure.add_source",
        )


def test_links_of_different_sources_at_one_target_follow_each_other() -> None:
    """They run on one instance, so in the order of the sources; one that fails does not hold the others up."""
    world = World(service(node("t", count=2), node("s", Requires("t", "add_source", "remove_source"), count=3)))
    made = world.plan()
    for target in ("t_1", "t_2"):
        assert_order(made, *(f"s_{n}.t.{target}.Configure.add_source" for n in (1, 2, 3)))
    world.run(answers=failing("s_1.t.t_1.Configure.add_source"))
    assert world.skipped == ["s_1.t.t_2.Configure.add_source"]
    assert len(world.done("add_source")) == 4
    world.run()
    made = world.plan("undeploy")
    for target in ("t_1", "t_2"):
        assert_order(made, *(f"s_{n}.t.{target}.Configure.remove_source" for n in (3, 2, 1)))


def test_all_to_all_waits_cost_n_plus_m_edges() -> None:
    made = World(service(node("t", count=50), node("s", "t", count=40))).plan()
    between = len(made.edges) - 2 * 90
    assert between == 50 + 40


def test_a_pair_for_each_host_instance() -> None:
    """HostedOn pairs i with its own host; other relationships pair all with all."""
    world = World(service(compute("server", count=2), node("app", on("server", "add_target"))))
    made = world.plan()
    assert [s for s in steps_of(made) if "add_target" in s] == [
        "app_1.host.server_1.Configure.add_target",
        "app_2.host.server_2.Configure.add_target",
    ]
    assert_order(made, "server_1.delegate.deploy", "app_1.Standard.create")
    assert not is_before(made, "server_2.delegate.deploy", "app_1.Standard.create")


def test_operations_without_an_implementation() -> None:
    """R-5.8.1-1, R-1.9-2, R-3.6.17-8: of a node they are steps that do nothing; of a relationship they are no steps."""
    made = World(service(node("b"), node("a", Requires("b", operation("add_target", None))))).plan()
    assert all(c.artifact == "" for c in made.calls)
    assert len(steps_of(made)) == 6


def test_where_operations_run() -> None:
    """R-7.2.2.4-1, R-5.8.5-8, R-13.2.2-2: on the nearest Compute up the hosts, by the end for relationships; what
    operation_host says wins, and a Compute's own lifecycle is the orchestrator's."""
    far = Requires("db", "add_target", "add_source", "pre_configure_target")
    web = node(
        "web",
        on("tomcat"),
        far,
        Requires("host2", operation("add_source", host="SOURCE"), operation("add_target", host="TARGET")),
        operations=["create", operation("start", host="ORCHESTRATOR")],
    )
    world = World(
        service(
            compute("server", operations=["create"]),
            compute("server2"),
            compute("host2"),
            node("tomcat", on("server")),
            node("db", on("server2"), operations=["create"]),
            node("free", operations=["create"]),
            web,
        )
    )
    runs_on = {s.id: s.runs_on for s in world.plan().steps}
    assert runs_on["server_1.Standard.create"] == ""
    assert runs_on["web_1.Standard.create"] == "server_1"
    assert runs_on["web_1.Standard.start"] == ""
    assert runs_on["free_1.Standard.create"] == ""
    assert runs_on["db_1.web.db.Configure.pre_configure_target"] == "server2_1"
    assert runs_on["web_1.db.db_1.Configure.add_target"] == "server_1"
    assert runs_on["web_1.db.db_1.Configure.add_source"] == "server2_1"
    assert runs_on["web_1.host2.host2_1.Configure.add_source"] == "server_1"
    assert runs_on["web_1.host2.host2_1.Configure.add_target"] == "host2_1"


def test_links_of_a_compute_run_on_it() -> None:
    made = World(service(node("disk"), compute("server", Requires("disk", "add_target")))).plan()
    link = next(s for s in made.steps if s.link)
    assert (link.instance, link.runs_on) == ("server_1", "server_1")


def test_places_of_a_host() -> None:
    """R-7.2.2.4-3: one operation at a time on a Compute, unless its metadata says otherwise."""
    world = World(
        service(
            compute("one"),
            compute("four", metadata={"ordito.concurrency": "4"}),
            node("a", on("one"), operations=["create"]),
            node("b", on("four"), operations=["create"]),
        )
    )
    assert world.plan().capacity == {"four_1": 4}


def test_a_provided_node_is_one_delegated_step() -> None:
    """R-2.1-3, R-7.2.1.1-2: a black box between initial and started, unless the template implements its operations."""
    world = World(service(compute("server"), compute("own", operations=["create"])))
    made = world.run()
    assert [s for s in steps_of(made) if s.startswith("server")] == ["server_1.delegate.deploy"]
    assert world.states_of("server_1") == ["initial", "creating", "started"]
    assert "own_1.Standard.create" in steps_of(made)


def test_the_first_far_instance_of_operations_once_per_near_instance() -> None:
    """TARGET_INSTANCE there is the first of TARGET_INSTANCES."""
    world = World(
        service(
            compute("server", count=2),
            node("app", on("server", "pre_configure_source")),
            node("lb", Requires("app", "pre_configure_source", "pre_configure_target")),
        )
    )
    far = {s.id: s.far for s in world.plan().steps}
    assert far["app_2.app.host.Configure.pre_configure_source"] == "server_2"
    assert far["lb_1.lb.app.Configure.pre_configure_source"] == "app_1"
    assert far["app_2.lb.app.Configure.pre_configure_target"] == "lb_1"


def test_opens_and_closes_stand_at_the_ends_of_a_chain() -> None:
    world = World(service(node("b"), node("a", Requires("b", "add_target"))))
    made = world.plan()
    assert [s.id for s in made.steps if s.effect.opens] == ["b_1.Standard.create", "a_1.Standard.create"]
    assert [s.id for s in made.steps if s.effect.closes] == ["b_1.Standard.start", "a_1.b.b_1.Configure.add_target"]


def test_every_step_and_edge_says_why() -> None:
    made = World(service(node("b", count=2), node("a", Requires("b", "add_target"), count=2))).plan()
    assert all(made.reasons[s.reason] for s in made.steps)
    reasons = {made.reasons[reason] for _, _, reason in made.edges}
    assert "a requires b (b): up before a begins" in reasons
    assert "" not in reasons
    assert {c.instance: c.symbol for c in made.changes} == dict.fromkeys(["a_1", "a_2", "b_1", "b_2"], "+")


def test_longest_chain_after_a_step() -> None:
    made = World(service(node("b"), node("a", "b"), node("c"))).plan()
    chain = {s.id: s.chain for s in made.steps}
    assert chain["b_1.Standard.create"] == 5
    assert chain["a_1.Standard.start"] == 0
    assert chain["c_1.Standard.create"] == 2


def test_the_plan_of_what_is_deployed_is_empty() -> None:
    world = World(
        service(compute("server"), node("db", on("server")), node("web", Requires("db", "add_target"), count=3))
    )
    world.run()
    again = world.plan()
    assert again.is_empty
    assert again.changes == ()
    assert again.records.new == ()


def test_several_requirements_of_one_name() -> None:
    lb = node("lb", Requires("a", "add_target", name="member"), Requires("b", "add_target", name="member"))
    made = World(service(node("a"), node("b"), lb)).plan()
    assert [s for s in steps_of(made) if "add_target" in s] == [
        "lb_1.member.a_1.Configure.add_target",
        "lb_1.member.2.b_1.Configure.add_target",
    ]
