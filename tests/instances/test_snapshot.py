"""The snapshot: what it tells about instances after changes, and that a copy made of its records is the same."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from ordito.instances.entities import Entities
from ordito.instances.records import Delta, Instance, Link, Snapshot, end_id, link_id, number_of
from ordito.model.service import Service


def instance(number: int, local: str = "ok", host: str = "") -> Instance:
    return Instance(f"web_{number}", "web", number - 1, host, local=local)


def test_instances_by_slot() -> None:
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=(Instance("web_3", "web", 0, local="ok"), Instance("web_2", "web", 1, local="ok"))))
    assert snapshot.ids_of("web") == ("web_3", "web_2")
    assert [i.id for i in snapshot.of_node("web")] == ["web_3", "web_2"]
    assert snapshot.highest == {"web": 3}
    assert snapshot.ids_of("other") == ()


def test_the_deleted_keep_a_record_only() -> None:
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=(instance(1), instance(2)), attributes={"web_1": {"x": 1}}))
    snapshot.apply(Delta(outputs={"web_1": {"Standard.create": {"o": 1}}}))
    snapshot.apply(Delta(instances=(instance(1, "absent"),)))
    assert snapshot.ids_of("web") == ("web_2",)
    assert [i.id for i in snapshot.records_of("web")] == ["web_1", "web_2"]
    assert snapshot.attributes == {}
    assert snapshot.outputs == {}
    snapshot.apply(Delta(instances=(instance(1, "pending"),)))
    assert snapshot.ids_of("web") == ("web_1", "web_2")


def test_links_are_found_from_both_ends() -> None:
    snapshot = Snapshot()
    link = Link(link_id("web.db", "web", "web_1", "db_1"), "web.db", "web_1", "db_1")
    assert link.id == "web_1.db.db_1"
    snapshot.apply(Delta(links=(link,), attributes={link.id: {"x": 1}}))
    assert snapshot.links_of("web_1") == snapshot.links_of("db_1") == [link.id]
    snapshot.apply(Delta(unlinked=(link.id, end_id("web.db", "web_1", "source"))))
    assert snapshot.links_of("db_1") == []
    assert snapshot.attributes == {}


def test_hosted() -> None:
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=(instance(1, host="h_1"), instance(2, host="h_1"))))
    assert snapshot.hosted_on("h_1") == ["web_1", "web_2"]
    snapshot.apply(Delta(instances=(instance(1, "absent", "h_1"),)))
    assert snapshot.hosted_on("h_1") == ["web_2"]


def test_changes_name_what_changed() -> None:
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=(instance(1),), attributes={"web_1": {"x": 1}}))
    assert snapshot.changes == ["web_1@", "#web", "!web_1", "web_1"]
    snapshot.apply(Delta(instances=(instance(1, "degraded"),)))
    snapshot.apply(Delta(instances=(instance(1, "absent"),)))
    assert snapshot.changes[4:] == ["#web", "!web_1"]


def test_numbers() -> None:
    assert number_of("my_app_12") == 12


LOCALS = st.sampled_from(["ok", "absent", "error"])


CHANGES = st.lists(st.tuples(st.integers(1, 5), LOCALS, st.sampled_from(["", "h_1", "h_2"]), st.booleans()))


@given(CHANGES)
def test_what_is_kept_at_hand_is_what_the_records_say(changes: list[tuple[int, str, str, bool]]) -> None:
    snapshot = Snapshot()
    for number, local, host, is_asked in changes:
        snapshot.apply(Delta(instances=(instance(number, local, host),)))
        if is_asked:
            snapshot.ids_of("web")
        elif local == "error":
            snapshot.apply(Delta(forgotten=(f"web_{6 - number}",)))
    existing = sorted((i for i in snapshot.instances.values() if i.exists), key=lambda i: i.index)
    assert list(snapshot.ids_of("web")) == [i.id for i in existing]
    for host in ("h_1", "h_2"):
        assert sorted(snapshot.hosted_on(host)) == [i.id for i in existing if i.host == host]


@given(CHANGES, st.sets(st.integers(1, 5), min_size=1))
def test_those_that_are_made_again_are_listed_all_the_time(
    changes: list[tuple[int, str, str, bool]], again: set[int]
) -> None:
    snapshot = Snapshot()
    for number in sorted(again):
        snapshot.apply(Delta(instances=(instance(number, "ok", ""),)))
    entities = Entities(cast(Service, None), snapshot)
    entities.make_again(f"web_{number}" for number in again)
    for number, local, host, is_asked in changes:
        snapshot.apply(Delta(instances=(instance(number, local, host),)))
        if is_asked:
            entities.listed("web")
    listed = {*snapshot.ids_of("web"), *(f"web_{number}" for number in again)}
    assert entities.listed("web") == tuple(sorted(listed, key=lambda i: snapshot.instances[i].index))
