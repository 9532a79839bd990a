"""A running service is changed into another version of it, on real processes: which operations run, in which order,
what is recorded, and what comes of failures. The topology is database <- api <- web."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.orders import kill, until
from tests.acceptance.program import completed_twice, copied
from tests.acceptance.tiers import Tiers, Tree, Version, in_order, make_tiers, of, peer, step, tiers
from tests.cli.program import until as happened
from tests.support.forked import IMPATIENT

TOLD, LINK = "tiers.Told", "tiers.Link"
CACHE = {"requirements": [peer("database")]}


@pytest.fixture
def home(tmp_path: Path) -> Tiers:
    return make_tiers(tmp_path)


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the first version is deployed."""
    home = make_tiers(tmp_path_factory.mktemp("version-1"))
    deployed(home, home.version("one"))
    return home.home


@pytest.fixture
def one(home: Tiers, version_1: Path) -> Version:
    """The first version, deployed."""
    copied(version_1, home.home)
    return home.version("one")


def deployed(home: Tiers, version: Version, *words: str) -> None:
    """Have a version deployed."""
    done = home.does("deploy", str(version.folder), *words)
    assert done, "nothing was deployed"
    assert home.is_same()


def changed(home: Tiers, version: Version, *words: str, code: int = 0) -> list[str]:
    """Upgrade to a version; what was done."""
    return home.does("upgrade", str(version.folder), *words, code=code)


def without(nodes: Tree, *names: str) -> Tree:
    return {name: node for name, node in nodes.items() if name not in names}


# ---------------------------------------------------------------------------------------------- the ten scenarios


def test_a_property_that_configures_a_node_changes_it_in_place_and_who_requires_it_is_told(home: Tiers) -> None:
    told = {"web": {"requirements": [peer("api", TOLD)]}}
    deployed(home, home.version("one", tiers(**told)))
    two = home.version("two", tiers(**told, api={"properties": {"size": 2}}))
    assert home.classes(two.write()) == {"api_1": "reconfigure", "web_1": "told"}
    (node,) = (n for n in home.diff(two.write())["nodes"] if n["node"] == "api")
    assert [(c["what"], c["before"], c["after"]) for c in node["causes"]] == [("Standard.configure: input size", 1, 2)]
    done = changed(home, two)
    assert done == [*of("api: stop configure start"), "web_1.web.peer.target_changed"]
    assert home.is_same()
    job = home.job()
    assert (job["workflow"], job["status"], job["revision"]) == ("upgrade", "ok", 2)
    assert changed(home, two) == []
    assert home.job() == job


def test_links_of_what_is_stopped_are_undone_and_made_again(home: Tiers) -> None:
    linked: dict[str, Tree] = {
        "api": {"requirements": [peer("database", LINK)]},
        "web": {"requirements": [peer("api", LINK)]},
    }
    deployed(home, home.version("one", tiers(**linked)))
    linked["api"] = {**linked["api"], "properties": {"size": 2}}
    two = home.version("two", tiers(**linked))
    assert home.classes(str(two.folder)) == {"api_1": "reconfigure", "web_1": "relink"}
    done = changed(home, two)
    first = ["web_1.peer.api_1.remove_target", "api_1.peer.database_1.remove_target"]
    assert done[:5] == [*first, *of("api: stop configure start")]
    assert sorted(done[5:]) == ["api_1.peer.database_1.add_target", "web_1.peer.api_1.add_target"]
    assert home.is_same()


REPLACED = of(
    *("web: stop", "api: stop", "database: stop delete create configure start", "api: start", "web: start"),
)


@pytest.mark.usefixtures("one")
def test_another_script_that_creates_a_node_replaces_it(home: Tiers) -> None:
    two = home.version("two")
    two.edit("database", "create")
    assert home.classes(str(two.folder)) == {"database_1": "replace", "api_1": "restart", "web_1": "restart"}
    assert changed(home, two) == REPLACED
    assert home.is_same()


