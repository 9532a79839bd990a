"""The shop, end to end: deployed for real, visited over HTTP, changed, and removed without a trace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.program import files_of, get, make_shop, post, removed_after, status_of


@pytest.mark.parametrize("instances", [1, 3])
def test_the_shop_answers_through_every_instance_and_leaves_nothing(tmp_path: Path, instances: int) -> None:
    """R-5.8.5-5, R-2.18-1: the balancer learns of each member; what one writes another reads."""
    with removed_after(make_shop(tmp_path)) as shop:
        deployed = shop.deploy(instances)
        assert deployed.code == 0, deployed.both
        url = shop.run("output", "url").out.strip()
        expected = {f"web_{n}" for n in range(1, instances + 1)}

        answered: Counter[str] = Counter()
        for _ in range(50):
            _, headers = get(f"{url}/records")
            answered[headers["X-Served-By"]] += 1
        assert set(answered) == expected

        for n in range(instances + 1):
            writer = post(f"{url}/records", {"text": f"record {n}"})["served_by"]
            readers = (get(f"{url}/records") for _ in range(50))
            # There is another one to read through, unless there is only one at all.
            read, headers = next(r for r in readers if instances == 1 or r[1]["X-Served-By"] != writer)
            assert headers["X-Served-By"] == read["served_by"]
            assert {writer, read["served_by"]} <= expected
            found = {record["text"]: record["written_by"] for record in read["records"]}
            assert found[f"record {n}"] == writer

        undeployed = shop.run("undeploy", "--yes")
        assert undeployed.code == 0, undeployed.both
        assert shop.leftovers() == []


def test_a_second_deployment_starts_nothing_and_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    """What is done is done: no operation, no byte, and it says so."""
    with removed_after(make_shop(tmp_path)) as shop:
        assert shop.deploy(2).code == 0
        before, log = files_of(shop.ensemble), shop.log.read_bytes()
        again = shop.deploy(2)
        assert again.code == 0, again.both
        assert "nothing to do" in again.both.lower()
        assert files_of(shop.ensemble) == before
        assert shop.log.read_bytes() == log


def test_the_number_of_instances_grows_and_shrinks_with_the_input(tmp_path: Path) -> None:
    """Members are added to and removed from the running balancer; survivors are left alone (R-5.8.5-4, -5, -6)."""
    with removed_after(make_shop(tmp_path)) as shop:
        assert shop.deploy(1).code == 0
        url = shop.run("output", "url").out.strip()
        for instances in (3, 2):
            changed = shop.deploy(instances)
            assert changed.code == 0, changed.both
            answered = {get(f"{url}/records")[1]["X-Served-By"] for _ in range(12)}
            assert answered == {f"web_{n}" for n in range(1, instances + 1)}
        creations = [
            line for line in shop.log.read_text().splitlines() if "end" in line and "web_1.Standard.configure" in line
        ]
        assert len(creations) == 1
        assert shop.run("undeploy", "--yes").code == 0
        assert shop.leftovers() == []


def test_the_record_names_every_instance_with_its_state(tmp_path: Path) -> None:
    """R-5.8.4-1: every chain ends in the state started."""
    with removed_after(make_shop(tmp_path)) as shop:
        assert shop.deploy(2).code == 0
        instances = status_of(shop.ensemble)["instances"]
        machines = {"data_machine_1", "web_machine_1", "front_machine_1"}
        assert set(instances) == {*machines, "database_1", "api_1", "web_1", "web_2", "balancer_1"}
        for record in instances.values():
            assert record["readyState"] == {"local": "ok", "effective": "ok", "state": "started"}
        assert instances["web_2"]["host"] == "web_machine_1"
