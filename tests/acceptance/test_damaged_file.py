"""One damaged byte in `ensemble.yaml` while a job waits: it is found before anything more runs."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.program import ordito
from tests.support.thorough import THOROUGH

STEP = 1 if THOROUGH else 8
"""Which lines are damaged: each, or each eighth."""

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app: { type: tosca.nodes.Root, interfaces: { Standard: { operations: { create: create.sh, start: start.sh } } } }
"""


def _interrupted(tmp_path: Path) -> Path:
    """An ensemble in which a job waits; gives its file."""
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "create.sh").write_text('[ ! -e "$HOME/kill" ] || { rm "$HOME/kill"; kill -9 "$PPID"; }\n')
    (tmp_path / "start.sh").write_text('echo started >>"$HOME/log"\n')
    assert ordito(tmp_path, "-e", "live", "deploy", "service.yaml", "--yes").code == 0
    (tmp_path / "kill").touch()
    assert ordito(tmp_path, "-e", "live", "deploy", "--force", "--yes").code != 0
    return tmp_path / "live/ensemble.yaml"


def test_resume_looks_before_it_runs(tmp_path: Path) -> None:
    manifest = _interrupted(tmp_path)
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b"# ==== What follows", b"# =!== What follows"))
    refused = ordito(tmp_path, "-e", "live", "jobs", "resume")
    assert refused.code == 3, refused.both
    assert "marker line" in refused.both
    assert "marker line" in ordito(tmp_path, "-e", "live", "doctor").both
    assert (tmp_path / "log").read_text() == "started\n"
    # Without a backup: the journal knows what exists, so what is below the user's part may go.
    manifest.write_bytes(whole[: whole.index(b"# ==== What follows")])
    done = ordito(tmp_path, "-e", "live", "jobs", "resume")
    assert done.code == 0, done.both
    assert ordito(tmp_path, "-e", "live", "status").code == 0


def test_status_and_doctor_say_it_of_every_line(tmp_path: Path) -> None:
    manifest = _interrupted(tmp_path)
    whole = manifest.read_bytes()
    assert "warning" not in ordito(tmp_path, "-e", "live", "status").both
    lines = whole.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith(b"# ==== What follows"))
    blocking = 0
    for at in range(first, len(lines), STEP):
        middle = len(lines[at]) // 2
        damaged = lines[at][:middle] + b"!" + lines[at][middle + 1 :]
        manifest.write_bytes(b"".join([*lines[:at], damaged, *lines[at + 1 :]]))
        found = ordito(tmp_path, "-e", "live", "status")
        assert (found.code, "app_1" in found.out) == (0, True), (damaged, found.both)
        assert f"{manifest}" in found.err, (damaged, found.both)
        assert "  file  " in ordito(tmp_path, "-e", "live", "doctor").out, damaged
        if "once ensemble.yaml is repaired" in found.err:
            blocking += 1
            if blocking <= 2:
                for verb in ("resume", "cancel"):
                    refused = ordito(tmp_path, "-e", "live", "jobs", verb)
                    assert refused.code == 3, (damaged, refused.both)
                    assert "remove everything below your own part" in refused.both
    assert 0 < blocking < len(range(first, len(lines), STEP))
    assert (tmp_path / "log").read_text() == "started\n"
    # What can be read is written again from the journal.
    manifest.write_bytes(whole.replace(b"main: service.yaml", b"main: se!vice.yaml"))
    assert ordito(tmp_path, "-e", "live", "jobs", "resume").code == 0
    assert b"main: service.yaml" in manifest.read_bytes()
    assert "warning" not in ordito(tmp_path, "-e", "live", "status").both
    # Without a job that waits the records of jobs say what was there.
    manifest.write_bytes(manifest.read_bytes().replace(b"main: service.yaml", b"main: se!vice.yaml"))
    assert "jobs replay" in ordito(tmp_path, "-e", "live", "doctor").out
    manifest.write_bytes(manifest.read_bytes().replace(b"format: ordito.", b"format: ord!to."))
    refused = ordito(tmp_path, "-e", "live", "status")
    assert refused.code == 3
    assert "jobs replay --write" in refused.both
    assert ordito(tmp_path, "-e", "live", "jobs", "replay", "--write").code == 0
    assert ordito(tmp_path, "-e", "live", "status").code == 0


def test_a_value_that_no_job_has_changed_is_said(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    for script in ("create.sh", "start.sh"):
        (tmp_path / script).write_text('echo "$0" >>"$HOME/log"\n')
    assert ordito(tmp_path, "-e", "live", "deploy", "service.yaml", "--yes").code == 0
    manifest = tmp_path / "live/ensemble.yaml"
    whole = manifest.read_bytes()
    assert "warning" not in ordito(tmp_path, "-e", "live", "status").both
    said = "was changed by no job"
    lines = whole.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith(b"# ==== What follows"))
    for at in range(first + 1, len(lines), STEP):
        middle = len(lines[at]) // 2
        damaged = lines[at][:middle] + b"!" + lines[at][middle + 1 :]
        manifest.write_bytes(b"".join([*lines[:at], damaged, *lines[at + 1 :]]))
        found = ordito(tmp_path, "-e", "live", "status")
        # Either it cannot be read, or it is said that no job has made it so.
        assert found.code == 3 or (found.code == 0 and said in found.err), (damaged, found.both)
    # The job that would run because of it says it before it asks; the way out needs no backup.
    manifest.write_bytes(whole.replace(b"state: started", b"state: sta!ted"))
    asked = ordito(tmp_path, "-e", "live", "deploy")
    assert said in asked.err, asked.both
    assert "jobs replay --write" in asked.err
    assert ordito(tmp_path, "-e", "live", "jobs", "replay", "--write").code == 0
    assert manifest.read_bytes() == whole
    done = ordito(tmp_path, "-e", "live", "deploy", "--yes")
    assert (done.code, "warning" in done.both) == (0, False), done.both
    assert len((tmp_path / "log").read_text().splitlines()) == 2
