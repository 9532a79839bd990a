"""One damaged byte in `ensemble.yaml` while a job waits: it is found before anything more runs."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.program import ordito

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app: { type: tosca.nodes.Root, interfaces: { Standard: { operations: { create: create.sh, start: start.sh } } } }
"""


def test_resume_looks_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "create.sh").write_text('[ ! -e "$HOME/kill" ] || { rm "$HOME/kill"; kill -9 "$PPID"; }\n')
    (tmp_path / "start.sh").write_text('echo started >>"$HOME/log"\n')
    assert ordito(tmp_path, "-e", "live", "deploy", "service.yaml", "--yes").code == 0
    (tmp_path / "kill").touch()
    assert ordito(tmp_path, "-e", "live", "deploy", "--force", "--yes").code != 0
    manifest = tmp_path / "live/ensemble.yaml"
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
