"""Every workflow that has a command, with and without failures: cut anywhere, it ends as if nothing had been, no
completed step runs twice, and its records give what is recorded, job by job."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Snapshot
from tests.acceptance.busy import comparable
from tests.acceptance.everything import Everything, make_everything
from tests.acceptance.program import completed_twice, overlaps
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD
from tests.support.thorough import THOROUGH, some

QUICK = (9,)
"""The records after which the journal is cut in quick tests, of every third case; in thorough ones it is cut after
each, of all cases."""


@dataclass(frozen=True)
class Case:
    """A command, what is done before, which operations fail and how they exit, and its exit code. What runs of the
    instances that are ``killed`` has ended before it, and a check has found that."""

    words: str
    before: Sequence[str] = ("deploy service",)
    fail: Sequence[str] = ()
    code: int = 0
    overriding: bool = False
    exits: int = 3
    killed: Sequence[str] = ()


CHECKS = ("db_1.Maintain.check", "db_1.Maintain.check.again")
STARTS = ("db_1.Standard.start", "db_1.Standard.start.again")
CASES: Mapping[str, Case] = {
    "heal, not needed": Case("heal db_1"),
    "heal, mended": Case("heal db_1", fail=CHECKS[:1]),
    "heal, restarted": Case("heal db_1", fail=CHECKS, exits=1),
    "heal, replaced": Case("heal db_1", fail=(*CHECKS, "db_1.Maintain.check.ready"), exits=1),
    "heal, found absent": Case("heal db_1", fail=CHECKS),
    "heal, replaced after a start that fails": Case("heal app_1", fail=("app_1.Standard.start",)),
    "heal, in vain": Case("heal app_1", fail=("app_1.Standard.start", "app_1.Standard.start.again"), code=1),
    "heal, a whole host": Case("heal db_1 --scope host", fail=CHECKS),
    "heal, not removed": Case("heal app_1 --scope host", fail=("app_1.Standard.stop", "db_1.Standard.delete"), code=1),
    "heal, not made": Case("heal app_1 --scope host", fail=("db_1.Standard.start",), code=1),
    "scale out": Case("scale web=4 --no-scale-compute"),
    "scale out, taken back": Case("scale web=4 --no-scale-compute", fail=("web_4.Standard.start",), code=1),
    "scale out, going on": Case(
        "scale web=3 --no-scale-compute --on-failure continue", fail=("web_3.Standard.start",), code=1
    ),
    "scale in": Case("scale web=1 --no-scale-compute"),
    "scale in, failing": Case("scale web=1 --no-scale-compute", fail=("web_2.Standard.delete",), code=1),
    "stop": Case("stop db"),
    "stop, failing": Case("stop db", fail=("web_2.Standard.stop",), code=1),
    "start": Case("start --all", before=("deploy service", "stop db")),
    "start, failing": Case("start --all", before=("deploy service", "stop db"), fail=("db_1.Standard.start",), code=1),
    "restart": Case("restart db"),
    "restart, failing": Case("restart db", fail=("app_1.Standard.stop", "web_1.Standard.start"), code=1),
    "run": Case("run Work.one --node db --node web -i word=given --override"),
    "run, failing": Case("run Work.one --dependency-order --type all.Node", fail=("app_1.Work.one",), code=1),
    "run of a step of the lifecycle": Case("run Standard.stop --node web"),
    "a workflow": Case("workflow run written -i word=given"),
    "a workflow, failing": Case("workflow run inner", fail=("only.web_2.Work.two",), code=1),
    "a workflow, handled": Case("workflow run written -i word=given", fail=("first.only.web_2.Work.two",), code=1),
    "notify and a trigger": Case("notify web_1 Work.told -i level=3"),
    "a trigger, failing": Case("notify web_1 Work.told -i level=3", fail=("high.high.web_2.Work.two",), code=1),
    "telling of changes": Case("run Work.one --node db -i word=other --override"),
    "deploy, overridden": Case("deploy service", before=(), overriding=True),
    "undeploy, overridden": Case("undeploy", overriding=True),
    "deploy, of what is checked": Case("deploy service --check", fail=CHECKS, exits=1),
    "deploy, repairing": Case("deploy service", killed=("db_1",)),
    "deploy, repairing in vain": Case("deploy service", killed=("db_1",), fail=STARTS, code=1),
    "deploy, repairing by making again": Case("deploy service", killed=("db_1",), fail=STARTS[:1]),
    "undeploy, failing": Case("undeploy", fail=("web_1.Standard.stop", "db_1.Standard.delete"), code=1),
}


IMPATIENT = """
import ordito.planning.widening as widening
widening.WITHIN = 1.0
"""
"""What does not get ok when it was repaired is not waited for long."""


@dataclass(frozen=True)
class Calm:
    """A project in which a command can be given, and how it ends where nothing disturbs it."""

    ready: Everything
    end: object


_begun: dict[tuple[bool, Sequence[str], Sequence[str]], Everything] = {}


@pytest.fixture
def calm(name: str, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """A case before and after; what comes before it is done once for all that have it in common."""
    case, home = CASES[name], tmp_path_factory.mktemp("calm")
    common = (case.overriding, case.before, case.killed)
    if common not in _begun:
        _begun[common] = _begin(case, tmp_path_factory.mktemp("begun") / "begun")
    return _made(case, _begun[common], home)


def _begin(case: Case, home: Path) -> Everything:
    begun = make_everything(home, overriding=case.overriding)
    for words in case.before:
        done = begun.give(*words.split())
        assert done.code == 0, done.both
    for instance in case.killed:
        (begun.home / "things" / f"{instance}.started").unlink()
    if case.killed:
        assert "ok -> error" in begun.give("check").both
    return begun


def _made(case: Case, begun: Everything, home: Path) -> Calm:
    ready = begun.copy(home / "ready")
    for step in case.fail:
        ready.order(step, f"exit {case.exits}")
    ready.log.unlink(missing_ok=True)
    ended = ready.copy(home / "ended")
    done = ended.give(*case.words.split(), code=IMPATIENT)
    assert done.code == case.code, done.both
    logged = ended.log.read_text(encoding="utf-8") if ended.log.exists() else ""
    for step in case.fail:
        assert f" {step} " in logged, f"{step} was not run: {logged}"
    assert completed_twice(ended.log) == []
    assert_replays(ended)
    return Calm(ready, comparable(ended))


def content(snapshot: Snapshot) -> tuple[object, ...]:
    """All that a snapshot holds."""
    attributes = {name: dict(values) for name, values in snapshot.attributes.items() if values}
    outputs = {name: dict(values) for name, values in snapshot.outputs.items() if values}
    return dict(snapshot.instances), dict(snapshot.links), attributes, outputs, dict(snapshot.highest)


def assert_replays(project: Everything) -> None:
    """The records of all jobs give what is recorded."""
    rebuilt = rebuild(Layout(project.ensemble))
    assert rebuilt.problems == ()
    with read_ensemble(project.ensemble) as ensemble:
        assert ensemble.unfinished is None
        assert content(rebuilt.snapshot) == content(ensemble.snapshot)
        assert rebuilt.status == ensemble.status


def cut(case: Case, calm: Calm, home: Path, number: int) -> bool:
    """Cut the command after a record, and carry on with it; whether there are so many records."""
    project = calm.ready.copy(home)
    killed = project.give(*case.words.split(), code=IMPATIENT + KILL_AT_RECORD.format(number=number))
    if killed.code == case.code:
        return False
    assert killed.code == -signal.SIGKILL, killed.both
    resumed = project.run("jobs", "resume")
    assert "Traceback" not in resumed.both
    assert resumed.code == case.code, resumed.both
    assert overlaps(project.log) == []
    assert completed_twice(project.log) == []
    assert comparable(project) == calm.end, f"cut after {number} records"
    assert_replays(project)
    return True


def numbers() -> Iterator[int]:
    """The records after which to cut."""
    yield from range(10_000) if THOROUGH else QUICK


@pytest.mark.timeout(900 if THOROUGH else 120)
@pytest.mark.parametrize("name", some(list(CASES), 3))
def test_cut_after_a_record(name: str, calm: Calm, tmp_path: Path) -> None:
    """The journal ends with any of its records, also in the middle of a turn."""
    for number in numbers():
        if not cut(CASES[name], calm, tmp_path / str(number), number):
            break
