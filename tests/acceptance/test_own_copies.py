"""Artifacts that operations write to: each has its own copy, and what was deployed stays as it was or is renewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.executors.copies import LARGEST
from tests.acceptance.program import Finished, ordito

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app:
      type: tosca.nodes.SoftwareComponent
      artifacts:
        conf: { type: tosca.artifacts.File, file: files/app.conf }
        pages: { type: tosca.artifacts.File, file: pages }
        program: { type: tosca.artifacts.File, file: files/program }
      requirements: [ host: server ]
      interfaces:
        Standard:
          operations:
            configure: { implementation: configure.sh, inputs: { same: { get_artifact: [ SELF, conf ] } } }
            start: start.sh
    server: { type: tosca.nodes.Compute }
"""
CONFIGURE = """\
set -e
[ "$same" = "$conf" ]
sed -i s/PORT/8080/ "$conf"
echo more >>"$conf"
echo changed >"$pages/deep/index"
cat "$conf" "$pages/deep/index" >"$HOME/seen"
"$program"
cat "$(dirname "$0")/files/app.conf" >"$HOME/original"
"""
SPOILING = 'f="$(dirname "$0")/files/app.conf"; chmod u+w "$f"; sed -i s/PORT/1/ "$f"\n'


def write(home: Path, configure: str = CONFIGURE, start: str = ":\n") -> None:
    for name, text in {
        "service.yaml": SERVICE,
        "files/app.conf": "port=PORT\n",
        "files/program": '#!/bin/sh\necho program >>"$HOME/seen"\n',
        "pages/deep/index": "index\n",
        "configure.sh": configure,
        "start.sh": start,
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "files/program").chmod(0o755)


def run(home: Path, *words: str) -> Finished:
    return ordito(home, "-e", "live", *words)


def pinned(home: Path, name: str) -> Path:
    return next((home / "live/artifacts").glob(f"*/{name}"))


def test_an_operation_writes_to_its_own_copy(tmp_path: Path) -> None:
    write(tmp_path)
    done = run(tmp_path, "deploy", "service.yaml", "--yes")
    assert done.code == 0, done.both
    assert (tmp_path / "seen").read_text() == "port=8080\nmore\nchanged\nprogram\n"
    assert (tmp_path / "original").read_text() == "port=PORT\n"
    assert pinned(tmp_path, "files/app.conf").read_text() == "port=PORT\n"
    assert "were changed" not in done.both
    assert not any(path.stat().st_mode & 0o222 for path in pinned(tmp_path, "service.yaml").parent.glob("**/*.sh"))
    assert run(tmp_path, "restart", "app_1", "--yes").code == 0
    assert run(tmp_path, "undeploy", "--yes").code == 0


def test_a_process_that_stays_has_the_copy_that_it_was_told(tmp_path: Path) -> None:
    start = 'mkfifo "$HOME/go" "$HOME/done"\n( read -r x <"$HOME/go"; cat "$conf" >"$HOME/done" ) >/dev/null 2>&1 &\n'
    write(tmp_path, start=start)
    assert run(tmp_path, "deploy", "service.yaml", "--yes").code == 0
    (tmp_path / "go").write_text("go\n")
    assert (tmp_path / "done").read_text() == "port=PORT\n"


def test_a_large_artifact_is_a_link(tmp_path: Path) -> None:
    write(tmp_path, configure='[ -L "$conf" ] && wc -c <"$conf" >"$HOME/size"\n')
    with (tmp_path / "files/app.conf").open("wb") as file:
        file.truncate(LARGEST + 1)
    done = run(tmp_path, "deploy", "service.yaml", "--yes")
    assert done.code == 0, done.both
    assert (tmp_path / "size").read_text().strip() == str(LARGEST + 1)


def test_what_was_changed_all_the_same_is_said_and_put_back(tmp_path: Path) -> None:
    write(tmp_path, configure=SPOILING)
    done = run(tmp_path, "deploy", "service.yaml", "--yes")
    assert "deployed files were changed while the job ran: artifacts/" in done.both
    assert "state renew" in done.both
    refused = run(tmp_path, "restart", "app_1", "--yes")
    assert refused.code == 3
    assert "files/app.conf" in refused.both
    assert "state renew" in refused.both
    assert "files/app.conf" in run(tmp_path, "doctor").both
    renewed = run(tmp_path, "state", "renew")
    assert renewed.code == 0, renewed.both
    assert pinned(tmp_path, "files/app.conf").read_text() == "port=PORT\n"
    assert run(tmp_path, "restart", "app_1", "--yes").code == 0
    assert "Nothing to do" in run(tmp_path, "state", "renew").both


def test_what_is_nowhere_as_it_was_can_be_taken_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, configure=SPOILING)
    assert run(tmp_path, "deploy", "service.yaml", "--yes").code == 0
    (tmp_path / "files/app.conf").write_text("other\n")
    refused = run(tmp_path, "state", "renew")
    assert refused.code == 3
    assert "state renew --as-they-are" in refused.both
    assert run(tmp_path, "state", "renew", "--as-they-are").code == 0
    assert pinned(tmp_path, "files/app.conf").read_text() == "port=1\n"
    assert run(tmp_path, "restart", "app_1", "--yes").code == 0
    pinned(tmp_path, "files/app.conf").write_text("and again\n")
    assert run(tmp_path, "restart", "app_1", "--yes").code == 3


@pytest.mark.parametrize("words", [("undeploy",), ("undeploy", "--force"), ("deploy", "--force")])
def test_undeploy_and_force_go_on_with_a_warning(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, configure=SPOILING)
    assert run(tmp_path, "deploy", "service.yaml", "--yes").code == 0
    done = run(tmp_path, *words, "--yes")
    assert done.code == 0, done.both
    assert "used as it is" in done.both
    assert "files/app.conf" in done.both
