"""A database, a web application of three and a proxy on one machine, with real processes: what is killed is repaired,
and nothing that keeps data is lost unasked."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.program import Finished, copied, environment, ordito, status_of

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop }
imports: [ profile:ordito ]
node_types:
  my.Process:
    derived_from: tosca.nodes.SoftwareComponent
    metadata: { ordito.ready: 0 }
    interfaces: &all
      Standard: { operations: { create: create.sh, start: start.sh, stop: stop.sh, delete: delete.sh } }
      Maintain: { type: ordito.interfaces.Maintain, operations: { check: check.sh } }
  my.Database:
    derived_from: tosca.nodes.DBMS
    metadata: { ordito.ready: 0 }
    interfaces: *all
topology_template:
  node_templates:
    server: { type: tosca.nodes.Compute }
    database: { type: my.Database, requirements: [ host: server ] }
    web:
      type: my.Process
      occurrences: [ 1, 5 ]
      instance_count: 3
      requirements: [ host: server, dependency: database ]
    proxy: { type: my.Process, requirements: [ host: server, dependency: web ] }
"""
SCRIPTS = {
    "create.sh": 'mkdir -p "$HOME/run"; echo row >>"$HOME/run/$INSTANCE.data"\n',
    "start.sh": """\
if [ -e "$HOME/run/$INSTANCE.taken" ]; then echo "the port is taken"; exit 1; fi
sleep 600 </dev/null >/dev/null 2>&1 &
echo $! >"$HOME/run/$INSTANCE.pid"
""",
    # What has been killed fails to be stopped, also where nobody has taken note of its end yet.
    "stop.sh": """\
pid=$(cat "$HOME/run/$INSTANCE.pid")
grep -q "^State:.[RSD]" "/proc/$pid/status" && kill "$pid"
""",
    "delete.sh": 'rm -f "$HOME/run/$INSTANCE."{data,pid}\n',
    "check.sh": """\
if ! [ -e "$HOME/run/$INSTANCE.data" ]; then echo "no volume"; exit 3; fi
if ! grep -q "^State:.[RSD]" "/proc/$(cat "$HOME/run/$INSTANCE.pid")/status"; then echo "nothing runs"; exit 1; fi
""",
}