def test_what_is_new_is_made_what_is_changed_is_changed_and_what_is_lost_is_removed_last(home: Tiers) -> None:
    leaving = {"web_bye": step("delete.before", "web"), "web_gone": step("delete.after", "web")}
    deployed(home, home.version("one", steps=leaving))
    steps = {
        "api_old": step("upgrade.before", "api"),
        "cache_new": step("install.before", "cache"),
        "api_changed": step("upgrade.after", "api"),
        "cache_made": step("install.after", "cache"),
        "whole_before": step("upgrade.before"),
        "whole_after": step("upgrade.after"),
    }
    nodes = tiers(api={"properties": {"size": 2}}, cache={"requirements": [peer("api")]})
    two = home.version("two", without(nodes, "web"), steps=steps)
    assert home.classes(str(two.folder)) == {"api_1": "reconfigure", "cache_1": "added", "web_1": "removed"}
    done = changed(home, two)
    assert done == [
        *("api_old", "cache_new"),
        *of("api: stop configure start", "cache: create configure start"),
        *("api_changed", "cache_made", "whole_before", "whole_after", "web_bye"),
        *(*of("web: stop delete"), "web_gone"),
    ]
    assert home.is_same()
    assert list(home.applied()) == ["api_1", "cache_1", "database_1"]


@pytest.fixture
def failing(home: Tiers, one: Version) -> Version:
    """A version whose api does not start; it requires a cache that is new, and web is lost. Of the database something
    is said that means nothing."""
    api = {"properties": {"size": 2}, "requirements": [peer("database"), peer("cache")]}
    database = {"properties": {"label": "other"}}
    two = home.version("two", without(tiers(api=api, cache=CACHE, database=database), "web"))
    two.edit("api", "start", "exit 3\n")
    return two


def test_what_fails_is_brought_back_where_that_is_asked_for(home: Tiers, failing: Version) -> None:
    before = home.applied()
    done = changed(home, failing, "--on-failure", "rollback", code=7)
    assert not [one for one in done if "web" in one or "database" in one]
    forth, back = [d for d in done if "rollback" not in d], [d for d in done if "rollback" in d]
    assert sorted(forth) == sorted(of("cache: create configure start", "api: stop configure"))
    assert in_order(forth, *of("api: stop", "api: configure"))
    assert sorted(back) == sorted(of("rollback.cache_1: stop delete", "rollback.api_1: stop configure start"))
    # What may have begun to start is stopped as it was declared, and comes up as it was before.
    assert in_order(back, *of("rollback.api_1: stop configure start"))
    assert in_order(back, *of("rollback.api_1: stop", "rollback.cache_1: stop delete"))
    assert home.applied() == before
    assert home.is_same()
    assert home.is_same(str(home.home / "one"))
    job = home.job()
    assert (job["status"], job["rollback"]) == ("failed", "complete")


def test_what_failed_is_completed_by_the_next_upgrade(home: Tiers, failing: Version) -> None:
    changed(home, failing, code=1)
    assert home.job()["status"] == "failed"
    assert home.classes(str(failing.folder)).keys() == {"api_1", "web_1"}
    path = failing.folder / "scripts/api-start.sh"
    path.write_text(path.read_text(encoding="utf-8").replace("exit 3\n", ""), encoding="utf-8")
    assert changed(home, failing) == of("api: stop start", "web: stop delete")
    assert home.is_same()


@pytest.mark.usefixtures("one")
def test_what_was_stopped_by_an_upgrade_that_failed_is_started_by_the_next(home: Tiers) -> None:
    """What starts it lies at another place, which is only recorded: it does not count as carried out for that."""
    two = home.version("two", tiers(api={"properties": {"size": 2}}))
    place = two.folder / "moved"
    place.mkdir()
    (two.folder / "scripts").rename(place / "scripts")
    service = two.folder / "service.yaml"
    service.write_text(service.read_text(encoding="utf-8").replace("scripts/", "moved/scripts/"), encoding="utf-8")
    configure = place / "scripts/api-configure.sh"
    said = configure.read_text(encoding="utf-8")
    configure.write_text(f"{said}exit 3\n", encoding="utf-8")
    changed(home, two, code=1)
    configure.write_text(said, encoding="utf-8")
    assert changed(home, two) == of("api: configure start")
    assert home.is_same()


