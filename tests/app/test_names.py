"""What people write for nodes, instances and operations."""

from __future__ import annotations

import pytest

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames, NamedInstances, operation_named
from ordito.instances.records import Delta, Instance, Snapshot
from tests.support.services import configure, node, service, standard


def names(*, deleted: bool = False) -> InstanceNames:
    """A service whose node "web_1" is called as an instance of "web"; "old" is only in the records."""
    snapshot = Snapshot()
    records = [
        Instance("web_1", "web", 1),
        Instance("web_2", "web", 0),
        Instance("web_3", "web", 2, local="absent", state="deleted"),
        Instance("web_1_1", "web_1", 0),
        Instance("old_1", "old", 0),
    ]
    snapshot.apply(Delta(instances=tuple(records)))
    return InstanceNames(service(node("web"), node("web_1"), node("db/inner")), snapshot, deleted=deleted)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("web", NamedInstances(node="web")),
        ("old", NamedInstances(node="old")),
        ("db/inner", NamedInstances(node="db/inner")),
        ("web_2", NamedInstances(instance="web_2")),
        ("node:web_1", NamedInstances(node="web_1")),
        ("instance:web_1", NamedInstances(instance="web_1")),
    ],
)
def test_a_text_means_a_node_or_an_instance(text: str, meant: NamedInstances) -> None:
    assert names().find(text) == meant


def test_a_text_that_means_both_is_refused_with_both_spellings() -> None:
    with pytest.raises(Refused) as refused:
        names().find("web_1")
    assert 'an instance of "web"' in refused.value.message
    assert '"node:web_1"' in refused.value.hint
    assert '"instance:web_1"' in refused.value.hint


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("wbe", 'no node or instance "wbe"', "web"),
        ("node:web_2", 'no node "web_2"', "web"),
        ("instance:web", 'no instance "web"', "web_"),
        ("web_3", 'instance "web_3" of "web" was deleted', ""),
        ("db", 'no node or instance "db"', "it is substituted by a topology with db/inner"),
        ("zzz", 'no node or instance "zzz"', ""),
    ],
)
def test_a_text_that_means_nothing_is_refused_with_the_nearest(text: str, said: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        names().find(text)
    assert said in refused.value.message
    assert hint in refused.value.hint


def test_deleted_instances_are_found_where_they_are_asked_for() -> None:
    assert names(deleted=True).find("web_3") == NamedInstances(instance="web_3")
    assert [i.id for i in names(deleted=True).instances(["web"])] == ["web_2", "web_1", "web_3"]


def test_instances_are_given_once_and_by_slot() -> None:
    assert [i.id for i in names().instances(["old_1", "web", "web_2", "node:web_1"])] == [
        "old_1", "web_2", "web_1", "web_1_1",
    ]  # fmt: skip


def test_an_operation_is_found_by_its_full_name_or_alone() -> None:
    interfaces = [*standard().values(), *configure("add_target").values()]
    for text in ("Standard.start", "start", "tosca.interfaces.node.lifecycle.Standard.start"):
        assert operation_named(text, interfaces) == ("Standard", "start")
    assert operation_named("add_target", interfaces) == ("Configure", "add_target")


def test_an_operation_of_several_interfaces_is_refused_with_all_of_them() -> None:
    interfaces = [*standard().values(), *configure("start").values()]
    with pytest.raises(Refused) as refused:
        operation_named("start", interfaces)
    assert "Standard.start or Configure.start" in refused.value.hint
    assert operation_named("Configure.start", interfaces) == ("Configure", "start")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("strat", "start"),
        ("Configure.start", "did you mean Standard.start?"),
        ("Standrad.start", "did you mean Standard.start?"),
        ("zzz", "there are: Standard.configure, Standard.create"),
    ],
)
def test_an_unknown_operation_is_refused_with_the_nearest(text: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        operation_named(text, standard().values())
    assert f'no operation "{text}"' in refused.value.message
    assert hint in refused.value.hint
