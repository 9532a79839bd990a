"""The second version of the shop: upgraded with a migration and a test, or rolled back where that fails, over HTTP."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.program import SHOP, Finished, Shop, free_ports, get, ordito, post, removed_after
from tests.acceptance.test_crash import KILL_AFTER
from tests.support.thorough import THOROUGH

DEFAULT_PORT = ":18080/"
PROGRAM = "./run ordito "


def commands() -> Iterator[str]:
    """The commands of the chapter about version 2 of the shop's README, in order."""
    text = (SHOP / "README.md").read_text(encoding="utf-8")
    chapter = text.partition("## Version 2\n")[2].partition("\n## ")[0]
    lines = (line.removeprefix("$ ") for line in chapter.splitlines())
    return (line for line in lines if line.startswith(("./run ", "curl ")))


def carried_out(shop: Shop, command: str) -> Finished:
    """A command of the README for the program, given to a shop of its own."""
    words = shlex.split(command.removeprefix(PROGRAM))
    words = [str(shop.ensemble) if word == "/tmp/shop" else word for word in words]
    words = [str(SHOP.parents[1] / word) if word.startswith("examples/") else word for word in words]
    inputs = shop.inputs(1) if words[0] == "deploy" else []
    return ordito(shop.home, *words, *inputs)


def visited(shop: Shop, command: str) -> Any:
    """What the shop answers to a ``curl`` of the README."""
    words = shlex.split(command)
    url = words[-1].replace(DEFAULT_PORT, f":{shop.port}/")
    return post(url, json.loads(words[2])) if words[1] == "-d" else get(url)[0]


def records(answer: Any) -> list[tuple[str, bool]]:
    """The records of an answer: their texts, and whether it is known when they were written."""
    return [(record["text"], bool(record.get("written_at"))) for record in answer["records"]]


def own_shop(home: Path) -> Shop:
    return Shop(home, SHOP / "service.yaml", free_ports(22))


def test_the_story_of_the_readme_is_true(tmp_path: Path) -> None:
    """Version 1, an upgrade whose test fails, version 1 again as if nothing had been, version 2, and back."""
    with removed_after(own_shop(tmp_path)) as shop:
        told: dict[str, list[Finished]] = {}
        answers = []
        for command in commands():
            if command.startswith("curl"):
                answers.append(visited(shop, command))
            elif command.startswith(PROGRAM):
                done = carried_out(shop, command)
                told.setdefault(command.split()[2], []).append(done)
                failing = "proof=" in command
                assert done.code == (7 if failing else 0), done.both
        written, after_failure, coffee, both = answers
        assert "written_at" not in written
        assert after_failure["records"] == [{"id": 1, "text": "tea", "written_by": "web_1"}]
        assert coffee["written_at"]
        assert records(both) == [("tea", False), ("coffee", True)]

        planned, nothing = (done.out for done in told["diff"])
        assert "reconfigure  api_1" in planned
        assert not any(f"{name}_1" in planned for name in ("web", "balancer"))
        assert "No differences" in nothing
        failed, upgraded = told["upgrade"]
        assert "Everything that it did was rolled back." in failed.both
        order = ["backup", "migrate", "api_1", "test_upgraded"]
        places = [upgraded.both.index(name) for name in order]
        assert places == sorted(places)
        assert "*  2" in told["revisions"][0].out
        assert len(list((tmp_path / "data-backups").iterdir())) == 2
        assert shop.leftovers() == []


def test_a_new_shop_of_version_2_gets_its_tables_and_is_tested(tmp_path: Path) -> None:
    """What an upgrade does before the operations an installation does after them: there is no database sooner."""
    with removed_after(own_shop(tmp_path)) as shop:
        deploying = ["deploy", str(SHOP / "version-2.yaml"), "-e", str(shop.ensemble), "--yes", *shop.inputs(1)]
        deployed = ordito(tmp_path, *deploying)
        assert deployed.code == 0, deployed.both
        url = shop.run("output", "url").out.strip()
        post(f"{url}/records", {"text": "tea"})
        assert records(get(f"{url}/records")[0]) == [("tea", True)]


MOMENTS = [*((False, n) for n in range(1, 16)), *((True, n) for n in range(1, 28))] if THOROUGH else [(True, 16)]
"""Whether the test of an upgrade fails, and after which turn of its journal the program is killed."""


@pytest.mark.parametrize(("fails", "number"), MOMENTS)
def test_an_upgrade_that_was_killed_goes_on_forth_or_back(tmp_path: Path, fails: bool, number: int) -> None:
    """Whatever its journal held by then: a migration is applied once, and undone once where the test fails; nothing is
    lost, and nothing differs."""
    with removed_after(own_shop(tmp_path)) as shop:
        assert ordito(tmp_path, *shop.deployment(1)).code == 0
        url = shop.run("output", "url").out.strip()
        post(f"{url}/records", {"text": "tea"})
        upgrading = ["upgrade", str(SHOP / "version-2.yaml"), "-e", str(shop.ensemble), "--yes"]
        upgrading += ["-i", 'proof="price"'] if fails else []
        killed = ordito(tmp_path, *upgrading, code=KILL_AFTER.format(number=number))
        if killed.code != -signal.SIGKILL:
            pytest.skip("the job has fewer turns than that")
        end = shop.run("jobs", "resume")
        if "Nothing to resume" in end.both:
            end = ordito(tmp_path, *upgrading)
        assert end.code == (7 if fails else 0), end.both
        post(f"{url}/records", {"text": "coffee"})
        assert records(get(f"{url}/records")[0]) == [("tea", False), ("coffee", not fails)]
        with closing(sqlite3.connect(shop.directory / "database_1" / "shop.sqlite")) as database:
            applied = database.execute("SELECT name FROM ordito_migrations").fetchall()
        assert applied == ([] if fails else [("001_written_at",)])
        wanted = SHOP / ("service.yaml" if fails else "version-2.yaml")
        assert shop.run("diff", str(wanted), "--detailed-exitcode").code == 0
