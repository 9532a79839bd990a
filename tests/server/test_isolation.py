"""Projects that see nothing of each other: what operations and looks can reach with `isolation: bubblewrap`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.server.processes.sandbox import Visible, refuse_without_sandbox, words
from ordito.server.refused import ServerRefused
from tests.cli.program import until
from tests.server.conftest import SERVICE, deployed
from tests.server.test_starting import refused
from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.real.needs import lacking, need
from tests.support.serving import MANY_REQUESTS, Client, Served, children_of, is_gone
from tests.support.yaml_files import read_yaml

SETTINGS = f"isolation: bubblewrap\n{MANY_REQUESTS}"

SPY = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Spy:
    derived_from: tosca.nodes.Root
    attributes: { seen: { type: string } }
    interfaces:
      Standard:
        operations:
          create: { implementation: look.sh }
          start: { implementation: look.sh, outputs: { SEEN: [ SELF, seen ] } }
topology_template:
  node_templates: { spy: { type: Spy } }
"""
LOOK = """\
#!/usr/bin/env bash
seen=
for path in {paths}; do [ -e "$path" ] && seen="$seen $path"; done
for id in /proc/[0-9]*; do
  tr '\\0' ' ' < $id/cmdline | grep -q 'ordito.server {home}' && seen="$seen server"
done
{{ : > {other}/written; }} 2> /dev/null
if tr '\\0' ' ' < /proc/1/cmdline | grep -q fork_server; then
  [ "$(readlink /proc/1/fd/1)" = /dev/null ] || seen="$seen output"
  echo "Ordito serves FORGED" >> /proc/1/fd/2
fi
{{ : > /etc/written-by-spy; }} 2> /dev/null && rm /etc/written-by-spy && seen="$seen etc"
while [ -e {mine}/hold ]; do : > {mine}/held; read -t 0.1 <> <(:); done
printf '{{"SEEN": "saw:%s"}}' "$seen" > "$ORDITO_OUTPUTS"
"""


@pytest.fixture(scope="module", autouse=True)
def bubblewrap() -> None:
    """Skip where it cannot be used, and say why."""
    need("bubblewrap", "bwrap")
    try:
        refuse_without_sandbox(Path("/nowhere"))
    except ServerRefused as refusal:
        lacking("bubblewrap", refusal.message)


class Two:
    """A server with two projects that have an ensemble each, in which one spies at the other."""

    def __init__(self, place: Path, server: Served, client: Client) -> None:
        self.home, self.server, self.client = place / "home", server, client
        self.mine, self.other = place / "mine" / "spying", place / "other" / "shop"
        self.secret = place / "other" / "shop" / ".ordito" / "key"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    place = tmp_path_factory.mktemp("isolated")
    deployed(place / "other")
    mine = place / "mine"
    mine.mkdir()
    (mine / "service.yaml").write_text(SPY)
    with Served(place / "home", settings=SETTINGS, apart=True) as server:
        two = Two(place, server, server.admin())
        paths = (
            two.home / "server.db",
            two.home / "key",
            two.home / "lock",
            two.other,
            two.secret,
        )
        look = LOOK.format(paths=" ".join(map(str, paths)), home=two.home, other=two.other, mine=two.mine)
        (mine / "look.sh").write_text(look)
        (mine / "look.sh").chmod(0o755)
        for project, directory in (("mine", two.mine), ("other", two.other)):
            two.client.do("POST", "projects", {"name": project})
            if project == "mine":
                (directory / "artifacts").mkdir(parents=True)
                made = subprocess.run(
                    [sys.executable, "-m", "ordito", "-e", directory, "-q", "deploy", mine / "service.yaml", "--yes"],
                    check=False,
                )
                assert made.returncode == 0
            body = {"name": directory.name, "path": str(directory)}
            two.client.do("POST", f"projects/{project}/ensembles", body)
        yield two
        two.server.__exit__()


def seen(directory: Path) -> str:
    """What the spy has seen."""
    status = read_yaml((directory / "ensemble.yaml").read_text())["status"]
    found: Any = status["instances"]["spy_1"]["attributes"]["seen"]
    return str(found)


def test_the_spy_sees_all_where_nothing_is_isolated(two: Two) -> None:
    """What the other tests show to be invisible is visible to an operation of a command beside the server."""
    found = seen(two.mine)
    for path in (two.home / "key", two.home / "server.db", two.secret):
        assert str(path) in found


def test_an_operation_sees_nothing_of_others(two: Two) -> None:
    """Not their ensembles, not the database and the key of the server, not its process; and it cannot write there."""
    (two.other / "written").unlink(missing_ok=True)
    made = two.client.do("POST", "projects/mine/ensembles/spying/plans", RESTART)
    until(lambda: plan(two, made["id"])["state"] not in ("planning", "queued", "starting", "running"))
    found = plan(two, made["id"])
    assert (found["state"], found["job_status"]) == ("applied", "ok"), found
    assert seen(two.mine) == "saw:"
    assert not (two.other / "written").exists()
    until(lambda: "FORGED" in two.server.log.read_text())
    said = [line for line in two.server.log.read_text().splitlines() if "FORGED" in line]
    assert set(said) == {"a process: Ordito serves FORGED"}


