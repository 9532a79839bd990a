"""An upgrade with a real migration, a node replaced, one changed, one new and one lost: cut after any record of its
journal and resumed it ends as if nothing had been, on its way forth and on its way back, and nothing that was completed
is done once more. What the lost one kept is saved before it goes, and is there again when it is replaced."""

from __future__ import annotations

import shutil
import signal
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from tests.acceptance.busy import Tidy, comparable
from tests.acceptance.program import completed_twice, ordito, overlaps
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD
from tests.acceptance.tiers import HEAD, Tiers, Tree, Version, make_tiers, peer, step, tiers
from tests.support.thorough import THOROUGH

MODES = {"forth": 0, "back": 7, "late": 7}
"""How an upgrade ends: the last test of the second version succeeds or asks for a rollback, or what comes last of all,
when what was lost is gone."""
QUICK = [(4, "forth"), (21, "back"), (33, "forth"), (66, "late")]
CUTS = list(product(range(120), MODES)) if THOROUGH else QUICK
"""After how many records which upgrade is cut."""
KEPT = "what people wrote\n"
MIGRATION = """\
import os, sqlite3
with sqlite3.connect(os.path.join(os.environ["HOME"], "database.sqlite")) as database:
    database.execute("{statement}")
    database.execute("INSERT INTO history VALUES ('{said}')")
"""
THINGS = """\
case ${ORDITO_STEP##*.} in
    create) : >"things/$INSTANCE.created" ;;
    start) : >"things/$INSTANCE.started" ;;
    stop) rm -f "things/$INSTANCE.started" ;;
    delete) rm -f "things/$INSTANCE.created" ;;
esac
case $ORDITO_STEP in
    *web_1.Standard.create) echo nothing >kept ;;
    *web_1.Standard.delete) rm kept ;;
esac
"""
SAVES = 'cp "$HOME/{there}" "$HOME/{here}.part" && mv "$HOME/{here}.part" "$HOME/{here}"\n'
"""What saves the file that ``web`` keeps, or restores it."""


class World(Tiers, Tidy):
    """An ensemble whose operations make things, beside a database."""

    @property
    def database(self) -> Path:
        """The database that is migrated."""
        return self.home / "database.sqlite"

    @property
    def kept(self) -> str:
        """What ``web`` keeps, where there is one."""
        path = self.home / "kept"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def history(self) -> list[str]:
        """What was done to the database, in order, and whether it is of the new form."""
        with sqlite3.connect(self.database) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            return [*(said for (said,) in database.execute("SELECT said FROM history")), *sorted(tables - {"history"})]


def version(world: World, name: str, nodes: Tree, mode: str = "") -> Version:
    """A version whose steps migrate the database before all else, and test the whole in the end."""
    made = Version(world.home / name, HEAD + THINGS, nodes)
    if mode:
        migrate = {"type": MIGRATE, "targets": ["database"], "properties": {"phase": "upgrade.before"}}
        made.steps = {"migrate": migrate, "itest": step("upgrade.after", fails="rollback")}
    if name == "one":
        save = {"type": SAVE, "targets": ["web"], "properties": {"phase": "delete.before"}}
        made.steps = {"save": save, "gone": step("delete.after", "web", fails="rollback")}
    made.types = made.types.replace("node_types:\n", TYPES_OF_MIGRATION, 1)
    made.write()
    for script, statement in (("up", "CREATE TABLE two (name TEXT)"), ("down", "DROP TABLE two")):
        path = made.folder / f"blocks/{script}.py"
        path.write_text(MIGRATION.format(statement=statement, said=script), encoding="utf-8")
    for script, there, here in (("save", "kept", "saved"), ("restore", "saved", "kept")):
        path = made.folder / f"blocks/{script}.sh"
        path.write_text(SAVES.format(there=there, here=here), encoding="utf-8")
    if mode == "back":
        with (made.folder / "blocks/say.sh").open("a", encoding="utf-8") as file:
            file.write("case $ORDITO_STEP in itest) exit 5 ;; esac\n")
    return made


MIGRATE = "tiers.example/lifecycle/data@v1#Migrate"
SAVE = "tiers.example/lifecycle/data@v1#Save"
TYPES_OF_MIGRATION = """\
  "tiers.example/lifecycle/data@v1#Migrate":
    derived_from: ordito.policies.LifecycleStep
    version: 1.0.0
  "tiers.example/lifecycle/data@v1#Save":
    derived_from: ordito.policies.LifecycleStep
    version: 1.0.0
node_types:
  "tiers.example/lifecycle/data@v1#Migrate":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: blocks/up.py, undo: blocks/down.py } } }
  "tiers.example/lifecycle/data@v1#Save":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: blocks/save.sh, undo: blocks/restore.sh } } }
"""