def test_what_is_hosted_goes_with_its_host(home: Tiers) -> None:
    hosted = {"type": "tiers.Hosted", "requirements": [{"host": "machine"}], "here": True}
    nodes = {"machine": {"type": "tiers.Host"}, "database": hosted, "api": hosted}
    one = home.version("one", nodes)
    deployed(home, one)
    two = home.version("two", nodes)
    two.edit("machine", "create")
    assert set(home.classes(str(two.folder)).items()) == {(f"{name}_1", "replace") for name in nodes}
    done = changed(home, two)
    assert sorted(done) == sorted(of(*(f"{n}: stop delete create configure start" for n in nodes)))
    for name in ("database", "api"):
        assert in_order(done, *of(f"{name}: stop delete", "machine: stop delete create configure start"))
        assert in_order(done, *of("machine: start", f"{name}: create configure start"))
    assert home.is_same()


@pytest.mark.usefixtures("one")
def test_what_nothing_reads_is_only_taken_over(home: Tiers) -> None:
    nodes = tiers(api={"description": "in other words", "metadata": {"owner": "them"}, "properties": {"label": "x"}})
    two = home.version("two", nodes)
    two.edit("database", "delete", ": >deleted\n")
    assert home.classes(str(two.folder)) == {"api_1": "adopt"}
    assert changed(home, two) == []
    assert home.is_same()
    # What was taken over is what removes it.
    assert home.does("undeploy")[-1] == "database_1.delete"
    assert (home.home / "deleted").exists()


def test_an_input_that_the_new_version_does_not_have_is_left_out(home: Tiers) -> None:
    inputs = {"inputs": {"word": {"type": "string"}, "size": {"type": "integer", "default": 1}}}
    deployed(home, home.version("one", topology=inputs), "-i", "word=one", "-i", "size=2")
    two = home.version("two", tiers(api={"properties": {"size": 2}}))
    said = home.run("upgrade", two.write(), "--yes")
    assert (said.code, said.err.count("warning[input-left-out]")) == (0, 2), said.both
    assert home.is_same()
    assert home.does("deploy") == []


def test_without_differences_no_step_of_the_lifecycle_runs(home: Tiers) -> None:
    steps = {"before": step("upgrade.before", "api"), "after": step("upgrade.after")}
    one = home.version("one", steps=steps)
    deployed(home, one)
    job = home.job()
    assert changed(home, one) == []
    assert changed(home, home.version("two", steps=steps), "--hooks", "all") == []
    assert home.job() == job


@pytest.mark.usefixtures("one")
def test_what_was_to_be_removed_still_serves_when_the_last_test_fails(home: Tiers) -> None:
    before = home.applied()
    nodes = without(tiers(api={"properties": {"size": 2}}), "web")
    two = home.version("two", nodes, steps={"itest": step("upgrade.after", fails="rollback")})
    home.order("itest.hook", "exit 5\n")
    (two.folder / "blocks/say.sh").write_text("exit 5\n", encoding="utf-8")
    done = changed(home, two, code=7)
    assert done == [*of("api: stop configure start"), *of("rollback.api_1: stop configure start")]
    assert home.applied() == before
    assert home.is_same()


# ----------------------------------------------------------------------------------- what else changes what runs


def test_what_has_an_update_is_told_what_has_changed(home: Tiers) -> None:
    api = {"maintain": ["update"], "properties": {"size": 1}}
    deployed(home, home.version("one", tiers(api=api)))
    home.order("api_1.Maintain.update", 'echo "$changed $old $new" >told\n')
    two = home.version("two", tiers(api={**api, "properties": {"size": 2}}))
    assert home.classes(str(two.folder)) == {"api_1": "update"}
    assert changed(home, two) == ["api_1.update"]
    assert (home.home / "told").read_text().split() == ['["size"]', '{"size":1}', '{"size":2}']
    assert home.is_same()
    # Going back is told the other way round.
    assert home.does("rollback") == ["api_1.update"]
    assert (home.home / "told").read_text().split() == ['["size"]', '{"size":2}', '{"size":1}']
    assert home.is_same()


