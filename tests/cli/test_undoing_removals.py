"""What was backed up before a component was removed is restored into the one that is made again, and stays there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:blocks ]
node_types:
  my.Store:
    derived_from: tosca.nodes.Root
    attributes: { rows: { type: string } }
    interfaces:
      Standard:
        operations:
          create: { implementation: op.sh, inputs: { op: create } }
          configure: { implementation: op.sh, inputs: { op: configure } }
          start: { implementation: op.sh, inputs: { op: start } }
          stop: { implementation: op.sh, inputs: { op: stop } }
          delete: { implementation: op.sh, inputs: { op: delete } }
topology_template:
  node_templates:
"""
OP = """\
echo "$INSTANCE.$op$(if [ $op = start ]; then cat HOME/data/$INSTANCE/rows; fi)" >>HOME/log
if [ -e HOME/fail.$INSTANCE.$op ]; then exit 1; fi
case $op in
  create) rm -rf HOME/data/$INSTANCE; mkdir -p HOME/data/$INSTANCE; echo " with nothing" >HOME/data/$INSTANCE/rows ;;
  configure) echo "as configured" >>HOME/data/$INSTANCE/conf ;;
  delete) rm -rf HOME/data/$INSTANCE ;;
esac
"""
SAVE = """\
    - save_{name}:
        type: ordito.dev/lifecycle/data@v1#BackupFiles
        targets: [ {name} ]
        properties:
          phase: {phase}
          config: {{ paths: [ HOME/data/{name}_1 ], target: HOME/backups, on_undo: {undo} }}
"""
KEPT = " with what people wrote\n"


