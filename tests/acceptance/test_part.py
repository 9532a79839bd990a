"""A part of a service is deployed, upgraded or removed, on real processes, while all else stays as it is; what is
left out is done by the next plan for everything. The topology is database <- api <- web, and a mail beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.program import copied
from tests.acceptance.tiers import Tiers, Tree, Version, make_tiers, of, peer, tiers

MADE = "create configure start"
GONE = "stop delete"


@pytest.fixture
def home(tmp_path: Path) -> Tiers:
    return make_tiers(tmp_path)


def shop(home: Tiers, name: str = "one", **more: Tree) -> Version:
    nodes = tiers(mail={})
    for node, said in more.items():
        nodes[node] = {**nodes.get(node, {}), **said}
    return home.version(name, nodes)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the first version is deployed."""
    home = make_tiers(tmp_path_factory.mktemp("deployed"))
    home.does("deploy", shop(home).write())
    return home.home


@pytest.fixture
def one(home: Tiers, deployed: Path) -> None:
    """The first version, deployed."""
    copied(deployed, home.home)


def state(home: Tiers) -> Tree:
    return dict(json.loads(home.look("status", "-o", "json").out))


def planned(home: Tiers, *words: str) -> Tree:
    return dict(json.loads(home.look("plan", *words, "-o", "json").out))


def left_out(home: Tiers, *words: str) -> dict[str, str]:
    """What a plan says it leaves out: instances with what a plan for everything would do to them."""
    return {change["instance"]: change["symbol"] for change in planned(home, *words)["left_out"]}


def replays(home: Tiers) -> bool:
    return home.look("jobs", "replay").code == 0


def test_a_part_is_made_with_what_it_needs_and_the_rest_by_the_next_deployment(home: Tiers) -> None:
    one = shop(home)
    words = ("deploy", one.write(), "--node", "api")
    assert left_out(home, *words) == {"web_1": "+", "mail_1": "+"}
    assert home.does(*words) == of(f"database: {MADE}", f"api: {MADE}")
    found = state(home)
    assert (found["revision"], found["attempt"]["revision"]) == (0, 1)
    assert "deployed in part" in home.look("status").out
    assert replays(home)
    assert sorted(home.does("deploy")) == sorted(of(f"web: {MADE}", f"mail: {MADE}"))
    found = state(home)
    assert (found["revision"], found["attempt"]) == (1, None)
    assert home.is_same()
    assert replays(home)


def test_a_part_that_leaves_nothing_out_is_all_and_a_revision(home: Tiers) -> None:
    home.does("deploy", shop(home).write(), "--node", "web", "--node", "mail")
    assert state(home)["revision"] == 1


@pytest.mark.usefixtures("one")
def test_a_part_is_upgraded_and_the_rest_stays_in_its_form(home: Tiers) -> None:
    two = shop(home, "two", web={"properties": {"size": 2}}, mail={"properties": {"size": 2}}).write()
    assert left_out(home, "upgrade", two, "--node", "mail") == {"web_1": "~"}
    assert home.does("upgrade", two, "--node", "mail") == of("mail: stop configure start")
    assert (state(home)["revision"], state(home)["attempt"]["revision"]) == (1, 2)
    assert replays(home)
    assert home.classes() == {"web_1": "reconfigure"}
    done = [name for name in home.does("upgrade") if name.startswith("web")]
    assert done == of("web: stop configure start")
    assert state(home)["revision"] == 2
    assert home.is_same()
    assert replays(home)


@pytest.mark.usefixtures("one")
def test_a_part_that_was_upgraded_is_taken_back_to_the_last_revision(home: Tiers) -> None:
    two = shop(home, "two", web={"properties": {"size": 2}}, mail={"properties": {"size": 2}}).write()
    home.does("upgrade", two, "--node", "mail")
    assert home.does("rollback") == of("mail: stop configure start")
    assert (state(home)["revision"], state(home)["attempt"]) == (1, None)
    assert replays(home)


@pytest.mark.usefixtures("one")
def test_what_requires_a_part_that_is_replaced_is_taken_along_as_it_is_wanted(home: Tiers) -> None:
    two = shop(home, "two", database={"properties": {"zone": "b"}}, mail={"properties": {"size": 2}},
               api={"requirements": [peer("database")], "properties": {"size": 2}}).write()  # fmt: skip
    words = ("upgrade", two, "--node", "database")
    assert left_out(home, *words) == {"mail_1": "~"}
    done = home.does(*words)
    assert of("api: configure")[0] in done
    assert not [name for name in done if name.startswith("mail")]
    assert home.classes() == {"mail_1": "reconfigure"}