def make_world(home: Path) -> World:
    """The first version, deployed, and both forms of the second beside it."""
    world = World(**vars(make_tiers(home)))
    (home / "things").mkdir()
    with sqlite3.connect(world.database) as database:
        database.execute("CREATE TABLE history (said TEXT)")
    store: Tree = {"requirements": [peer("database", "tiers.Link")]}
    version(world, "one", tiers(store=store))
    nodes = tiers(
        database={"properties": {"size": 2}},
        api={"properties": {"size": 2}},
        store={**store, "properties": {"zone": "b"}},
        cache={"requirements": [peer("api", "tiers.Link")]},
    )
    del nodes["web"]
    for mode in MODES:
        version(world, mode, nodes, mode)
    deployed = world.run("deploy", str(home / "one"), "--yes")
    assert deployed.code == 0, deployed.both
    (home / "kept").write_text(KEPT, encoding="utf-8")
    return world


class Calm:
    """How an upgrade ends that nothing disturbs, forth and back."""

    def __init__(self, home: Path) -> None:
        self.first = make_world(home / "first")
        self.before = self.first.applied()
        self.ends: dict[str, Any] = {}
        for mode, code in MODES.items():
            world = self.copy(home / mode)
            done = upgrade(world, mode)
            assert done.code == code, done.both
            self.ends[mode] = ending(world)
            assert_replays(world)
        assert self.ends["forth"]["history"] == ["up", "two"]
        assert self.ends["back"]["history"] == self.ends["late"]["history"] == ["up", "down"]
        assert [self.ends[mode]["kept"] for mode in MODES] == ["", KEPT, KEPT]

    def copy(self, home: Path) -> World:
        """The first version, deployed, in another directory."""
        shutil.copytree(self.first.home, home, symlinks=True)
        return World(home, home / "one" / "service.yaml")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return Calm(tmp_path_factory.mktemp("calm"))


def upgrade(world: World, mode: str, code: str = "") -> Any:
    """Upgrade to the second version."""
    if mode == "late":
        world.order("gone", "exit 5")
    return ordito(world.home, "upgrade", world.home / mode, "-e", world.ensemble, "--yes", code=code)


def ending(world: World) -> dict[str, Any]:
    """All that there is in the end, without ids and times."""
    return {**comparable(world), "history": world.history(), "kept": world.kept}


def assert_replays(world: World) -> None:
    """The records of all jobs give what is recorded."""
    rebuilt = rebuild(Layout(world.ensemble))
    assert rebuilt.problems == ()
    with read_ensemble(world.ensemble) as ensemble:
        assert ensemble.unfinished is None
        assert rebuilt.snapshot.instances == ensemble.snapshot.instances
        assert rebuilt.snapshot.links == ensemble.snapshot.links
        assert rebuilt.snapshot.attributes == ensemble.snapshot.attributes
        assert rebuilt.status == ensemble.status


@pytest.mark.parametrize(("number", "mode"), CUTS)
def test_an_upgrade_that_is_cut_ends_as_if_nothing_had_been(tmp_path: Path, calm: Calm, number: int, mode: str) -> None:
    world = calm.copy(tmp_path / "world")
    killed = upgrade(world, mode, code=KILL_AT_RECORD.format(number=number))
    if killed.code == MODES[mode]:
        pytest.skip("the job has fewer records than that")
    assert killed.code == -signal.SIGKILL, killed.both
    resumed = world.run("jobs", "resume")
    if "Nothing to resume" in resumed.both:
        resumed = upgrade(world, mode)
    assert resumed.code == MODES[mode], resumed.both
    assert "Traceback" not in resumed.both
    assert overlaps(world.log) == []
    assert completed_twice(world.log) == []
    assert ending(world) == calm.ends[mode]
    assert_replays(world)
    if mode != "forth":
        assert world.applied() == calm.before
        assert world.is_same(str(world.home / "one"))


@pytest.mark.parametrize("number", range(2, 60, 3) if THOROUGH else (14,))
def test_after_a_cut_one_can_go_back(tmp_path: Path, calm: Calm, number: int) -> None:
    """What was resumed is gone back from, and what had run runs again."""
    world = calm.copy(tmp_path / "world")
    killed = upgrade(world, "forth", code=KILL_AT_RECORD.format(number=number))
    if killed.code == 0:
        pytest.skip("the job has fewer records than that")
    assert world.run("jobs", "resume").code == 0
    back = world.run("rollback", "--yes")
    assert back.code == 0, back.both
    assert world.applied() == calm.before
    assert world.is_same(str(world.home / "one"))
    assert world.history() == ["up", "down"]
    assert world.kept == KEPT