class Stores:
    """A service of stores in two versions, the second without ``old``; each keeps its rows in a folder of its own."""

    def __init__(self, home: Path, run: Run) -> None:
        self.home = home
        self._run = run

    def write(self, name: str, *nodes: str, policies: str = "", types: str = "") -> str:
        """A version of the service: nodes, ``web<old`` requires ``old``; gives its folder."""
        folder = self.home / name
        folder.mkdir()
        text = SERVICE.replace("topology_template:", types + "topology_template:")
        for node in nodes:
            own, _, required = node.partition("<")
            needs = f", requirements: [ dependency: {required} ]" if required else ""
            text += f"    {own}: {{ type: my.Store{needs} }}\n"
        text += "  policies:\n" + policies if policies else ""
        (folder / "service.yaml").write_text(text.replace("HOME", str(self.home)))
        (folder / "op.sh").write_text(OP.replace("HOME", str(self.home)))
        return name

    def saves(self, name: str, phase: str = "delete.before", undo: str = "restore") -> str:
        """A step that backs up what a node keeps."""
        return SAVE.format(name=name, phase=phase, undo=undo)

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a command about the ensemble that is to end with this code; gives all that it printed."""
        done = self._run("-e", "e", *words)
        assert done.code == code, done.out + done.err
        return done.out + done.err

    def deployed(self, *nodes: str, policies: str) -> None:
        """The first version is deployed, and people write into all of its stores."""
        self("deploy", self.write("one", *nodes, policies=policies), "--yes", "-q")
        for node in nodes:
            (self.home / "data" / f"{node.partition('<')[0]}_1" / "rows").write_text(KEPT)
        self.log()

    def rows(self, node: str) -> str:
        """What a store keeps."""
        return (self.home / "data" / f"{node}_1" / "rows").read_text()

    def fails(self, what: str, *, still: bool = True) -> None:
        """Have an operation of an instance fail, or not any more."""
        path = self.home / f"fail.{what}"
        path.touch() if still else path.unlink()

    def log(self, of: str = "") -> list[str]:
        """What was written down since this was asked last, about the instances of one node."""
        path = self.home / "log"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in found if line.startswith(of)]


@pytest.fixture
def stores(tmp_path: Path, run: Run) -> Stores:
    return Stores(tmp_path, run)


AGAIN = ["old_1.create", "old_1.configure", "old_1.start with what people wrote"]


def test_going_back_restores_what_was_removed(stores: Stores) -> None:
    stores.deployed("old", "web<old", policies=stores.saves("old"))
    stores("upgrade", stores.write("two", "web"), "--yes", "-q")
    stores.log()
    stores("rollback", "--yes", "-q")
    # It is started with what it kept, and nothing makes it once more after that.
    assert stores.log("old") == AGAIN
    assert stores.rows("old") == KEPT
    assert (stores.home / "data/old_1/conf").read_text() == "as configured\n"
    assert "No differences" in stores("diff", "one")
    assert "exactly what ensemble.yaml says" in stores("jobs", "replay")


@pytest.mark.parametrize("how", ["a step", "the command"])
def test_a_job_that_takes_itself_back_restores_what_it_removed(stores: Stores, how: str) -> None:
    """``old`` is gone when the removal of ``older`` fails, or what comes after that."""
    fails = stores.saves("older", "delete.after").replace("phase:", "onFailure: rollback\n          phase:")
    saves = stores.saves("old") + (fails if how == "a step" else "")
    stores.deployed("older", "old<older", "web", policies=saves)
    if how == "the command":
        stores.fails("older_1.delete")
    said = stores("upgrade", stores.write("two", "web"), "--yes", "--on-failure", "rollback", code=7)
    assert stores.log("old_1") == ["old_1.stop", "old_1.delete", *AGAIN]
    assert stores.rows("old") == KEPT
    assert "created again, and " in said
    assert "data is lost, unless undoing a lifecycle step has restored it" in said
    assert "No differences" in stores("diff", "one")
    assert "exactly what ensemble.yaml says" in stores("jobs", "replay")


@pytest.mark.parametrize("then", ["rollback 1", "jobs retry"])
@pytest.mark.parametrize("fails", ["create", "configure"])
def test_nothing_is_restored_into_what_is_still_to_be_made(stores: Stores, fails: str, then: str) -> None:
    stores.deployed("old", "web", policies=stores.saves("old"))
    stores("upgrade", stores.write("two", "web"), "--yes", "-q")
    stores.fails(f"old_1.{fails}")
    stores("rollback", "--yes", "-q", code=1)
    stores.fails(f"old_1.{fails}", still=False)
    stores.log()
    stores(*then.split(), "--yes", "-q")
    assert stores.log("old")[-2:] == AGAIN[-2:]
    assert stores.rows("old") == KEPT
    assert "No differences" in stores("diff", "one")
    assert "Nothing to do" in stores("rollback", "1", "--yes")


def test_what_was_restored_stays_where_going_back_fails_later(stores: Stores) -> None:
    stores.deployed("old", "web<old", policies=stores.saves("old"))
    stores("upgrade", stores.write("two", "web"), "--yes", "-q")
    stores.fails("old_1.start")
    stores("rollback", "--yes", "-q", code=1)
    assert stores.rows("old") == KEPT
    (stores.home / "data/old_1/rows").write_text(" with what was mended")
    stores.fails("old_1.start", still=False)
    stores.log()
    stores("rollback", "1", "--yes", "-q")
    # What may be running although its start failed is stopped first, and nothing is restored once more.
    assert stores.log("old") == ["old_1.stop", "old_1.start with what was mended"]


def test_files_are_restored_before_what_is_only_stopped_starts_again(stores: Stores) -> None:
    """What an upgrade changes in place is not started with the files of the new version, and then robbed of them."""
    stores.deployed("old", policies=stores.saves("old", "upgrade.before"))
    two = stores.write("two", "old", policies=stores.saves("old", "upgrade.before"))
    with (stores.home / two / "op.sh").open("a") as file:
        file.write(f"if [ $op = configure ]; then echo ' with another form' >{stores.home}/data/$INSTANCE/rows; fi\n")
    stores("upgrade", two, "--yes", "-q")
    assert stores.rows("old") == " with another form\n"
    stores.log()
    stores("rollback", "--yes", "-q")
    assert stores.log("old")[-1] == AGAIN[-1]
    assert stores.rows("old") == KEPT


def test_what_the_revision_did_not_have_is_not_restored(stores: Stores) -> None:
    """It was made and removed since: it is not there afterwards, nor is what it kept."""
    stores("deploy", stores.write("zero", "web"), "--yes", "-q")
    stores("upgrade", stores.write("one", "web", "old", policies=stores.saves("old")), "--yes", "-q")
    stores("upgrade", stores.write("two", "web"), "--yes", "-q")
    stores("rollback", "1", "--yes", "-q")
    assert not (stores.home / "data/old_1").exists()
    assert "No differences" in stores("diff", "zero")
