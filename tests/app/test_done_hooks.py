"""What lifecycle steps have done is known from the records, for as long as nobody has undone it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.job.report import JobReport
from ordito.app.job.run import ResumeRequest, resume
from ordito.app.requests import DeployRequest
from ordito.app.workflow_run import WorkflowRequest, run_workflow
from ordito.base.sensitive import Sensitive
from ordito.ensemble.done_hooks import attempts, done_in, done_since
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.layout import Layout
from ordito.ensemble.revisions import revisions
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.testing import Agreeing

BLOCK = "example.org/lifecycle/test@v1#Note"
SERVICE = f"""\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
data_types:
  Noted:
    properties:
      word: {{ type: string }}
      token: {{ type: string, metadata: {{ sensitive: 'true' }} }}
policy_types:
  {BLOCK}:
    derived_from: ordito.policies.LifecycleStep
    properties: {{ config: {{ type: Noted }} }}
node_types:
  {BLOCK}:
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: {{ Block: {{ operations: {{ execute: note.sh, undo: undo.sh }} }} }}
topology_template:
  node_templates:
    top:
      type: tosca.nodes.Root
      interfaces: {{ Standard: {{ operations: {{ create: create.sh }} }} }}
  policies:
    - first:
        type: {BLOCK}
        targets: [ top ]
        properties: {{ phase: install.before, config: {{ word: one, token: confidential }} }}
    - last:
        type: {BLOCK}
        properties: {{ phase: install.after, config: {{ word: two, token: confidential }} }}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "create.sh").write_text(f"echo create >>{tmp_path}/log\n")
    (tmp_path / "note.sh").write_text(
        f"echo $ORDITO_STEP >>{tmp_path}/log\n"
        f"[ ! -e {tmp_path}/failing-$ORDITO_STEP ] || exit 1\n"
        'echo "{\\"said\\": \\"$CONFIG_word\\"}" >"$ORDITO_OUTPUTS"\n'
    )
    (tmp_path / "undo.sh").write_text("")
    return tmp_path


def deploy(folder: Path) -> JobReport:
    request = WorkflowRequest(str(folder / "ensemble"), DeployRequest(str(folder / "service.yaml")))
    report = run_workflow(request, Agreeing()).report
    assert report is not None
    return report


def lines(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def test_what_was_done_in_an_attempt_is_known_and_not_done_again(folder: Path) -> None:
    (folder / "failing-last").touch()
    layout, failed = Layout(folder / "ensemble"), deploy(folder)
    assert (failed.status, lines(folder)) == ("failed", ["first", "create", "last"])
    found = attempts(layout)
    (done,) = found.done
    assert (found.since, done.job, done.hook.id, done.hook.component) == (failed.job, failed.job, "first", "top")
    assert (done.result.config["word"], done.result.outputs) == ("one", {"said": "one"})
    assert isinstance(done.result.config["token"], Sensitive)
    assert b"confidential" not in layout.job_record(failed.job).read_bytes()
    (folder / "failing-last").unlink()
    assert (deploy(folder).status, lines(folder)) == ("ok", ["first", "create", "last", "last"])
    assert attempts(layout).done == ()
    assert [done.hook.id for done in done_since(layout, "")] == ["first", "last"]
    assert [(r.number, r.workflow, r.form.revision) for r in revisions(layout)] == [(1, "deploy", 1)]


class Killed(BaseException):
    """Stands for the death of the process."""


def test_what_a_killed_job_has_done_is_known(folder: Path) -> None:
    """At every moment what was done is what the records of the job say."""
    commit = EnsembleJournal.commit

    def dying(journal: EnsembleJournal) -> None:
        commit(journal)
        if (folder / "log").exists() and "create" in lines(folder):
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EnsembleJournal, "commit", dying)
        with pytest.raises(Killed):
            deploy(folder)
    with read_ensemble(folder / "ensemble") as ensemble:
        job = ensemble.unfinished
        assert job is not None
        done = done_in(job.header.id, job.plan, job.records)
    assert [(d.hook.id, d.result.outputs) for d in done] == [("first", {"said": "one"})]
    report = resume(ResumeRequest(str(folder / "ensemble")), Agreeing()).report
    assert report is not None
    layout = Layout(folder / "ensemble")
    assert [d.hook.id for d in done_since(layout, "")] == ["first", "last"]
    assert done_since(layout, report.job) == ()
    with open_ensemble(folder / "ensemble", command="test") as ensemble:
        assert (ensemble.status.base, ensemble.status.revision) == (report.job, 1)
