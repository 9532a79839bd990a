"""The lifecycle table: rows in an order that respects their points."""

from ordito.instances.states import TRANSITIONS
from ordito.planning.lifecycle import INSTALL, MAKES, REMOVES, UNINSTALL, Per, Row, Side, Stage, in_order


def test_install_in_the_order_of_the_normative_lifecycle() -> None:
    """R-5.8.5-13: node and relationship operations interleave."""
    assert [p.row.operation for p in INSTALL] == [
        "create",
        "pre_configure_source",
        "pre_configure_target",
        "configure",
        "post_configure_source",
        "post_configure_target",
        "start",
        "add_target",
        "add_source",
    ]


def test_uninstall_mirrors_it() -> None:
    assert [p.row.operation for p in UNINSTALL] == ["remove_target", "remove_source", "stop", "delete"]


def test_stages_are_transitions_of_the_node_states() -> None:
    """R-5.8.4-1, R-5.8.4-4."""
    found = {p.stage for p in (*INSTALL, *UNINSTALL) if p.stage} | {MAKES, REMOVES}
    assert len(found) == 7
    for stage in found:
        assert stage.leave in TRANSITIONS[stage.enter]


def test_rows_may_stand_in_any_order_and_come_from_other_vocabularies() -> None:
    rows = (
        Row("m", "monitor", Side.NODE, Per.INSTANCE, after="go"),
        Row("x", "after_b", Side.NODE, Per.INSTANCE, "b", "done"),
        Row("x", "go", Side.NODE, Per.INSTANCE, "done"),
        Row("x", "b", Side.NODE, Per.INSTANCE, "creating", "done"),
    )
    found = in_order(("creating", "done"), rows)
    assert [p.row.operation for p in found] == ["b", "after_b", "go", "monitor"]
    assert [p.stage for p in found] == [Stage("creating", "done")] * 2 + [None] * 2
