"""Which nodes and instances host which: chains of hosts, the nearest Compute, and what lies on something."""

from ordito.instances import hosting as instances
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model import hosting as templates
from ordito.model.service import Service
from tests.support.services import compute, node, on, service


def three_floors() -> Service:
    """Two pods on each virtual machine, which lies on a machine; beside them what lies on nothing."""
    return service(
        compute("box"), compute("vm", on("box")), node("app", on("vm")), node("pod", on("app")), node("free")
    )


def existing(*more: Instance) -> Snapshot:
    snapshot = Snapshot()
    hosts = {"box_1": "", "vm_1": "box_1", "app_1": "vm_1", "app_2": "vm_1", "pod_1": "app_1", "pod_2": "app_2"}
    records = [
        Instance(name, name.partition("_")[0], int(name[-1]) - 1, host, local="ok") for name, host in hosts.items()
    ]
    snapshot.apply(Delta(instances=(*records, Instance("free_1", "free", 0, local="ok"), *more)))
    return snapshot


def test_the_chain_of_a_template_and_its_nearest_compute() -> None:
    nodes = three_floors().nodes
    assert [n.name for n in templates.chain(nodes, "pod")] == ["pod", "app", "vm", "box"]
    assert [n.name for n in templates.chain(nodes, "unknown")] == []
    assert [templates.compute_of(nodes, name) for name in nodes] == ["box", "vm", "vm", "vm", ""]
    known: dict[str, str] = {}
    assert templates.compute_of(nodes, "pod", known) == "vm"
    assert known == {"pod": "vm", "app": "vm", "vm": "vm"}
    assert templates.compute_of(nodes, "free", known) == known["free"] == ""


def test_a_chain_of_templates_ends_where_it_leads_back_or_nowhere() -> None:
    circle = {n.name: n for n in (node("one", on("two")), node("two", on("one")), node("three", on("gone")))}
    assert [n.name for n in templates.chain(circle, "one")] == ["one", "two"]
    assert [n.name for n in templates.chain(circle, "three")] == ["three"]
    assert templates.compute_of(circle, "one") == ""


def test_those_that_are_not_hosted_by_another_one_of_them() -> None:
    nodes = three_floors().nodes
    assert templates.outermost(nodes, ["pod", "vm", "free"]) == ("vm", "free")
    assert templates.outermost(nodes, ["pod", "app"]) == ("app",)


def test_the_chain_of_an_instance_and_its_nearest_compute() -> None:
    own, snapshot = three_floors(), existing(Instance("lost_1", "gone", 0, "vm_1", local="ok"))
    assert [i.id for i in instances.chain(snapshot, "pod_2")] == ["pod_2", "app_2", "vm_1", "box_1"]
    assert [i.id for i in instances.chain(snapshot, "")] == []
    assert instances.compute_of(own, snapshot, "pod_1") == instances.compute_of(own, snapshot, "vm_1") == "vm_1"
    assert instances.compute_of(own, snapshot, "lost_1") == "vm_1", "its node is not known any more"
    assert instances.compute_of(own, snapshot, "free_1") == instances.compute_of(own, snapshot, "") == ""


def test_a_chain_of_instances_ends_where_there_is_no_record_or_it_leads_back() -> None:
    one, two = Instance("one_1", "one", 0, "two_1"), Instance("two_1", "two", 0, "one_1")
    snapshot = existing(one, two, Instance("left_1", "app", 5, "never_1"))
    assert [i.id for i in instances.chain(snapshot, "one_1")] == ["one_1", "two_1"]
    assert [i.id for i in instances.chain(snapshot, "left_1")] == ["left_1"]


def test_all_that_lies_on_an_instance_level_by_level() -> None:
    snapshot = existing()
    assert instances.contained(snapshot, "vm_1") == ["vm_1", "app_1", "app_2", "pod_1", "pod_2"]
    assert instances.contained(snapshot, "app_1", {"app_1": ["pod_7"], "pod_7": ["x_1"]}) == [
        "app_1",
        "pod_1",
        "pod_7",
        "x_1",
    ]


def test_with_whom_an_instance_makes_pairs() -> None:
    own = service(compute("vm"), node("app", on("vm"), "db"), node("db"))
    snapshot = existing(Instance("db_1", "db", 0, local="ok"), Instance("db_2", "db", 1, local="ok"))
    hosted, needs = own.nodes["app"].requirements
    record = snapshot.instances.__getitem__
    assert instances.far_ends(snapshot, hosted, "source", record("app_1")) == ("vm_1",)
    assert instances.far_ends(snapshot, hosted, "target", record("vm_1")) == ["app_1", "app_2"]
    assert instances.far_ends(snapshot, hosted, "target", record("box_1")) == []
    assert instances.far_ends(snapshot, needs, "source", record("app_1")) == ("db_1", "db_2")
    assert instances.far_ends(snapshot, needs, "target", record("db_1")) == ("app_1", "app_2")