RESTART = {"request": {"workflow": "restart", "all": True}, "apply": "auto"}


def plan(two: Two, name: str) -> Any:
    """A plan of the spy."""
    return two.client.get(f"projects/mine/ensembles/spying/plans/{name}")


def test_looks_work_inside_each_in_a_process_of_its_project(two: Two) -> None:
    for project, name in (("mine", "spying"), ("other", "shop")):
        assert two.client.get(f"projects/{project}/ensembles/{name}/revisions")["revisions"]
    assert len(children_of(two.server.process.pid)) >= 2
    assert two.client.get("/api/v1")["isolation"] == "bubblewrap"


def test_a_fork_server_that_was_killed_ends_with_all_in_it(two: Two) -> None:
    """The next look starts another one."""
    assert two.client.get("projects/other/ensembles/shop/status")["instances"]
    before = children_of(two.server.process.pid)
    for process in before:
        for inner in children_of(process):
            os.kill(inner, signal.SIGKILL)
    until(lambda: all(map(is_gone, before)))
    assert two.client.get("projects/other/ensembles/shop/jobs")["jobs"]
    assert not set(children_of(two.server.process.pid)) & set(before)


def test_a_new_ensemble_of_a_project_is_seen_at_once(two: Two) -> None:
    shutil.copytree(two.other, two.other.with_name("second"))
    body = {"name": "second", "path": str(two.other.with_name("second"))}
    two.client.do("POST", "projects/other/ensembles", body)
    assert two.client.get("projects/other/ensembles/second/status")["instances"]
    assert two.client.get("projects/other/ensembles/shop/status")["instances"]


def test_an_archive_that_is_sent_again_stays_the_one_that_sandboxes_have(two: Two) -> None:
    """Whichever project sends it: a sandbox that runs would look for the file that it was given."""
    archive = packed({META_PLACE: META, "service.yaml": SERVICE, "say.sh": "echo hello\n"})
    first = send_package(two.client, "mine", archive)
    assert first.status == 201
    package = first.data["digest"]
    two.client.do("POST", "projects/mine/ensembles", {"name": "packed", "package": package})

    wanted = {"request": {"workflow": "deploy"}}
    plans = "projects/mine/ensembles/packed/plans"
    for _ in range(2):
        made = two.client.do("POST", plans, wanted)["id"]
        until(lambda: two.client.get(f"{plans}/{made}")["state"] != "planning")  # noqa: B023
        assert two.client.get(f"{plans}/{made}")["state"] == "ready", two.client.get(f"{plans}/{made}")
        assert send_package(two.client, "other", archive).status in (200, 201)


def test_a_job_goes_on_inside_while_the_server_is_gone(two: Two) -> None:
    (two.mine / "hold").touch()
    made = two.client.do("POST", "projects/mine/ensembles/spying/plans", RESTART)
    until((two.mine / "held").exists)
    two.server.stop(signal.SIGKILL)
    (two.mine / "hold").unlink()
    two.server = Served(two.home, settings=SETTINGS, apart=True)
    two.client = Client(two.server.url, two.client.token)
    until(lambda: plan(two, made["id"])["state"] == "applied")
    assert plan(two, made["id"])["job_status"] == "ok"
    assert seen(two.mine) == "saw:"


def test_the_home_is_hidden_even_where_an_ensemble_holds_it(tmp_path: Path) -> None:
    """As with `ordito serve` in an ensemble's directory."""
    home = tmp_path / "shop" / ".ordito" / "server"
    home.mkdir(parents=True)
    (home / "key").write_text("secret")
    other = tmp_path / "shop" / "within"
    other.mkdir()
    (other / "file").write_text("of another project")
    visible = Visible("mine", writable=(str(tmp_path / "shop"),), hidden=(str(other),))
    command = [*words(visible, home), "/bin/sh", "-c", f"ls -A {home} {other}; ls {tmp_path}; : > {tmp_path}/shop/mine"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "key" not in done.stdout
    assert "file" not in done.stdout
    assert done.stdout.split()[-1] == "shop"
    assert (tmp_path / "shop" / "mine").exists()


def test_without_bubblewrap_the_server_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.yaml").write_text("isolation: bubblewrap\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    assert "there is no program bwrap" in refused(tmp_path, "--listen", "127.0.0.1:0")
    (empty / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    (empty / "bwrap").chmod(0o755)
    said = refused(tmp_path, "--listen", "127.0.0.1:0")
    assert "No permissions to create new namespace" in said
    assert "isolation: none" in said