def test_an_update_that_is_taken_back_counts_as_it_was_before(home: Tiers) -> None:
    api = {"maintain": ["update"], "properties": {"size": 1}}
    deployed(home, home.version("one", tiers(api=api)))
    home.order("api_1.Maintain.update", "exit 3\n")
    two = home.version("two", tiers(api={**api, "properties": {"size": 2}}))
    assert changed(home, two, "--on-failure", "rollback", code=7)[-1] == "rollback.api_1.update"
    assert home.job()["rollback"] == "complete"
    assert home.is_same(str(home.home / "one"))


def test_an_update_that_failed_is_told_the_same_once_more(home: Tiers) -> None:
    """What it was told is told until it has succeeded, and by what leads back the other way round."""
    api = {"maintain": ["update"], "properties": {"size": 1}}
    deployed(home, home.version("one", tiers(api=api)))
    told = 'echo "$changed $old $new" >told\n'
    two = home.version("two", tiers(api={**api, "properties": {"size": 2}}))
    forth, back = ['["size"]', '{"size":1}', '{"size":2}'], ['["size"]', '{"size":2}', '{"size":1}']
    for _ in range(2):
        home.order("api_1.Maintain.update", f"{told}exit 3\n")
        changed(home, two, code=1)
        assert (home.home / "told").read_text().split() == forth
    home.order("api_1.Maintain.update", told)
    assert home.does("rollback") == ["api_1.update"]
    assert (home.home / "told").read_text().split() == back
    assert home.is_same(str(home.home / "one"))
    home.order("api_1.Maintain.update", f"{told}exit 3\n")
    changed(home, two, code=1)
    home.order("api_1.Maintain.update", told)
    assert changed(home, two) == ["api_1.update"]
    assert (home.home / "told").read_text().split() == forth
    assert home.is_same()


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(
    ("property_", "kind", "done"),
    [
        ("zone", "replace", of("web: stop", "api: stop delete create configure start", "web: start")),
        ("label", "adopt", []),
    ],
)
def test_a_property_says_what_its_change_asks_for(home: Tiers, property_: str, kind: str, done: list[str]) -> None:
    two = home.version("two", tiers(api={"properties": {property_: "b"}}))
    assert home.classes(str(two.folder))["api_1"] == kind
    assert changed(home, two) == done
    assert home.is_same()


def test_another_target_is_linked_in_the_place_of_the_one_before(home: Tiers) -> None:
    def nodes(target: str) -> Tree:
        return tiers(mirror={}, api={"requirements": [peer(target, LINK)]})

    deployed(home, home.version("one", nodes("database")))
    two = home.version("two", nodes("mirror"))
    assert home.classes(str(two.folder)) == {"api_1": "relink"}
    assert changed(home, two) == ["api_1.peer.database_1.remove_target", "api_1.peer.mirror_1.add_target"]
    assert home.is_same()
    assert home.does("rollback") == ["api_1.peer.mirror_1.remove_target", "api_1.peer.database_1.add_target"]
    assert home.is_same()


def many(count: int, **more: object) -> Tree:
    """database <- api <- so many instances of web."""
    return tiers(web={"occurrences": [0, "UNBOUNDED"], "instance_count": count, **more})


def test_another_count_makes_or_removes_instances_and_touches_no_other(home: Tiers) -> None:
    deployed(home, home.version("one", many(1)))
    three = home.version("three", many(3))
    assert set(home.classes(str(three.folder))) == {"web_2", "web_3"}
    done = changed(home, three)
    assert sorted(done) == sorted(of("web_2: create configure start", "web_3: create configure start"))
    two = home.version("two", many(2))
    assert changed(home, two) == of("web_3: stop delete")
    assert home.is_same()
    assert sorted(home.applied()) == ["api_1", "database_1", "web_1", "web_2"]


CHAIN = ("stop", "configure", "start")
TURNS = (("web_1", "web_2"), ("web_3", "web_4"), ("web_5",))


@pytest.mark.parametrize("at_once", ["2", "40%", ""])
def test_no_more_instances_of_a_node_are_down_than_may_be(home: Tiers, at_once: str) -> None:
    deployed(home, home.version("one", many(5)))
    two = home.version("two", many(5, properties={"size": 2}))
    done = changed(home, two, *(["--max-unavailable", at_once] if at_once else []))
    assert sorted(done) == sorted(f"web_{n}.{operation}" for n in range(1, 6) for operation in CHAIN)
    if at_once:
        # Who is quick may be up again before another of the same turn goes down, but the next turn waits for all.
        order = [n for one in done for n, turn in enumerate(TURNS) if one.partition(".")[0] in turn]
        assert order == sorted(order)
    assert home.is_same()


