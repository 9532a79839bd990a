"""What an operation did that a lifecycle step has run is undone by the revision that ran it: the one to which a
rollback leads need not have the operation, and where it does, its own is another one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Run, start, until

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:blocks ]
interface_types:
  my.Spool: { derived_from: tosca.interfaces.Root, operations: { forth: {}, back: {}, test: {} } }
node_types:
  my.Store:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer } }
    interfaces:
      Standard: { inputs: { size: { get_property: [ SELF, size ] } }, operations: { configure: say.sh } }
SPOOL
topology_template:
  node_templates:
    store: { type: my.Store, properties: { size: VERSION } }
"""
SPOOL = """\
      Spool:
        type: my.Spool
        inputs: { size: { get_property: [ SELF, size ] } }
        operations: { forth: forth.sh, back: back.sh, test: test.sh }
"""
RUN = """\
    - {name}:
        type: ordito.dev/lifecycle/run@v1#Operation
        targets: [ store ]
        properties: {{ phase: {phase}, onFailure: rollback, config: {{ {config} }} }}
"""
MOVE = "component: store, operation: Spool.forth, undo_operation: Spool.back"
TEST = "component: store, operation: Spool.test"
SAY = """\
echo "{what} {version} size=$size" >>{log}
if [ -e {log}.hold.{what} ]; then exec 9<>{log}.hold.{what}; : >{log}.held; read line <&9; fi
if [ {what} = test -o -e {log}.fail.{what} -o -e {log}.fail.{what}.$INSTANCE ]; then exit 1; fi
"""