def test_a_part_that_fails_is_retried_as_that_part(home: Tiers) -> None:
    one = shop(home).write()
    home.order("api_1.Standard.start", "exit 3")
    home.does("deploy", one, "--node", "api", code=1)
    home.order("api_1.Standard.start", "")
    # What may be running although its start failed is stopped first.
    assert home.does("jobs", "retry") == of("api: stop start")
    assert set(home.applied()) == {"database_1", "api_1"}
    assert replays(home)


@pytest.mark.usefixtures("one")
def test_what_the_template_has_lost_goes_only_where_it_is_named(home: Tiers) -> None:
    two = home.version("two", tiers(web={"requirements": [peer("api")], "properties": {"size": 2}})).write()
    assert home.does("upgrade", two, "--node", "web") == of("web: stop configure start")
    assert "mail_1" in home.applied()
    assert home.does("upgrade", "--node", "mail") == of(f"mail: {GONE}")


def test_nothing_new_is_made_where_it_is_to_be_skipped(home: Tiers) -> None:
    home.does("deploy", home.version("one", {"database": {}, "mail": {}}).write())
    two = shop(home, "two", mail={"properties": {"size": 2}}).write()
    assert home.does("upgrade", two, "--skip-new") == of("mail: stop configure start")
    assert set(home.applied()) == {"database_1", "mail_1"}
    assert sorted(home.does("upgrade")) == sorted(of(f"api: {MADE}", f"web: {MADE}"))


def test_what_is_begun_needs_what_is_skipped(home: Tiers) -> None:
    home.does("deploy", shop(home).write(), "--node", "mail")
    needs = {"requirements": [peer("database")]}
    two = home.version("two", {"database": {}, "mail": {**needs, "properties": {"zone": "b"}}}).write()
    found = home.look("plan", "upgrade", two, "--skip-new")
    assert found.code == 3
    assert "needs-new" in found.err


@pytest.mark.usefixtures("one")
def test_nothing_is_removed_that_was_not_named(home: Tiers) -> None:
    found = home.look("undeploy", "--yes", "--node", "api")
    assert found.code == 3
    assert "--node web    remove web_1 too, and first" in found.err
    assert home.does("undeploy", "--node", "api", "--node", "web") == of(f"web: {GONE}", f"api: {GONE}")
    assert set(home.applied()) == {"database_1", "mail_1"}
    assert (state(home)["revision"], state(home)["attempt"]) == (1, None)
    assert replays(home)
    assert home.does("undeploy", "--instance", "mail_1") == of(f"mail: {GONE}")
    assert sorted(home.does("deploy")) == sorted(of(f"api: {MADE}", f"web: {MADE}", f"mail: {MADE}"))
    assert replays(home)


def test_a_removal_of_a_part_that_is_all_is_the_removal(home: Tiers) -> None:
    home.does("deploy", shop(home).write(), "--node", "mail")
    home.does("undeploy", "--node", "mail")
    assert "no instances" in home.look("status").out
    assert replays(home)


def test_a_saved_plan_of_a_part_is_carried_out_as_that_part(home: Tiers) -> None:
    one = shop(home).write()
    assert home.look("plan", one, "--node", "mail", "--out", "mail.plan").code == 0
    assert home.does("deploy", "mail.plan") == of(f"mail: {MADE}")
    assert set(home.applied()) == {"mail_1"}
    assert "deployed in part" in home.look("status").out


def test_a_count_that_was_scaled_is_kept_by_a_deployment_of_another_part(home: Tiers) -> None:
    one = shop(home, mail={"occurrences": [1, 5]}).write()
    home.does("deploy", one)
    home.does("scale", "mail=3")
    two = shop(home, "two", mail={"occurrences": [1, 5]}, web={"properties": {"size": 2}}).write()
    home.does("upgrade", two, "--node", "web")
    assert {"mail_1", "mail_2", "mail_3"} <= set(home.applied())
    home.does("upgrade")
    assert {"mail_1", "mail_2", "mail_3"} <= set(home.applied())


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize("words", [("--node", "nothing"), ("--instance", "nothing_1")])
def test_names_that_mean_nothing_are_refused(home: Tiers, words: tuple[str, str]) -> None:
    for verb in ("deploy", "upgrade", "undeploy"):
        found = home.look(verb, "--yes", *words)
        assert found.code != 0
        assert "unknown-name" in found.err
