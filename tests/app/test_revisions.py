"""Revisions are what the records of their jobs say, whoever has written these, and wherever they are."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ordito.app.job.replay import ReplayRequest, replay
from ordito.app.requests import DeployRequest, GivenInputs, RollbackRequest, UndeployRequest, UpgradeRequest
from ordito.app.revisions import list_revisions
from ordito.app.workflow_run import WorkflowRequest, run_workflow
from ordito.ensemble.layout import Layout
from ordito.ensemble.revisions import Revision, revisions
from ordito.testing import Agreeing
from tests.support.by_hand import Restarting
from tests.support.deployed import NEW_NODE, Deployed
from tests.support.yaml_files import read_yaml, write_yaml


@pytest.fixture
def deployed(tmp_path: Path) -> Deployed:
    """Two revisions: of files, and inputs, each of its own."""
    found = Deployed(tmp_path)
    found.write("v2", more=NEW_NODE)
    found.run(DeployRequest(inputs=GivenInputs(texts={"word": "two"})))
    return found


def listed(deployed: Deployed) -> list[Revision]:
    return list(revisions(Layout(deployed.ensemble)))


def test_what_a_job_has_deployed_is_in_its_record(deployed: Deployed) -> None:
    second, first = listed(deployed)
    assert [(r.number, r.workflow, r.form.inputs["word"]) for r in (second, first)] == [
        (2, "deploy", "two"),
        (1, "deploy", "one"),
    ]
    assert first.job == deployed.first
    assert {first.form.service, second.form.service} == {p.name for p in Layout(deployed.ensemble).artifacts.iterdir()}


def test_a_clone_goes_back_as_well(deployed: Deployed) -> None:
    shutil.rmtree(deployed.ensemble / ".ordito")
    assert deployed.run(RollbackRequest(1)).status == "ok"
    newest = listed(deployed)[0]
    assert (newest.number, newest.workflow, newest.form.inputs["word"]) == (3, "rollback", "one")
    deployed.check_replay()
    deployed.run(UndeployRequest())
    assert listed(deployed)[0].was_removed
    assert deployed.recorded()[1].base == ""
    assert not list_revisions(str(deployed.ensemble)).is_partial


def test_records_that_know_of_no_forms_are_read(deployed: Deployed) -> None:
    """An ensemble that an earlier version has written goes on: its revisions are what its records and those before them
    say, and it can be gone back to them."""
    expected = [(r.number, r.form.service, r.form.main, r.form.inputs, r.job) for r in listed(deployed)]
    as_before(deployed)
    deployed.check_replay()
    assert [(r.number, r.form.service, r.form.main, r.form.inputs, r.job) for r in listed(deployed)] == expected
    deployed.write("v3", failing="base_1.Standard.start")
    assert deployed.run(DeployRequest()).status == "failed"
    (_, status), second = deployed.recorded(), expected[0]
    assert (status.base, status.forms[second[-1]].service) == (second[-1], second[1])
    assert deployed.run(RollbackRequest()).status == "ok"
    _, status = deployed.recorded()
    assert (status.service, status.revision, status.forms) == (second[1], 2, {})
    assert set(deployed.forms.values()) == {""}
    deployed.check_replay()


def as_before(deployed: Deployed) -> None:
    """Let the files say what they said before the program knew of forms."""
    for path in Layout(deployed.ensemble).jobs.glob("*.yaml"):
        record: dict[str, Any] = read_yaml(path.read_text())
        for place, keys in (
            (record, ["form"]),
            (record["job"], ["revision", "base"]),
            (record["status"], ["form", "base"]),
        ):
            for key in keys:
                place.pop(key, None)
        path.write_text(write_yaml({**record, "format": "ordito.job/2"}))
    manifest = Layout(deployed.ensemble).manifest
    text = manifest.read_text().replace("ordito.status/4", "ordito.status/2")
    manifest.write_text(re.sub(r"^  (form|base): .*\n", "", text, flags=re.MULTILINE))
    shutil.rmtree(deployed.ensemble / ".ordito")


def test_what_clones_have_deployed_by_themselves_stays_in_the_form_of_each(deployed: Deployed, tmp_path: Path) -> None:
    """After their histories are joined each instance is stopped by what its clone has deployed."""
    ours, theirs = deployed.ensemble, tmp_path / "theirs"
    shutil.copytree(ours, theirs, ignore=shutil.ignore_patterns(".ordito"))
    deployed.write("v3", more=NEW_NODE)
    first = deployed.run(Restarting(("top",), inputs={"word": "three"}))
    shutil.move(ours, tmp_path / "kept")
    shutil.move(theirs, ours)
    deployed.write("v4", more=NEW_NODE)
    second = deployed.run(Restarting(("base",)))
    assert second.job > first.job
    for path in ("jobs", "artifacts"):
        shutil.copytree(tmp_path / "kept" / path, ours / path, dirs_exist_ok=True)
    joined = replay(ReplayRequest(str(ours), write=True))
    assert (joined.joined != "", joined.clashes, joined.differs) == (True, (), ())
    deployed.check_replay()
    assert deployed.forms == {"base_1": "", "more_1": "", "top_1": first.job}
    _, status = deployed.recorded()
    assert (status.form, status.base, list(status.forms)) == (second.job, second.job, [first.job])
    deployed.log.write_text("")
    deployed.run(UndeployRequest())
    lines = ["v3 three top_1.stop", "v4 two more_1.stop", "v4 two base_1.stop"]
    assert (sorted(deployed.lines[:2]), deployed.lines[2]) == (lines[:2], lines[2])


def test_an_attempt_of_which_nothing_is_left_is_completed(deployed: Deployed) -> None:
    """An upgrade failed by what it had to remove, which is gone all the same: the next command completes it."""
    deployed.write("v3", failing="more_1.Standard.stop", more=NEW_NODE)
    assert deployed.run(UpgradeRequest()).status == "ok"
    deployed.write("v4")
    assert deployed.run(UpgradeRequest()).status == "failed"
    snapshot, status = deployed.recorded()
    assert (snapshot.instances["more_1"].exists, status.revision, status.form == status.base) == (False, 3, False)
    report = deployed.run(UpgradeRequest())
    assert (report.status, report.counts.succeeded) == ("ok", 0)
    _, status = deployed.recorded()
    assert (status.revision, status.base, status.form) == (4, report.job, report.job)
    request = WorkflowRequest(str(deployed.ensemble), UpgradeRequest())
    assert run_workflow(request, Agreeing()).report is None
    deployed.check_replay()
