"""Rebuilding from the records: what is missing is named, what was changed is shown, and clones are joined."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from ordito.app.errors import Refused
from ordito.app.job.replay import ReplayRequest, ReplayResult, replay
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.testing import FakeClock
from ordito.work.plan import InstanceCounts, Plan, PlannedRecords
from tests.engine.fakes import FakeExecutor, World, make_plan
from tests.ensemble.jobs import NOW, deploy

FIRST = make_plan(4, [(0, 1)], no_ops=[3])


def renamed(plan: Plan, name: str) -> Plan:
    """The same plan for the instances of another node."""
    new = {i.id: i.id.replace("node", name) for i in plan.records.new}
    return msgspec.structs.replace(
        plan,
        steps=tuple(msgspec.structs.replace(s, instance=new.get(s.instance, "")) for s in plan.steps),
        records=PlannedRecords(
            new=tuple(msgspec.structs.replace(i, id=new[i.id], node=name) for i in plan.records.new)
        ),
        counts=InstanceCounts({name: len(plan.records.new)}),
    )


def look(root: Path, until: str = "", *, first: int | None = None, write: bool = False) -> ReplayResult:
    return replay(ReplayRequest(str(root), until, first, write), FakeClock())


def jobs_of(root: Path) -> list[str]:
    return Layout(root).job_ids()


def three_jobs(root: Path) -> list[str]:
    deploy(root, FIRST)
    deploy(root, renamed(make_plan(3), "web"), FakeExecutor(World(renamed(make_plan(3), "web")), ["s1"]))
    deploy(root, FIRST)
    return jobs_of(root)


def test_the_records_prove_what_the_file_says(tmp_path: Path) -> None:
    three_jobs(tmp_path)
    result = look(tmp_path)
    assert result.agrees
    assert (result.jobs, result.differs, result.problems) == (3, (), ())


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("with_lines", [True, False])
def test_a_record_that_was_removed_is_named(tmp_path: Path, number: int, with_lines: bool) -> None:
    jobs = three_jobs(tmp_path)
    Layout(tmp_path).job_record(jobs[number]).unlink()
    if not with_lines:
        (tmp_path / "jobs.tsv").unlink()
    result = look(tmp_path)
    assert {(p.code, p.change) for p in result.problems} == {("missing", jobs[number])}
    assert not result.agrees


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("port: s0", "port: s9", "status.instances.node_1.attributes.port"),
        ("local: ok", "local: unknown", "status.instances.node_1.readyState.local"),
        ("digest: d\n", "digest: e\n", "status.instances.node_1.applied.Standard.s0.digest"),
        ("revision: 2", "revision: 7", "status.revision"),
        ("port: 80", "port: 81", "status.inputs.port"),
        ("node: 4", "node: 5", "status.counts.node"),
    ],
)
def test_a_value_changed_by_hand_is_shown(tmp_path: Path, old: str, new: str, path: str) -> None:
    three_jobs(tmp_path)
    file = tmp_path / "ensemble.yaml"
    text = file.read_text()
    at = text.index(old, text.index("node_1:") if "instances" in path else 0)
    file.write_text(text[:at] + new + text[at + len(old) :])
    result = look(tmp_path)
    assert [d.path for d in result.differs] == [path]
    assert result.differs[0].recorded != result.differs[0].found
    assert look(tmp_path, write=True).written
    assert look(tmp_path).agrees
    assert file.read_text() == text


def test_any_moment_can_be_looked_at(tmp_path: Path) -> None:
    jobs = three_jobs(tmp_path)
    state = look(tmp_path, f"{jobs[0][:-1]}2").state
    assert state is not None
    assert [name for name, row in state.instances.items() if row.ready_state.state == "created"] == [
        "node_1",
        "node_3",
        "node_4",
    ]
    state = look(tmp_path, jobs[0]).state
    assert state is not None
    assert set(state.instances) == {"node_1", "node_2", "node_3", "node_4"}
    assert state.revision == 1
    state = look(tmp_path, first=0).state
    assert state is not None
    assert state.records == 0
    for unknown in ("A6BKKQCN0000", "A0", "nonsense"):
        with pytest.raises(Refused):
            look(tmp_path, unknown)


def test_a_record_that_was_shortened_is_damaged(tmp_path: Path) -> None:
    jobs = three_jobs(tmp_path)
    path = Layout(tmp_path).job_record(jobs[1])
    text = path.read_text()
    path.write_text(text[: text.rindex("  - changeId:")])
    assert [(p.code, p.change) for p in look(tmp_path).problems] == [("damaged", jobs[1])]


def test_the_lines_of_jobs_are_written_anew(tmp_path: Path) -> None:
    three_jobs(tmp_path)
    file = tmp_path / "jobs.tsv"
    lines = file.read_bytes()
    file.write_bytes(b"<<<<<<< ours\n" + lines[:200])
    assert look(tmp_path, write=True).agrees
    assert file.read_bytes() == lines
    file.unlink()
    assert look(tmp_path, write=True).agrees
    assert file.read_bytes() == lines


# ------------------------------------------------------------------------------------------------------- two clones


def two_clones(tmp_path: Path, ours: Plan, theirs: Plan) -> tuple[Path, Path]:
    """Two clones of one ensemble that have each run a job."""
    one, other = tmp_path / "one", tmp_path / "other"
    deploy(one, FIRST)
    shutil.copytree(one, other, ignore=shutil.ignore_patterns(".ordito"))
    deploy(one, ours)
    deploy(other, theirs, now=NOW + 60)
    return one, other


def merge(one: Path, other: Path) -> None:
    """What git does: files that only one side has are taken over, lines joined, and of the rest both sides kept."""
    for path in (other / "jobs").iterdir():
        if not (one / "jobs" / path.name).exists():
            shutil.copy(path, one / "jobs" / path.name)
    lines = dict.fromkeys(
        [*(one / "jobs.tsv").read_text().splitlines(), *(other / "jobs.tsv").read_text().splitlines()]
    )
    (one / "jobs.tsv").write_text("".join(f"{line}\n" for line in lines))
    ours, theirs = (one / "ensemble.yaml").read_text(), (other / "ensemble.yaml").read_text()
    head, mark, rest = ours.partition("status:\n")
    both = f"<<<<<<< ours\n{rest}=======\n{theirs.partition(mark)[2]}>>>>>>> theirs\n"
    (one / "ensemble.yaml").write_text(f"spec: {{service: mine}}\n{head}{mark}{both}")


def test_what_two_clones_did_is_joined(tmp_path: Path) -> None:
    one, other = two_clones(tmp_path, renamed(make_plan(2), "web"), renamed(make_plan(3), "db"))
    merge(one, other)
    with pytest.raises(EnsembleError):
        open_ensemble(one, command="deploy")
    before = look(one)
    first, ours, theirs = jobs_of(one)
    assert [(fork.after, fork.jobs) for fork in before.forks] == [(first, (ours, theirs))]
    assert before.clashes == ()
    assert before.unreadable
    result = look(one, write=True)
    assert result.agrees
    assert result.joined > theirs
    with read_ensemble(one) as ensemble:
        names = {"node": 4, "web": 2, "db": 3}
        assert set(ensemble.snapshot.instances) == {f"{n}_{i}" for n, c in names.items() for i in range(1, c + 1)}
        assert all(i.local == "ok" for i in ensemble.snapshot.instances.values())
        assert ensemble.status.last_job is not None
        assert ensemble.status.last_job.id == result.joined
    assert (one / "ensemble.yaml").read_text().startswith("spec: {service: mine}\n# ====")
    deploy(one, FIRST)
    after = look(one)
    assert after.agrees
    assert after.forks == ()
    assert jobs_of(one)[-1] > result.joined


def test_what_both_clones_changed_is_unknown(tmp_path: Path) -> None:
    """Nobody knows how an instance is that two clones have worked on: neither side wins."""
    one, other = two_clones(tmp_path, make_plan(1), FIRST)
    merge(one, other)
    _, ours, theirs = jobs_of(one)
    assert [(clash.target, clash.jobs) for clash in look(one).clashes] == [("node_1", (ours, theirs))]
    assert look(one, write=True).agrees
    with read_ensemble(one) as ensemble:
        local = {name: instance.local for name, instance in ensemble.snapshot.instances.items()}
    assert local == {"node_1": "unknown", "node_2": "ok", "node_3": "ok", "node_4": "ok"}
    assert look(one).clashes == ()


def test_one_id_of_two_jobs_is_never_merged(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    deploy(one, FIRST)
    shutil.copytree(one, other, ignore=shutil.ignore_patterns(".ordito"))
    deploy(one, renamed(make_plan(2), "web"))
    deploy(other, renamed(make_plan(2), "db"))
    assert jobs_of(one) == jobs_of(other)
    job = jobs_of(one)[1]
    merge(one, other)
    ours, theirs = (Layout(root).job_record(job).read_text() for root in (one, other))
    Layout(one).job_record(job).write_text(f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    for write in (False, True):
        result = look(one, write=write)
        assert [(p.code, p.change) for p in result.problems] == [("colliding", job)]
        assert not result.written
    Layout(one).job_record(job).write_text(ours)
    assert {p.code for p in look(one).problems} == {"colliding"}


def test_conflicts_in_the_users_part_are_left_to_the_user(tmp_path: Path) -> None:
    three_jobs(tmp_path)
    file = tmp_path / "ensemble.yaml"
    text = "<<<<<<< ours\nspec: 1\n=======\nspec: 2\n>>>>>>> theirs\n" + file.read_text()
    file.write_text(text)
    with pytest.raises(EnsembleError, match="part that is yours"):
        look(tmp_path, write=True)
    assert file.read_text() == text


def test_nothing_that_was_never_deployed(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        look(tmp_path)
