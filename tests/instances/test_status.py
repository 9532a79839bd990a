"""Operational status: the table of events, and what dependencies make of it."""

import msgspec
import pytest

from ordito.instances.outlining import outline_of
from ordito.instances.records import Delta, Instance, Snapshot, StatusReason
from ordito.instances.status import StatusEvent, aggregate, effective_statuses, local_after
from ordito.model.service import Service
from ordito.model.settings import Settings
from tests.support.services import compute, node, on, service


@pytest.mark.parametrize(
    ("happened", "after"),
    [
        (StatusEvent.CHAIN_BEGAN, "pending"),
        (StatusEvent.STOPPED, "pending"),
        (StatusEvent.CHAIN_ENDED, "ok"),
        (StatusEvent.DELETED, "absent"),
        (StatusEvent.SUCCEEDED, "degraded"),
        (StatusEvent.FAILED_MODIFIED, "error"),
        (StatusEvent.FAILED_UNREPORTED, "unknown"),
        (StatusEvent.FAILED_UNMODIFIED, "degraded"),
        (StatusEvent.NEVER_STARTED, "degraded"),
    ],
)
def test_local_status_after_an_event(happened: StatusEvent, after: str) -> None:
    """The table of statuses; "degraded" stands for whatever it was before."""
    assert local_after("degraded", happened) == after


@pytest.mark.parametrize(
    ("given", "together"),
    [
        (["ok", "ok"], "ok"),
        (["ok", "degraded"], "degraded"),
        (["ok", "error"], "degraded"),
        (["error", "pending"], "pending"),
        (["error", "unknown"], "unknown"),
        (["error"], "error"),
        ([], "absent"),
    ],
)
def test_several_instances_as_one(given: list[str], together: str) -> None:
    assert aggregate(given) == together


def effective(given: Service, *records: Instance) -> dict[str, str]:
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=records))
    return effective_statuses(outline_of(given), snapshot)


def record(
    node_name: str, local: str, number: int = 1, host: str = "", reason: StatusReason = StatusReason.NONE
) -> Instance:
    return Instance(f"{node_name}_{number}", node_name, number - 1, host, local=local, status_reason=reason)


@pytest.mark.parametrize(
    ("target", "required", "optional"),
    [
        ("ok", "ok", "ok"),
        ("degraded", "degraded", "degraded"),
        ("pending", "pending", "degraded"),
        ("unknown", "unknown", "degraded"),
        ("error", "error", "degraded"),
        ("absent", "error", "degraded"),
    ],
)
def test_what_a_dependency_contributes(target: str, required: str, optional: str) -> None:
    """The table of statuses, for requirements and for the host."""
    plain = service(node("t"), node("s", "t"), node("h", on("t")))
    records = (record("t", target), record("s", "ok"), record("h", "ok", host="t_1"))
    found = effective(plain, *records)
    assert (found["s_1"], found["h_1"]) == (required, required)
    marked = msgspec.structs.replace(plain.nodes["t"], settings=Settings(priority="optional"))
    lenient = msgspec.structs.replace(plain, nodes={**plain.nodes, "t": marked})
    found = effective(lenient, *records)
    assert (found["s_1"], found["h_1"]) == (optional, optional)


def test_a_chain_of_three() -> None:
    given = service(node("a"), node("b", "a"), node("c", "b"))
    found = effective(given, record("a", "error"), record("b", "ok"), record("c", "ok"))
    assert found == {"a_1": "error", "b_1": "error", "c_1": "error"}


@pytest.mark.parametrize("local", ["absent", "error", "unknown", "pending"])
def test_what_is_not_operational_itself_stays_what_it_is(local: str) -> None:
    found = effective(service(node("a"), node("b", "a")), record("a", "degraded"), record("b", local))
    assert found["b_1"] == local


def test_one_of_five_failed() -> None:
    given = service(node("t", count=5), node("s", "t"))
    targets = [record("t", "ok", n) for n in range(1, 5)] + [record("t", "error", 5)]
    assert effective(given, *targets, record("s", "ok"))["s_1"] == "degraded"


def test_what_was_scaled_in_does_not_count() -> None:
    given = service(node("t", count=1), node("s", "t"))
    gone = record("t", "absent", 2, reason=StatusReason.SCALED_IN)
    assert effective(given, record("t", "ok"), gone, record("s", "ok"))["s_1"] == "ok"
    assert effective(given, gone, record("s", "ok"))["s_1"] == "ok"


def test_only_its_own_host_matters() -> None:
    given = service(compute("h", count=2), node("a", on("h")))
    found = effective(
        given, record("h", "ok"), record("h", "error", 2), record("a", "ok", 1, "h_1"), record("a", "ok", 2, "h_2")
    )
    assert (found["a_1"], found["a_2"]) == ("ok", "error")


def test_orphans_have_their_own_status() -> None:
    assert effective(service(node("a")), record("b", "ok"))["b_1"] == "ok"