def test_a_batch_that_fails_stops_those_after_it(home: Tiers) -> None:
    settings = {"metadata": {"ordito.max_unavailable": "2"}}
    deployed(home, home.version("one", many(5, **settings)))
    home.order("web_3.Standard.configure", "exit 3\n")
    two = home.version("two", many(5, **settings, properties={"size": 2}))
    done = changed(home, two, code=1)
    assert {one.partition(".")[0] for one in done} == {"web_1", "web_2", "web_3", "web_4"}
    assert not [one for one in done if one.startswith("web_5")]
    home.forget("web_3.Standard.configure")
    done = changed(home, two)
    assert sorted(done) == sorted([*of("web_3: configure start"), *of("web_5: stop configure start")])
    assert home.is_same()


def test_what_reads_what_has_changed_is_configured_again(home: Tiers) -> None:
    reads = {"reads": {"at": {"get_attribute": ["api", "address"]}}}
    nodes = tiers(web=reads, api={"sets": "configure"})
    deployed(home, home.version("one", nodes))
    two = home.version("two", tiers(web=reads, api={"sets": "configure", "properties": {"size": 2}}))
    home.order("api_1.Standard.configure", "address=elsewhere\n")
    assert changed(home, two) == of("api: stop configure start", "web: stop configure start")
    assert home.is_same()
    # Where what it reads stays as it is, it stays as well.
    three = home.version("three", tiers(web=reads, api={"sets": "configure", "properties": {"size": 3}}))
    assert changed(home, three) == of("api: stop configure start")
    assert home.is_same()


@pytest.mark.usefixtures("one")
def test_what_is_lost_is_removed_first_or_not_at_all_where_that_is_asked_for(home: Tiers) -> None:
    two = home.version("two", without(tiers(api={"properties": {"size": 2}}), "web"))
    assert changed(home, two, "--no-prune") == of("api: stop configure start")
    assert "web_1" in home.applied()
    three = home.version("three", without(tiers(api={"properties": {"size": 3}}), "web"))
    assert changed(home, three, "--prune", "early") == of("web: stop delete", "api: stop configure start")
    assert list(home.applied()) == ["api_1", "database_1"]
    assert home.is_same()


def test_a_deployment_changes_in_the_same_way_and_keeps_what_is_lost(home: Tiers, one: Version) -> None:
    one.nodes = without(tiers(api={"properties": {"size": 2}}), "web")
    one.write()
    assert home.does("deploy") == of("api: stop configure start")
    assert "web_1" in home.applied()
    assert home.does("deploy") == []
    assert home.does("deploy", "--prune", "last") == of("web: stop delete")
    assert home.is_same()


def test_a_node_is_replaced_because_somebody_says_so(home: Tiers, one: Version) -> None:
    assert changed(home, one, "--replace", "web") == of("web: stop delete create configure start")
    assert home.is_same()


@pytest.mark.usefixtures("one")
def test_a_type_that_is_no_other_kind_of_the_same_replaces(home: Tiers) -> None:
    two = home.version("two", tiers(web={"type": "tiers.Other", "requirements": [peer("api")]}))
    assert changed(home, two) == of("web: stop delete create configure start")
    assert home.is_same()
    three = home.version("three", tiers(web={"type": "tiers.Special", "requirements": [peer("api")]}))
    assert home.classes(str(three.folder)) == {"web_1": "adopt"}
    assert changed(home, three) == []


# --------------------------------------------------------------------------------------------- steps, and revisions


def test_steps_of_all_components_run_where_that_is_asked_for(home: Tiers) -> None:
    names = ("database", "api", "web")
    steps = {f"{name}_changes": step("upgrade.before", name) for name in names}
    deployed(home, home.version("one", steps=steps))
    two = home.version("two", tiers(api={"properties": {"size": 2}}), steps=steps)
    assert changed(home, two) == ["api_changes", *of("api: stop configure start")]
    three = home.version("three", tiers(api={"properties": {"size": 3}}), steps=steps)
    all_steps = ["database_changes", "api_changes", "web_changes"]
    assert changed(home, three, "--hooks", "all") == [*all_steps, *of("api: stop configure start")]
    four = home.version("four", tiers(api={"properties": {"size": 4}}), steps=steps)
    assert changed(home, four, "--hooks", "none") == of("api: stop configure start")
    assert home.is_same()


