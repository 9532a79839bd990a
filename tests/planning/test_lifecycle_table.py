"""The lifecycle table: rows in an order that respects their points."""

import msgspec

from ordito.instances.lifecycle import (
    INSTALL,
    INSTALL_REACHED_BY_LINK,
    MAKE_STAGE,
    REMOVE_STAGE,
    UNINSTALL,
    LifecycleRow,
    Per,
    Side,
    Stage,
    in_order,
    takes_back,
)
from ordito.instances.states import TRANSITIONS

ARTIFACTS = ["Artifact.deploy", "Artifact.deploy_on_host"]
AGENT = ["monitoring_agent.install", "monitoring_agent.start"]
LINKS = [
    "Configure.add_target",
    "Configure.add_source",
    "relationship_lifecycle.establish@source",
    "relationship_lifecycle.establish@target",
]
WATCHING = ["Maintain.monitor_start", "monitoring.start"]


def test_install_in_the_order_of_the_normative_lifecycle() -> None:
    """R-5.8.5-13: node and relationship operations interleave; at one place TOSCA's come before Cloudify's."""
    assert [p.row.name for p in INSTALL] == [
        "Artifact.deploy",
        "lifecycle.precreate",
        "Standard.create",
        "lifecycle.create",
        "relationship_lifecycle.preconfigure@source",
        "relationship_lifecycle.preconfigure@target",
        "Configure.pre_configure_source",
        "Configure.pre_configure_target",
        "Standard.configure",
        "lifecycle.configure",
        "Configure.post_configure_source",
        "Configure.post_configure_target",
        "relationship_lifecycle.postconfigure@source",
        "relationship_lifecycle.postconfigure@target",
        "Standard.start",
        "lifecycle.start",
        "delegate.reach",
        "host.get_state",
        "Artifact.deploy_on_host",
        *AGENT,
        "lifecycle.poststart",
        *LINKS,
        *WATCHING,
    ]


def test_a_host_whose_address_comes_with_a_link_is_prepared_after_it() -> None:
    assert [p.row.name for p in INSTALL_REACHED_BY_LINK][16:] == [
        *LINKS,
        "delegate.reach",
        "host.get_state",
        ARTIFACTS[1],
        *AGENT,
        "lifecycle.poststart",
        *WATCHING,
    ]
    assert INSTALL_REACHED_BY_LINK[:16] == INSTALL[:16]


def test_uninstall_mirrors_it() -> None:
    assert [p.row.name for p in UNINSTALL] == [
        "Maintain.monitor_stop",
        "monitoring.stop",
        "lifecycle.prestop",
        "monitoring_agent.stop",
        "monitoring_agent.uninstall",
        "Artifact.undeploy_from_host",
        "Configure.remove_target",
        "Configure.remove_source",
        "Standard.stop",
        "lifecycle.stop",
        "relationship_lifecycle.unlink@source",
        "relationship_lifecycle.unlink@target",
        "Standard.delete",
        "lifecycle.delete",
        "lifecycle.postdelete",
        "Artifact.undeploy",
    ]


def test_what_a_row_undoes_is_a_row_of_the_installation() -> None:
    rows = {p.row.name: p.row for p in INSTALL}
    at_once = set()
    for row in (p.row for p in UNINSTALL):
        for operation in row.undoes:
            name = msgspec.structs.replace(row, operation=operation).name
            assert rows[name].side is row.side
            assert takes_back("i", row.operation, f"i.{operation}")
            assert takes_back("i", operation, f"i.{row.operation}")
            assert takes_back("i", row.operation, f"other.{operation}") is (row.operation == "delete")
            at_once |= {name} if row.if_begun else set()
    assert at_once == {*AGENT, *WATCHING, *ARTIFACTS}


def test_stages_are_transitions_of_the_node_states() -> None:
    """R-5.8.4-1, R-5.8.4-4."""
    found = {p.stage for p in (*INSTALL, *UNINSTALL) if p.stage} | {MAKE_STAGE, REMOVE_STAGE}
    assert len(found) == 7
    for stage in found:
        assert stage.leave in TRANSITIONS[stage.enter]


def test_rows_may_stand_in_any_order_and_come_from_other_vocabularies() -> None:
    rows = (
        LifecycleRow("m", "monitor", Side.NODE, Per.INSTANCE, after="x.go"),
        LifecycleRow("x", "after_b", Side.NODE, Per.INSTANCE, "x.b", "done"),
        LifecycleRow("x", "go", Side.NODE, Per.INSTANCE, "done"),
        LifecycleRow("x", "b", Side.NODE, Per.INSTANCE, "creating", "done"),
    )
    found = in_order(("creating", "done"), rows)
    assert [p.row.operation for p in found] == ["b", "after_b", "go", "monitor"]
    assert [p.stage for p in found] == [Stage("creating", "done")] * 2 + [None] * 2