@dataclass(frozen=True)
class Shop:
    """Such a service, deployed."""

    home: Path

    def run(self, *words: str, code: int = 0) -> Finished:
        done = ordito(self.home, *words, "-e", str(self.home / "live"))
        assert done.code == code, done.both
        return done

    def pid(self, instance: str) -> int:
        return int((self.home / "run" / f"{instance}.pid").read_text())

    def kill(self, instance: str) -> None:
        """End what runs, and have a check find that."""
        pid = self.pid(instance)
        os.kill(pid, signal.SIGKILL)
        state = Path(f"/proc/{pid}/stat")
        while state.exists() and ") Z " not in state.read_text():
            os.sched_yield()
        assert "nothing runs" in self.run("check").both

    def data(self, instance: str) -> Path:
        return self.home / "run" / f"{instance}.data"

    def taken(self, instance: str) -> Path:
        """While that is there, nothing can be started."""
        return self.home / "run" / f"{instance}.taken"

    def rows(self, instance: str) -> int:
        return len(self.data(instance).read_text().splitlines())

    def away(self, instance: str) -> None:
        """Take the data away, as with a volume, and have a check find that."""
        self.data(instance).rename(self.home / "volume")
        assert "no volume" in self.run("check").both

    def back(self, instance: str) -> None:
        (self.home / "volume").rename(self.data(instance))

    def pids(self) -> dict[str, int]:
        return {name: self.pid(name) for name in ("database_1", "web_1", "web_2", "web_3", "proxy_1")}

    def statuses(self) -> set[str]:
        return {one["readyState"]["local"] for one in status_of(self.home / "live")["instances"].values()}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which it is deployed, while nothing runs any more."""
    home = tmp_path_factory.mktemp("deployed")
    folder = home / "shop"
    folder.mkdir()
    (folder / "service.yaml").write_text(SERVICE, encoding="utf-8")
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    Shop(home).run("deploy", str(folder), "--yes")
    end_all(home)
    return home


def end_all(home: Path) -> None:
    for file in (home / "run").glob("*.pid"):
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.fixture
def shop(deployed: Path, tmp_path: Path) -> Iterator[Shop]:
    home = copied(deployed, tmp_path / "home")
    for file in sorted((home / "run").glob("*.pid")):
        script = ["bash", str(home / "shop" / "start.sh")]
        subprocess.run(script, env={**environment(home), "INSTANCE": file.stem}, check=True)
    yield Shop(home)
    end_all(home)


def test_a_killed_process_is_started_again_by_deploying(shop: Shop) -> None:
    before = shop.pids()
    shop.kill("web_2")
    planned = shop.run("plan").out
    assert "web_2  it is error: replaced, if it is not ok after being stopped and started" in planned
    assert shop.run("plan", "--detailed-exitcode", code=2).out
    done = shop.run("deploy", "--yes")
    assert "what failed is optional: the rest is done, and later operations have repaired it" in done.both
    after = shop.pids()
    assert {name for name, pid in after.items() if before[name] != pid} == {"web_2"}, done.both
    assert shop.statuses() == {"ok"}
    shop.run("plan", "--detailed-exitcode")
    shop.run("check", "--detailed-exitcode")
    assert shop.rows("web_2") == 1, "to be stopped and started was enough"


def test_what_was_killed_unseen_is_found_and_started_again_by_one_command(shop: Shop) -> None:
    before = shop.pids()
    os.kill(before["web_2"], signal.SIGKILL)
    shop.run("deploy", "--yes")
    assert shop.pids() == before, "nothing is known of it, and nothing was asked"
    shop.run("plan", "--check", "--detailed-exitcode", code=2)
    saved = str(shop.home / "saved.plan")
    shop.run("plan", "--check", "--node", "proxy", "--out", saved)
    shop.run("deploy", saved, "--yes")
    assert shop.pids() == before
    done = shop.run("deploy", "--check", "--yes")
    after = shop.pids()
    assert {name for name, pid in after.items() if before[name] != pid} == {"web_2"}, done.both
    shop.run("deploy", "--check", "--yes")
    assert shop.pids() == after
    assert shop.statuses() == {"ok"}
    shop.run("check", "--detailed-exitcode")
    shop.run("jobs", "replay")
    (shop.home / "run" / "web_3.taken").touch()
    os.kill(after["web_3"], signal.SIGKILL)
    assert "the port is taken" in shop.run("deploy", "--check", "--yes", code=1).both
    (shop.home / "run" / "web_3.taken").unlink()
    os.kill(after["web_1"], signal.SIGKILL)
    shop.run("jobs", "retry", "--yes")
    last = shop.pids()
    assert {name for name, pid in after.items() if last[name] != pid} == {"web_3", "web_1"}
    shop.run("check", "--detailed-exitcode")


def test_what_is_made_only_where_it_is_absent_is_shown_so(shop: Shop) -> None:
    shop.kill("database_1")
    assert "database_1 create (if absent)\n" in shop.run("plan", "upgrade", "--replace", "web").out


def test_what_is_not_repaired_is_said_by_the_plan(shop: Shop) -> None:
    """The plan changes what requires a database that is down: it says that this fails, and the command that helps."""
    shop.kill("database_1")
    assert "not-repaired" not in shop.run("plan").out
    change = ("upgrade", "--replace", "web")
    planned = shop.run("plan", *change).out
    assert "database_1 is not ok, and not repaired by this (this plan changes it, what it requires, or what" in planned
    assert "repair it first: `ordito heal database_1`" in planned
    assert "not-repaired" in shop.run(*change, "--yes", code=1).both
    shop.run("heal", "database_1", "--yes")
    assert "not-repaired" not in shop.run(*change, "--yes").both
    assert shop.rows("database_1") == 1
    shop.kill("database_1")
    assert (
        "database_1 is not ok, and not repaired by this (going back repairs nothing)"
        in shop.run("plan", "rollback", "1").out
    )


def test_a_port_that_is_taken_costs_nobody_else_anything(shop: Shop) -> None:
    before = shop.pids()
    (shop.home / "run" / "web_2.taken").touch()
    shop.kill("web_2")
    told = shop.run("check").err
    assert "heal web_2" in told
    for words in (("heal", "web_2"), ("deploy",)):
        done = shop.run(*words, "--yes", code=1)
        assert "the port is taken" in done.both
    (shop.home / "run" / "web_2.taken").unlink()
    done = shop.run("heal", "web_2", "--yes")
    assert done.out in ("web_2  was replaced\n", "web_2  was stopped and started\n")
    after = shop.pids()
    assert {name for name, pid in after.items() if before[name] != pid} == {"web_2"}
    assert shop.rows("database_1") == 1
    shop.run("check", "--detailed-exitcode")
    assert "shop  ok" in shop.run("status").out


@pytest.mark.parametrize("verb", ["heal", "deploy"])
def test_a_database_is_started_again_and_never_replaced_unasked(shop: Shop, verb: str) -> None:
    words = ("heal", "database_1") if verb == "heal" else ("deploy",)
    shop.kill("database_1")
    shop.run(*words, "--yes")
    assert shop.rows("database_1") == 1
    assert shop.statuses() == {"ok"}
    (shop.home / "run" / "database_1.taken").touch()
    shop.kill("database_1")
    done = shop.run(*words, "--yes", code=1)
    assert "database_1  not replaced whatever is found: data of database_1 would be lost" in done.both
    assert shop.rows("database_1") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("heal", "web_1", "--scope", "host", "--reinstall"), False),
        (("heal", "server_1", "--reinstall"), False),
        (("heal", "database_1", "--reinstall"), True),
        (("upgrade", "--replace", "database"), True),
        (("upgrade", "--replace", "server"), False),
    ],
)
def test_data_are_lost_only_where_somebody_says_so(shop: Shop, words: tuple[str, ...], named: bool) -> None:
    before = shop.pids()
    refused = shop.run(*words, "--yes", code=3)
    assert "error[data-loss]: data of database_1" in refused.err
    assert f"{' '.join(words)} --yes" in refused.err
    assert "--allow-data-loss database_1" in refused.err
    assert shop.pids() == before
    planned = shop.run("plan", *words).out
    assert "data of database_1 is lost" in planned
    assert "not permitted yet: --allow-data-loss database_1" in planned
    asked = shop.run(*words, code=64 if named else 3)
    assert ("error[data-loss]" in asked.err) == (not named)
    done = shop.run(*words, "--yes", "--allow-data-loss", "database")
    assert "data of database_1 is lost" in done.err
    assert shop.pids()["database_1"] != before["database_1"]
    assert shop.statuses() == {"ok"}


def test_what_says_that_it_keeps_no_data_is_replaced(shop: Shop) -> None:
    file = shop.home / "shop" / "service.yaml"
    text = file.read_text(encoding="utf-8")
    none, kept = "metadata: { ordito.data: none }", "metadata: { ordito.data: kept }"
    file.write_text(text.replace("type: my.Database,", f"type: my.Database, {none},"))
    shop.run("deploy", "--yes")
    assert "data of" not in shop.run("heal", "database_1", "--reinstall", "--yes").err
    file.write_text(text.replace("      occurrences: [ 1, 5 ]", f"      {kept}\n      occurrences: [ 1, 5 ]"))
    shop.run("deploy", "--yes")
    assert "error[data-loss]" in shop.run("heal", "web_1", "--reinstall", "--yes", code=3).err


def test_what_removes_a_database_says_whose_data_go(shop: Shop) -> None:
    file = shop.home / "shop" / "service.yaml"
    text = file.read_text(encoding="utf-8")
    without = text.replace("    database: { type: my.Database, requirements: [ host: server ] }\n", "")
    file.write_text(without.replace(", dependency: database", ""))
    refused = shop.run("upgrade", "--yes", code=3)
    assert "error[data-loss]: data of database_1" in refused.err
    assert json.loads(shop.run("status", "-o", "json").out)["instances"]
    assert "data of database_1 is lost" in shop.run("plan", "undeploy").out
    asked = shop.run("undeploy", code=64)
    assert "the data of database_1 would be lost: back it up first" in asked.err
    assert "go ahead without being asked, and lose the data of database_1" in asked.err
    assert "data of database_1 is lost" in shop.run("undeploy", "--yes").err


@pytest.fixture
def unmounted(shop: Shop) -> Shop:
    """The same where the volume of the database is not mounted, which its check calls absent."""
    shop.away("database_1")
    return shop


@pytest.mark.parametrize(
    "words",
    [
        ("heal", "database_1"),
        ("heal", "web_1", "--scope", "host"),
        ("deploy",),
        ("deploy", "--check"),
        ("deploy", "--force"),
        ("upgrade", "--replace", "proxy"),
    ],
)
def test_a_database_that_is_absent_is_not_made_over_unasked(unmounted: Shop, words: tuple[str, ...]) -> None:
    shop = unmounted
    refused = shop.run(*words, "--yes", code=3)
    assert "error[data-loss]: data of database_1" in refused.err
    assert "is its volume mounted?" in refused.err
    assert not shop.data("database_1").exists()
    shop.back("database_1")
    shop.run("check")
    assert shop.statuses() == {"ok"}
    assert "Nothing to do" in shop.run("deploy", "--yes").both
    assert shop.rows("database_1") == 1


def test_undeploying_says_that_nothing_of_an_absent_database_is_run(unmounted: Shop) -> None:
    planned = unmounted.run("plan", "undeploy").out
    assert "data of database_1 may be lost, as it was found to be absent: nothing of it is run" in planned
    unmounted.run("undeploy", "--yes", "--allow-changed")
    unmounted.back("database_1")
    assert unmounted.rows("database_1") == 1


def test_what_describes_an_absent_database_says_what_is_to_be_looked_at(unmounted: Shop) -> None:
    described = unmounted.run("describe", "database_1")
    assert "not lost yet: see whether its storage is available" in described.out
    proposed = [line.removeprefix("Next:").strip().split("    ")[0].split()[1:] for line in described.err.splitlines()]
    assert [words[-2] for words in proposed] == ["check", "show"]
    assert all(ordito(unmounted.home, *words).code == 0 for words in proposed)


def test_nothing_is_proposed_that_replaces_what_keeps_data_and_is_ok(shop: Shop) -> None:
    assert "--reinstall" not in shop.run("heal", "database_1", "--yes").err
    assert "heal proxy_1 --reinstall" in shop.run("heal", "proxy_1", "--yes").err


@pytest.mark.parametrize("words", [("heal", "database_1"), ("deploy",), ("deploy", "--check")])
def test_the_command_that_is_proposed_makes_an_absent_database_again(unmounted: Shop, words: tuple[str, ...]) -> None:
    refused = unmounted.run(*words, "--yes", code=3)
    proposed = next(line for line in refused.err.splitlines() if line.startswith("Next:"))
    words = tuple(proposed.removeprefix("Next:").split("    ")[0].split()[1:])
    assert words[-2:] == ("--allow-data-loss", "database_1")
    done = ordito(unmounted.home, *words)
    assert done.code == 0, done.both
    assert "data of database_1 is lost" in done.err
    assert unmounted.statuses() == {"ok"}
    assert unmounted.rows("database_1") == 1


def test_what_was_permitted_is_permitted_when_it_is_tried_again_and_nothing_more(unmounted: Shop) -> None:
    shop = unmounted
    shop.taken("database_1").touch()
    shop.run("deploy", "--yes", "--allow-data-loss", "database", code=1)
    assert shop.rows("database_1") == 1
    shop.away("database_1")
    shop.taken("database_1").unlink()
    shop.run("jobs", "retry", "--yes")
    assert shop.statuses() == {"ok"}
    shop.taken("web_1").touch()
    shop.run("upgrade", "--replace", "web", "--yes", code=1)
    shop.taken("web_1").unlink()
    shop.away("database_1")
    refused = shop.run("jobs", "retry", "--yes", code=3)
    assert "error[data-loss]: data of database_1 (found to be absent)" in refused.err
    assert not shop.data("database_1").exists()
    done = shop.run("jobs", "retry", "--yes", "--allow-data-loss", "database_1", code=1)
    assert "FAILED web_1 stop" in done.both, "it did not run any more"
    assert shop.statuses() == {"ok"}


def test_a_healing_is_given_again_with_what_it_was_permitted(unmounted: Shop) -> None:
    shop = unmounted
    shop.taken("database_1").touch()
    shop.run("heal", "database", "--yes", "--allow-data-loss", "database", code=1)
    job = json.loads(shop.run("jobs", "list", "-o", "json").out)["jobs"][0]["id"]
    refused = shop.run("jobs", "retry", job, "--yes", code=3)
    assert "heal database_1 --allow-data-loss database" in refused.err
    shop.taken("database_1").unlink()
    shop.run("heal", "database_1", "--allow-data-loss", "database", "--yes")
    assert shop.statuses() == {"ok"}


def test_going_back_asks_about_data_as_going_forth_does(shop: Shop) -> None:
    file = shop.home / "shop" / "service.yaml"
    before = file.read_text(encoding="utf-8")
    second = "    second: { type: my.Database, requirements: [ host: server ] }\n    server:"
    file.write_text(before.replace("    server:", second))
    shop.run("upgrade", "--yes")
    refused = shop.run("rollback", "--yes", code=3)
    assert "error[data-loss]: data of second_1" in refused.err
    assert shop.rows("second_1") == 1
    shop.run("rollback", "--yes", "--allow-data-loss", "second_1")
    assert not shop.data("second_1").exists()
    shop.taken("second_1").touch()
    shop.run("upgrade", "--yes", code=1)
    assert "removed although its stop failed" in shop.run("rollback", "--yes", code=1).err
    assert not shop.data("second_1").exists(), "what was never completed goes without being asked about"


def test_rolling_back_by_itself_makes_nothing_over(shop: Shop) -> None:
    """What is found to be absent by the very job that fails."""
    file = shop.home / "shop" / "service.yaml"
    second = "    second: { type: my.Process, requirements: [ host: server ] }\n    server:"
    file.write_text(file.read_text(encoding="utf-8").replace("    server:", second))
    shop.taken("second_1").touch()
    shop.data("database_1").unlink()
    done = shop.run("upgrade", "--check", "--on-failure", "rollback", "--yes", code=8)
    assert "database_1: found to be absent" in done.both
    assert not shop.data("database_1").exists()
    assert not shop.data("second_1").exists(), "all else is taken back"


@pytest.mark.parametrize("words", [("--on-failure", "rollback"), ("--on-failure", "abort"), ()])
def test_what_was_permitted_and_did_not_begin_is_permitted_no_more(unmounted: Shop, words: tuple[str, ...]) -> None:
    """A job whose host fails before it comes to the database."""
    shop = unmounted
    file = shop.home / "shop" / "service.yaml"
    text = file.read_text(encoding="utf-8")
    first = "    first: { type: my.Process, requirements: [ host: server ] }\n    server:"
    needs = text.replace(
        "requirements: [ host: server ] }\n    web", "requirements: [ host: server, dependency: first ] }\n    web"
    )
    assert needs != text
    file.write_text(needs.replace("    server:", first))
    shop.taken("first_1").touch()
    done = shop.run("deploy", "--yes", "--allow-data-loss", "database", *words, code=8 if "rollback" in words else 1)
    assert not shop.data("database_1").exists(), done.both
    shop.taken("first_1").unlink()
    refused = shop.run("deploy", "--yes", code=3)
    assert "error[data-loss]: data of database_1 (found to be absent)" in refused.err
    assert not shop.data("database_1").exists()
    shop.back("database_1")
    shop.run("check")
    shop.run("deploy", "--yes")
    assert shop.rows("database_1") == 1
    assert shop.statuses() == {"ok"}


def test_what_is_checked_is_removed_with_its_data_only_where_that_was_said(shop: Shop) -> None:
    planned = shop.run("plan", "--check").out
    assert "? database_1  it is checked first: stopped and started, if it is not found to be ok" in planned
    assert "5 to check" in planned
    assert "Down for a while" not in planned, "all is up, and stays so unless a check finds otherwise"
    assert "data of database_1 is lost" not in planned
    before = shop.pid("database_1")
    os.kill(before, signal.SIGKILL)
    shop.taken("database_1").touch()
    words = ("--check", "--allow-data-loss", "database")
    planned = shop.run("plan", *words).out
    may_be = "data of database_1 may be lost, if it is not found to be ok before"
    assert may_be in planned
    done = shop.run("deploy", *words, "--yes", code=1)
    assert may_be in done.err
    assert "database_1  delete                 ok" in done.err
    shop.taken("database_1").unlink()
    shop.run("deploy", *words, "--yes")
    assert shop.pid("database_1") != before
    assert shop.statuses() == {"ok"}


def test_what_is_ok_keeps_its_data_whatever_may_be_lost(shop: Shop) -> None:
    before = shop.pids()
    shop.run("deploy", "--check", "--allow-data-loss", "database", "--yes")
    assert shop.pids() == before
    assert shop.rows("database_1") == 1


POLICIES = """\
  policies:
    - fewer:
        type: tosca.policies.Scaling
        targets: [ database ]
        triggers:
          quiet:
            event: quiet
            action: [ { delegate: { workflow: scale_in, inputs: { scale_compute: false } } } ]
    - mended:
        type: tosca.policies.Root
        targets: [ database, web, proxy ]
        triggers: { down: { event: down, action: [ { delegate: heal } ] } }