@pytest.mark.usefixtures("one")
def test_one_goes_back_to_any_revision_and_forth_again(home: Tiers) -> None:
    first = home.applied()
    two = home.version("two", without(tiers(api={"properties": {"size": 2}}, cache=CACHE), "web"))
    changed(home, two)
    second = home.applied()
    changed(home, home.version("three", tiers(database={"properties": {"zone": "b"}})))
    assert home.does("rollback", "1")
    assert home.is_same(str(home.home / "one"))
    assert home.applied() == first
    assert home.does("rollback", "2")
    assert home.is_same(str(two.folder))
    assert home.applied() == second


# -------------------------------------------------------------------------------------------------------- crashes


@pytest.mark.usefixtures("one")
def test_an_upgrade_that_was_killed_goes_on_where_it_was(home: Tiers) -> None:
    nodes = without(tiers(api={"properties": {"size": 2}}, cache={"requirements": [peer("api")]}), "web")
    steps = {"before": step("upgrade.before", "api"), "after": step("upgrade.after")}
    two = home.version("two", nodes, steps=steps)
    home.order("api_1.Standard.start", "while [ ! -e open ]; do sleep 0.05; done\n")
    process = home.begin("upgrade", str(two.folder))
    while until(process, "step.started")["step"] != "api_1.Standard.start":
        pass
    kill(process)
    assert home.look("diff").code == 0
    (home.home / "open").touch()
    done = home.does("jobs", "resume")
    assert done == [*of("api: start", "cache: create configure start"), "after", *of("web: stop delete")]
    assert home.is_same()
    assert completed_twice(home.log) == []
    assert home.does("upgrade", str(two.folder)) == []


def test_an_update_that_ended_unseen_counts_when_its_job_is_cancelled(home: Tiers) -> None:
    """What it has changed is known: it is not told of it again, and going back takes it back."""
    api = {"maintain": ["update"], "properties": {"size": 1}}
    deployed(home, home.version("one", tiers(api=api)))
    two = home.version("two", tiers(api={**api, "properties": {"size": 2}}))
    home.order("api_1.Maintain.update", "while [ ! -e open ]; do sleep 0.05; done\n")
    process = home.begin("upgrade", str(two.folder))
    happened(lambda: "api_1.Maintain.update" in home.begun())
    kill(process)
    (home.home / "open").touch()
    happened(lambda: "api_1.Maintain.update" in home.completed())
    assert home.look("jobs", "cancel", "--yes").code == 0
    assert home.is_same(str(two.folder))
    assert home.classes(str(home.home / "one")) == {"api_1": "update"}
    assert home.does("rollback") == ["api_1.update"]
    assert home.is_same(str(home.home / "one"))


@pytest.mark.parametrize("ends", [True, False])
def test_a_link_is_taken_back_whose_job_was_cut_off(home: Tiers, ends: bool) -> None:
    """It is known by which version it was made, whether its operation ended well or is in doubt; what was carried out
    on the instance is not carried out again."""

    def nodes(target: str) -> Tree:
        return {"database": {}, "other": {}, "web": {"requirements": [peer(target, LINK)]}}

    deployed(home, home.version("one", nodes("database")))
    adds = "web_1.peer.other_1.Configure.add_target"
    home.order(adds, "while [ ! -e open ]; do sleep 0.05; done\n")
    process = home.begin("upgrade", str(home.version("two", nodes("other")).folder))
    happened(lambda: adds in home.begun())
    kill(process)
    if ends:
        (home.home / "open").touch()
    happened(lambda: not ends or adds in home.completed())
    assert home.look("jobs", "cancel", "--yes", code="" if ends else IMPATIENT).code == 0
    assert home.does("rollback") == ["web_1.peer.other_1.remove_target", "web_1.peer.database_1.add_target"]
    assert home.is_same(str(home.home / "one"))
