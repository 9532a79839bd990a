"""The blueprint of examples/blueprint, end to end: its scripts run for real, and their log says in which order."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.program import ROOT, ordito, status_of

BLUEPRINT = ROOT / "examples" / "blueprint"


class Deployment:
    """A deployment of the blueprint below a directory."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.files = home / "files"
        self.read = 0

    def run(self, *words: str) -> list[str]:
        """Run a command to its end, which must be a good one; gives what the scripts have written into the log."""
        finished = ordito(self.home, *words, "-e", self.home / "ensemble", "--yes")
        assert finished.code == 0, finished.both
        lines = (self.files / "log").read_text().splitlines()
        new, self.read = lines[self.read :], len(lines)
        return new

    def deploy(self) -> list[str]:
        """Deploy it."""
        return self.run("deploy", str(BLUEPRINT), "-i", f"directory={self.files}")

    def lines_of(self, instance: str, file: str) -> list[str]:
        """The lines of a file of an instance."""
        return (self.files / instance / file).read_text().splitlines()


def in_order(log: list[str], *lines: str) -> None:
    """All of these lines are there once, in this order."""
    assert len(set(log)) == len(log), log
    places = [log.index(line) for line in lines]
    assert places == sorted(places), log


def test_the_blueprint_is_deployed_scaled_healed_and_removed(tmp_path: Path) -> None:
    """R-7.2-1, R-7.2.2.3-1, R-7.2.2.4-2, R-7.2-3: operations of nodes and of relationships, in the order of the
    lifecycle."""
    made = Deployment(tmp_path)
    log = made.deploy()
    in_order(
        log,
        "floating_ip_1 create",
        "webserver_host_1 establish floating_ip_1",
        "webserver_host_1 agent install",
        "webserver_host_1 agent start",
        "webserver_1 create",
        "webserver_1 configure",
        "webserver_1 start",
        "webserver_1 monitoring start",
        "war_1 create",
        "war_1 preconfigure database_1",
        "war_1 configure",
        "war_1 start",
        "war_1 establish database_1",
        "database_1 establish from war_1",
    )
    in_order(log, "database_host_1 agent install", "database_1 create", "database_1 monitoring start", "war_1 create")
    assert made.lines_of("war_1", "databases") == ["database_1"]
    assert made.lines_of("webserver_host_1", "address") == ["203.0.113.1"]
    records = status_of(tmp_path / "ensemble")["instances"].values()
    assert {record["readyState"]["state"] for record in records} == {"started"}

    log = made.run("scale", "database", "--delta", "1")
    in_order(log, "database_2 start", "war_1 establish database_2", "database_2 establish from war_1")
    assert not [line for line in log if line.startswith(("webserver", "floating", "database_1", "war_1 c"))]
    assert made.lines_of("war_1", "databases") == ["database_1", "database_2"]
    log = made.run("scale", "database", "--delta", "-1")
    in_order(log, "war_1 unlink database_2", "database_2 unlink from war_1", "database_2 stop")
    assert made.lines_of("war_1", "databases") == ["database_1"]

    log = made.run("heal", "webserver_1", "--scope", "host")
    in_order(
        log,
        "war_1 stop",
        "war_1 unlink database_1",
        "war_1 delete",
        "webserver_1 delete",
        "webserver_host_1 agent uninstall",
        "webserver_host_1 unlink floating_ip_1",
        "webserver_host_1 establish floating_ip_1",
        "webserver_host_1 agent install",
        "webserver_1 create",
        "war_1 create",
        "war_1 establish database_1",
        "database_1 establish from war_1",
    )
    assert {line.split()[0] for line in log} == {"war_1", "webserver_1", "webserver_host_1", "database_1"}
    assert made.lines_of("war_1", "databases") == ["database_1"]

    log = made.run("undeploy")
    in_order(
        log,
        "war_1 stop",
        "war_1 unlink database_1",
        "database_1 unlink from war_1",
        "war_1 delete",
        "webserver_1 monitoring stop",
        "webserver_1 stop",
        "webserver_1 delete",
        "webserver_host_1 agent stop",
        "webserver_host_1 agent uninstall",
        "webserver_host_1 unlink floating_ip_1",
        "floating_ip_1 delete",
    )
    in_order(log, "war_1 delete", "database_1 monitoring stop", "database_1 delete", "database_host_1 agent stop")
    assert [p.name for p in made.files.iterdir()] == ["log"]