"""


@pytest.fixture
def watched(shop: Shop) -> Shop:
    """The same with two databases, and policies that scale in and heal."""
    file = shop.home / "shop" / "service.yaml"
    text = file.read_text(encoding="utf-8") + POLICIES
    two = "{ type: my.Database, occurrences: [ 1, 3 ], instance_count: 2, requirements"
    file.write_text(text.replace("{ type: my.Database, requirements", two))
    shop.run("upgrade", "--yes")
    return shop


def follow(shop: Shop, done: Finished, *more: str, purpose: str) -> Finished:
    """Give the command that is proposed for something."""
    line = next(line for line in done.both.splitlines() if purpose in line)
    words = shlex.split(line.removeprefix("Next:").partition("    ")[0].strip())
    return ordito(shop.home, *words[1:], *more)


def test_what_acts_unasked_removes_no_data(watched: Shop) -> None:
    shop = watched
    told = shop.run("notify", "database_1", "quiet", code=3)
    assert "data of database_2 would be lost, and nobody has permitted that; nothing was changed" in told.err
    assert shop.rows("database_2") == 1
    assert shop.statuses() == {"ok"}
    done = follow(shop, told, "--yes", purpose="do it, and lose the data of database_2")
    assert done.code == 0, done.both
    assert "data of database_2 is lost" in done.err
    assert not shop.data("database_2").exists()
    assert shop.rows("database_1") == 1


def test_what_acts_unasked_heals_nothing_in_vain(unmounted: Shop) -> None:
    """The database is absent, so that what requires it is not healed; the commands that are named lead out of it."""
    shop = unmounted
    file = shop.home / "shop" / "service.yaml"
    file.write_text(file.read_text(encoding="utf-8") + POLICIES)
    shop.back("database_1")
    shop.run("check")
    shop.run("upgrade", "--yes")
    shop.away("database_1")
    shop.kill("web_1")
    told = shop.run("notify", "web_1", "down", code=3)
    assert "web_1 cannot be healed before what it requires is ok: database_1 (absent)" in told.err
    refused = follow(shop, told, "--yes", purpose="heal what is required first, then this")
    assert (refused.code, "error[data-loss]: data of database_1" in refused.err) == (3, True)
    done = follow(shop, refused, purpose="do it, and lose the data of database_1")
    assert done.code == 0, done.both
    assert shop.statuses() == {"ok"}
    assert shop.rows("database_1") == 1
    shop.kill("web_1")
    shop.run("notify", "web_1", "down")
    assert shop.statuses() == {"ok"}


def test_a_node_whose_only_instance_is_missing_is_in_error(unmounted: Shop) -> None:
    shop = unmounted
    assert "shop  error" in shop.run("status").out
    assert json.loads(shop.run("status", "-o", "json").out)["status"] == "error"
    shop.run("status", "--detailed-exitcode", code=2)


def test_what_nothing_can_heal_is_not_said_to_be_ok(tmp_path: Path) -> None:
    service = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n"
    service += "    bare: { type: tosca.nodes.Root }\n    more: { type: tosca.nodes.Root }\n"
    (tmp_path / "service.yaml").write_text(service, encoding="utf-8")
    made = Shop(tmp_path)
    made.run("deploy", ".", "--yes")
    for words in (("bare",), ("bare", "--reinstall"), ("bare", "--scope", "host")):
        refused = made.run("heal", *words, "--yes", code=3)
        assert "error[nothing-heals]: nothing can heal or check bare_1" in refused.err
    both = made.run("heal", "bare", "more", "--yes", code=1).err
    assert "nothing can heal or check bare_1" in both
    assert "nothing can heal or check more_1" in both


def test_what_is_gone_on_purpose_is_no_cause_to_look(shop: Shop) -> None:
    """Also where its undeployment has failed, since what was to be stopped was dead."""
    for name in ("web_1", "database_1"):
        os.kill(shop.pid(name), signal.SIGKILL)
    shop.run("undeploy", "--yes", code=1)
    assert "describe" not in shop.run("status", "--all").both
