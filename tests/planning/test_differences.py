"""What has changed since it was carried out: files, values and targets, each with what it was and what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.model.artifacts import ANSIBLE
from ordito.model.service import Service
from ordito.planning.options import Deployed, Former, Forms
from ordito.work.plan import Change
from tests.support.runs import OPTIONS, World, with_files
from tests.support.services import Requires, call, compute, node, on, operation, service

Difference = tuple[str, object, object]


def changes(
    before: Service,
    after: Service,
    inputs: tuple[Mapping[str, object], Mapping[str, object]] = ({}, {}),
    digests: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> dict[str, Change]:
    """What a plan for another form of a service says of each instance."""
    world = World(before, inputs[0])
    world.run(options=with_files(digests[0]))
    world.service, world.inputs = after, dict(inputs[1])
    former = Former(before, inputs[0], digests[0])
    options = replace(with_files(digests[1]), forms=Forms(lambda _: former, base="before"))
    return {c.instance: c for c in world.plan(options=options).changes}


def of(change: Change) -> list[Difference]:
    return [(d.what, d.before, d.after) for d in change.differences]


def configured(**values: object) -> list[object]:
    return [operation("configure", inputs=values)]  # type: ignore[arg-type]


def test_a_value_that_an_input_brings() -> None:
    made = service(node("a", operations=configured(port=call("get_input", "port"), name="x")))  # type: ignore[arg-type]
    found = changes(made, made, ({"port": 80}, {"port": 8080}))
    assert of(found["a_1"]) == [("Standard.configure: input port", 80, 8080)]
    assert (found["a_1"].symbol, found["a_1"].kind) == ("~", "reconfigure")
    assert found["a_1"].differences[0].declared == "service.yaml:1:1"


def test_a_sensitive_value_is_said_to_have_changed_and_not_shown() -> None:
    inputs = {"port": call("get_input", "port"), "url": call("concat", "http://", call("get_input", "port"))}
    made = service(node("a", operations=configured(**inputs)))  # type: ignore[arg-type]
    found = changes(made, made, ({"port": Sensitive("canary-1")}, {"port": Sensitive("canary-2")}))
    assert of(found["a_1"]) == [
        ("Standard.configure: input port", "(sensitive)", "(sensitive)"),
        ("Standard.configure: input url", "(sensitive)", "(sensitive)"),
    ]
    assert "canary" not in str(found)


def test_what_is_said_of_an_implementation_counts_and_what_opens_its_files_does_not() -> None:
    def made(**settings: object) -> Service:
        play = operation("configure")
        assert play.implementation is not None
        playbook = msgspec.structs.replace(
            play.implementation, kinds=(*play.implementation.kinds, ANSIBLE), properties=settings
        )
        return service(node("a", operations=[msgspec.structs.replace(play, implementation=playbook)]))

    found = changes(made(tags=["x"], vault_password="old"), made(tags=["x", "y"], vault_password="new"))
    assert of(found["a_1"]) == [("Standard.configure: property tags of its artifact", ["x"], ["x", "y"])]


def test_values_that_come_and_go() -> None:
    found = changes(
        service(node("a", operations=configured(old=1))),  # type: ignore[arg-type]
        service(node("a", operations=configured(new=[1, "x"]))),  # type: ignore[arg-type]
    )
    assert of(found["a_1"]) == [
        ("Standard.configure: input old", 1, None),
        ("Standard.configure: input new", None, [1, "x"]),
    ]


def test_a_value_that_only_the_running_system_knows_is_shown_as_written() -> None:
    found = changes(
        service(node("a", operations=configured(ip=call("get_attribute", "SELF", "state")))),  # type: ignore[arg-type]
        service(node("a", operations=configured(ip=call("get_attribute", "SELF", "tosca_name")))),  # type: ignore[arg-type]
    )
    assert of(found["a_1"]) == [
        (
            "Standard.configure: input ip",
            {"get_attribute": ["SELF", "state"]},
            {"get_attribute": ["SELF", "tosca_name"]},
        )
    ]


def test_the_content_of_a_script() -> None:
    made = service(node("a", operations=["create"]))
    found = changes(made, made, digests=({"scripts/create.sh": "1" * 64}, {"scripts/create.sh": "2" * 64}))
    assert of(found["a_1"]) == [("the content of scripts/create.sh", "1" * 12, "2" * 12)]
    assert found["a_1"].symbol == "-/+"


def test_another_script() -> None:
    found = changes(
        service(node("a", operations=[operation("start", "a.sh")])),
        service(node("a", operations=[operation("start", "b.sh")])),
    )
    assert of(found["a_1"]) == [("what Standard.start runs", "a.sh", "b.sh")]


def test_an_operation_that_gets_an_implementation() -> None:
    found = changes(service(node("a")), service(node("a", operations=["start"])))
    assert of(found["a_1"]) == [("what Standard.start runs", None, "scripts/start.sh")]


def test_another_target() -> None:
    found = changes(
        service(node("t"), node("u"), node("a", Requires("t", name="r"), operations=["start"])),
        service(node("t"), node("u"), node("a", Requires("u", name="r"), operations=["start"])),
    )
    assert of(found["a_1"]) == [("requirement r", "t", "u")]
    assert found["a_1"].kind == "relink"


def test_another_host() -> None:
    found = changes(
        service(node("h"), node("i"), node("a", on("h"))), service(node("h"), node("i"), node("a", on("i")))
    )
    assert of(found["a_1"]) == [("host", "h", "i")]
    assert found["a_1"].symbol == "-/+"


def test_what_a_provider_is_asked_for() -> None:
    before, after = service(compute("m")), service(compute("m"))
    cpus = {"size": 2}
    after = replace_node(after, "m", cpus)
    found = changes(replace_node(before, "m", {"size": 1}), after)
    assert of(found["m_1"]) == [("property size", 1, 2)]


def replace_node(made: Service, name: str, properties: Mapping[str, object]) -> Service:
    import msgspec

    template = msgspec.structs.replace(made.nodes[name], properties=properties)
    return msgspec.structs.replace(made, nodes={**made.nodes, name: template})


def test_everything_that_changes_is_seen_at_once() -> None:
    before = service(node("a", operations=configured(x=1)), node("b", count=2), node("c", count=2))  # type: ignore[arg-type]
    after = service(node("a", operations=configured(x=2)), node("b", count=3), node("c", count=1))  # type: ignore[arg-type]
    found = changes(before, after)
    assert {name: change.symbol for name, change in found.items()} == {"a_1": "~", "b_3": "+", "c_2": "-"}
    assert {name: change.kind for name, change in found.items()} == {
        "a_1": "reconfigure",
        "b_3": "scale",
        "c_2": "scale",
    }


def test_nothing_is_claimed_where_something_else_was_deployed_last() -> None:
    """The digest in the record tells whether what is at hand is what was carried out."""
    world = World(service(node("a", operations=configured(x=1))))  # type: ignore[arg-type]
    world.run()
    other = Deployed(service(node("a", operations=configured(x=7))))  # type: ignore[arg-type]
    world.service = service(node("a", operations=configured(x=2)))  # type: ignore[arg-type]
    for deployed in (lambda: other, lambda: None):
        made = world.plan(options=replace(OPTIONS, deployed=deployed))
        assert [d.what for d in made.changes[0].differences] == ["Standard.configure was carried out in another form"]