class Spool:
    """A store in several versions, and what its operations have written down."""

    def __init__(self, home: Path, run: Run) -> None:
        self.log = home / "log"
        self._home = home
        self._run = run

    def write(
        self,
        version: int,
        steps: Mapping[str, str] | None = None,
        has: bool = True,
        *,
        node: str = "store",
        many: int = 1,
    ) -> str:
        """A version of the service, which ``has`` the interface or not, with steps that run its operations, each with
        its phase."""
        folder = self._home / f"v{version}"
        folder.mkdir()
        text = SERVICE.replace("SPOOL\n", SPOOL if has else "").replace("VERSION", str(version))
        counted = f"{node}: {{ instance_count: {many}, occurrences: [ 0, 9 ], "
        text = text.replace("store: { ", counted if many > 1 else f"{node}: {{ ")
        text += "  policies:\n" if steps else ""
        for name, phase in (steps or {}).items():
            text += RUN.format(name=name, phase=phase, config=TEST if name == "test" else MOVE)
        (folder / "service.yaml").write_text(text)
        for what in ("say", "forth", "back", "test"):
            (folder / f"{what}.sh").write_text(SAY.format(what=what, version=version, log=self.log))
        return folder.name

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a command about the ensemble that is to end with this code; gives all that it printed."""
        done = self._run("-e", "e", *words)
        assert done.code == code, done.out + done.err
        return done.out + done.err

    def data(self, *words: str) -> Any:
        """What a command gives as JSON."""
        return self._run("-e", "e", *words, "-o", "json").json

    def lose(self, version: int) -> str:
        """The files of a version are gone, also where they were taken from; gives the name of their folder."""
        shutil.rmtree(self._home / f"v{version}")
        (pin,) = (p.parent for p in Path("e/artifacts").glob("*/back.sh") if f"back {version}" in p.read_text())
        shutil.rmtree(pin)
        return pin.name

    @property
    def done(self) -> list[str]:
        """What was written down since this was asked last."""
        found = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found


@pytest.fixture
def spool(tmp_path: Path, run: Run) -> Spool:
    return Spool(tmp_path, run)


def upgraded(spool: Spool, phase: str, *, had: bool = False) -> None:
    """From a version that ``had`` the interface or not to one whose step runs an operation of it in a phase."""
    spool("deploy", spool.write(1, has=had), "--yes", "-q")
    spool("upgrade", spool.write(2, {"move": phase}), "--yes", "-q")
    forth = ["say 1 size=1", "say 2 size=2"]
    forth.insert(1 if phase == "upgrade.before" else 2, "forth 2 size=2")
    assert spool.done == forth


@pytest.mark.parametrize("had", [False, True])
@pytest.mark.parametrize(
    ("phase", "back"),
    [
        ("upgrade.before", ["say 1 size=1", "back 2 size=2"]),
        ("upgrade.after", ["back 2 size=2", "say 1 size=1"]),
    ],
)
def test_a_rollback_undoes_it_by_the_revision_that_ran_it(spool: Spool, phase: str, back: list[str], had: bool) -> None:
    upgraded(spool, phase, had=had)
    assert f"store_1 Spool.back (move, {phase})" in spool("plan", "rollback")
    said = spool("rollback", "--strict", "--yes").splitlines()
    assert spool.done == back
    # Whether anything was changed is said of the operation, above what stands for it.
    (operation,) = [number for number, line in enumerate(said) if "Spool.back" in line and " ok " in line]
    (undo,) = [number for number, line in enumerate(said) if f"undo move ({phase})" in line]
    assert operation < undo
    assert said[undo].endswith(" ok")
    assert "exactly what ensemble.yaml says" in spool("jobs", "replay")


@pytest.mark.parametrize(
    ("phase", "done"),
    [
        ("upgrade.before", ["forth 2", "say 2", "test 2", "say 1", "back 2"]),
        ("upgrade.after", ["say 2", "forth 2", "test 2", "back 2", "say 1"]),
    ],
)
def test_a_job_that_takes_itself_back_undoes_it_by_its_own_revision(spool: Spool, phase: str, done: list[str]) -> None:
    spool("deploy", spool.write(1, has=False), "--yes", "-q")
    assert spool.done
    said = spool("upgrade", spool.write(2, {"move": phase, "test": "upgrade.after"}), "--yes", code=7)
    assert "Everything that it did was rolled back." in said
    assert [line.partition(" size")[0] for line in spool.done] == done


def attempts(spool: Spool) -> None:
    """A version, an attempt at another one, and one that is to fail and take both back."""
    spool("deploy", spool.write(1, has=False), "--yes", "-q")
    spool.write(2, {"move": "upgrade.before", "test": "upgrade.after"})
    first = Path("v2/service.yaml")
    first.write_text(first.read_text().replace("onFailure: rollback", "onFailure: abort"))
    spool("upgrade", "v2", "--yes", "-q", code=1)
    assert spool.done[-1] == "test 2 size=2"
    spool.write(3, {"again": "upgrade.before", "test": "upgrade.after"})


def test_an_earlier_attempt_is_undone_by_its_own_revision(spool: Spool) -> None:
    attempts(spool)
    spool("upgrade", "v3", "--yes", code=7)
    assert spool.done[-3:] == ["say 1 size=1", "back 3 size=3", "back 2 size=2"]


def test_what_nobody_can_undo_any_more_is_said(spool: Spool) -> None:
    """The files of an earlier attempt are gone."""
    attempts(spool)
    spool.lose(2)
    said = spool("upgrade", "v3", "--yes", code=8)
    assert 'lifecycle step "move" cannot be undone: Spool.back of the service that job' in said
    assert spool.done[-2:] == ["say 1 size=1", "back 3 size=3"]


def test_each_revision_undoes_its_own(spool: Spool) -> None:
    """Also those to which no instance belongs any more, of which only the records know."""
    spool("deploy", spool.write(1, has=False), "--yes", "-q")
    for version in (2, 3, 4):
        spool("upgrade", spool.write(version, {"move": "upgrade.before"}), "--yes", "-q")
    assert spool.done
    steps = [step["id"] for step in spool.data("plan", "rollback", "1")["steps"]]
    assert len(set(steps)) == len(steps)
    spool("rollback", "1", "--yes")
    assert spool.done == ["say 1 size=1", "back 4 size=4", "back 3 size=3", "back 2 size=2"]


def test_a_rollback_that_was_killed_goes_on_undoing(spool: Spool) -> None:
    upgraded(spool, "upgrade.before")
    hold = Path(f"{spool.log}.hold.back")
    os.mkfifo(hold)
    job = start(Path.cwd(), "-e", "e", "rollback", "--yes")
    until(Path(f"{spool.log}.held").exists)
    job.kill()
    job.communicate()
    assert spool.done == ["say 1 size=1", "back 2 size=2"]
    with hold.open("w") as let:
        let.write("go\n")
    hold.unlink()
    spool("jobs", "resume")
    assert spool.done in ([], ["back 2 size=2"])
    assert "  ok  (1 instance, revision 3)\n" in spool("status")


def test_what_undoes_is_known_to_be_there_before_anything_begins(spool: Spool) -> None:
    upgraded(spool, "upgrade.before")
    lost = spool.lose(2)
    assert f"artifacts/{lost[:12]}..." in spool("rollback", "--yes", code=3)
    assert spool.done == []


def test_a_rollback_that_failed_is_tried_again_with_what_undoes(spool: Spool) -> None:
    upgraded(spool, "upgrade.before")
    fails = Path(f"{spool.log}.fail.back")
    fails.touch()
    assert "undo" in spool("rollback", "--yes", code=1)
    assert spool.done == ["say 1 size=1", "back 2 size=2"]
    fails.unlink()
    spool("jobs", "retry", "--yes")
    assert spool.done == ["back 2 size=2"]
    assert "  ok  (1 instance, revision 3)\n" in spool("status")


def test_what_an_operation_did_is_lacking_once_it_was_undone(spool: Spool) -> None:
    upgraded(spool, "upgrade.before")
    spool("rollback", "--yes")
    assert 'lifecycle step "move" of revision 2 was undone since' in spool("rollback", "2", "--yes", code=3)


def test_what_was_run_before_a_removal_is_undone_on_what_is_made_again(spool: Spool) -> None:
    spool("deploy", spool.write(1, {"move": "delete.before"}, many=2), "--yes", "-q")
    spool("upgrade", spool.write(2, node="other"), "--yes", "-q")
    assert spool.done[-2:] == ["forth 1 size=1"] * 2
    spool("rollback", "--yes", "-q")
    assert spool.done == [*["say 1 size=1"] * 2, *["back 1 size=1"] * 2]


def test_what_is_undone_on_one_instance_only_is_not_undone(spool: Spool) -> None:
    """The one on which it fails is not the last on which it is tried."""
    spool("deploy", spool.write(1, {"move": "delete.before"}, many=2), "--yes", "-q")
    spool("upgrade", spool.write(2, node="other"), "--yes", "-q")
    failing = Path(f"{spool.log}.fail.back.store_2")
    failing.touch()
    spool("rollback", "--yes", "-q", code=1)
    assert spool.done[-2:] == ["back 1 size=1"] * 2
    failing.unlink()
    spool("jobs", "retry", "--yes", "-q")
    assert spool.done == ["back 1 size=1"] * 2
    assert "Nothing to do" in spool("rollback", "1", "--yes")
