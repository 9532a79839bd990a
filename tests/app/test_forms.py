"""Jobs that have to do with several forms of a service: what runs by which, and what the record says of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ordito.app.job.run import ResumeRequest, resume
from ordito.app.job.running import Canceller
from ordito.app.output import OutputRequest, output
from ordito.app.requests import GivenInputs, UndeployRequest, UpgradeRequest
from ordito.app.status import StatusRequest
from ordito.app.status import status as show_status
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Instance
from ordito.testing import Agreeing
from ordito.work.options import JobOptions
from ordito.work.records import StepStartedRecord
from tests.support.by_hand import Restarting
from tests.support.deployed import NEW_NODE, Deployed
from tests.support.thorough import THOROUGH


@pytest.fixture
def deployed(tmp_path: Path) -> Deployed:
    return Deployed(tmp_path)


def check_begun(deployed: Deployed) -> None:
    """See that what was started by the new form is said to be in it, and what was not is not."""
    with read_ensemble(deployed.ensemble) as ensemble:
        assert ensemble.unfinished is not None
        started = {record.step for record in ensemble.unfinished.records if isinstance(record, StepStartedRecord)}
        steps = ensemble.unfinished.plan.steps
    new = {steps[index].instance for index in started if steps[index].effect.forms}
    assert deployed.forms == {name: "" if name in new else deployed.first for name in ("base_1", "top_1")}
    assert {line.split()[2] for line in deployed.lines if line.startswith("v2")} <= {f"{name}.start" for name in new}


def check_ended(deployed: Deployed) -> None:
    """See that each operation was carried out by its form, those in doubt twice perhaps."""
    expected = ["v1 one top_1.stop", "v2 two top_1.start", "v1 one base_1.stop", "v2 two base_1.start"]
    assert list(dict.fromkeys(deployed.lines)) == expected
    assert deployed.forms == {"base_1": "", "top_1": ""}
    assert deployed.recorded()[1].forms == {}
    deployed.check_replay()


def test_each_step_runs_by_its_own_form(deployed: Deployed) -> None:
    deployed.write("v2")
    report = deployed.run(Restarting(("top", "base"), inputs={"word": "two"}))
    assert report.status == "ok"
    assert deployed.lines == ["v1 one top_1.stop", "v2 two top_1.start", "v1 one base_1.stop", "v2 two base_1.start"]
    _, status = deployed.recorded()
    assert deployed.forms == {"base_1": "", "top_1": ""}
    assert (status.form, status.base, status.forms, status.revision) == (report.job, report.job, {}, 2)
    deployed.check_replay()


def test_what_was_not_reached_stays_in_its_form(deployed: Deployed) -> None:
    deployed.write("v2", failing="top_1.Standard.start")
    report = deployed.run(Restarting(("top", "base"), inputs={"word": "two"}))
    assert report.status == "failed"
    _, status = deployed.recorded()
    assert deployed.forms == {"base_1": deployed.first, "top_1": ""}
    assert (status.form, status.base, status.revision) == (report.job, deployed.first, 1)
    form = status.forms[deployed.first]
    assert (list(status.forms), form.inputs["word"], form.revision) == ([deployed.first], "one", 1)
    shown = {i.instance.id: i.form for i in show_status(StatusRequest(str(deployed.ensemble))).instances}
    assert shown == {"base_1": "revision 1", "top_1": ""}
    # What functions give for a node is what its instances were made with.
    assert output(OutputRequest(str(deployed.ensemble))).outputs == {"version": "v1"}
    deployed.log.write_text("")
    deployed.run(UndeployRequest())
    assert deployed.lines == ["v2 two top_1.stop", "v1 one base_1.stop"]
    assert deployed.recorded()[1].base == ""
    deployed.check_replay()


def test_what_changed_nothing_leaves_what_was_deployed(deployed: Deployed) -> None:
    """What a job was to change is as it was deployed where it ends before it has changed anything, and
    instances that it was to make are not there."""
    before = deployed.recorded()[1]
    deployed.write("v2", more=NEW_NODE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Canceller, "listening", _cancelled)
        report = deployed.run(Restarting(("top", "base"), ("more",), inputs={"word": "two"}))
    assert report.status == "cancelled"
    snapshot, status = deployed.recorded()
    assert deployed.forms == {"base_1": "", "top_1": "", "more_1": ""}
    assert not snapshot.instances["more_1"].exists
    assert (status.form, status.base, status.forms, status.service) == (before.form, before.form, {}, before.service)
    assert (status.inputs, status.revision) == (before.inputs, 1)
    deployed.check_replay()


@contextmanager
def _cancelled(canceller: Canceller, door: object) -> Iterator[None]:
    canceller.control.request_cancel()
    yield


STEP = 1 if THOROUGH else 2
"""Records by which one death is later than the one before."""


class Killed(BaseException):
    """Stands for the death of the process."""


def cuts(deployed: Deployed, act: Callable[[], object]) -> Iterator[bool]:
    """Do something to copies of what is deployed, each time killed after one record more, and give control; at last
    without being killed. Tells whether it was killed."""
    kept, commit = deployed.root.with_name(f"{deployed.root.name}-kept"), EnsembleJournal.commit
    shutil.copytree(deployed.root, kept)
    after, killed = 0, True
    while killed:
        shutil.rmtree(deployed.root)
        shutil.copytree(kept, deployed.root)
        left = after

        def dying(journal: EnsembleJournal) -> None:
            nonlocal left
            commit(journal)
            left -= 1
            if left < 0:
                raise Killed

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EnsembleJournal, "commit", dying)
            try:
                act()
                killed = False
            except Killed:
                after += STEP
        yield killed


def test_killed_after_any_record_it_goes_on_by_the_same_forms(deployed: Deployed) -> None:
    """At every moment the record says by which form an instance would be stopped, and the end is the same."""
    deployed.write("v2")
    for killed in cuts(deployed, lambda: deployed.run(Restarting(("top", "base"), inputs={"word": "two"}))):
        if killed:
            check_begun(deployed)
            assert resume(ResumeRequest(str(deployed.ensemble)), Agreeing()).report is not None
        check_ended(deployed)


@pytest.mark.parametrize("failing", ["nothing", "top_1.Standard.start"])
def test_an_upgrade_that_is_killed_ends_as_one_that_is_not(deployed: Deployed, failing: str) -> None:
    """The one that fails is rolled back, and is killed in its rollback, too."""
    deployed.write("v2", failing=failing, more=NEW_NODE if failing == "nothing" else "")
    asked, ends = UpgradeRequest(inputs=GivenInputs(texts={"word": "two"})), set()
    options = JobOptions(on_failure="rollback")
    for killed in cuts(deployed, lambda: deployed.run(asked, options)):
        if killed:
            assert resume(ResumeRequest(str(deployed.ensemble)), Agreeing()).report is not None
        snapshot, status = deployed.recorded()
        existing = (record for record in snapshot.instances.values() if record.exists)
        instances = sorted((r.id, r.state, r.local, r.form, str(digests(r))) for r in existing)
        ends.add((tuple(instances), status.service, status.revision, status.form == status.base, tuple(status.forms)))
        deployed.check_replay()
    assert len(ends) == 1
    ((ended, _, revision, is_stable, forms),) = ends
    assert (is_stable, forms) == (True, ())
    assert [(name, state, local, form) for name, state, local, form, _ in ended] == [
        (name, "started", "ok", "") for name in ("base_1", *(["more_1"] if failing == "nothing" else []), "top_1")
    ]
    assert revision == (2 if failing == "nothing" else 1)


def digests(record: Instance) -> dict[str, str]:
    """What was carried out on an instance."""
    return {key: applied.digest for key, applied in sorted(record.applied.items())}
