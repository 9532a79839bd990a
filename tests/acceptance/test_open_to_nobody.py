"""What the program makes is not written by others, whatever the mask is with which it was started."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { token: { type: string, metadata: { sensitive: "true" } } }
  node_templates:
    one:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create:
              implementation: { primary: scripts/run.sh, dependencies: [ lib/more.sh ] }
              inputs: { TOKEN: { get_input: token }, LONG: { concat: [ LONG ] } }
"""
SCRIPT = """\
#!/bin/sh
. "$(dirname "$0")/more.sh"
: >"$HOME/ran"
: >by-the-operation
find "$HOME/ensemble" "$PWD/../.." "$0" -perm -0002 ! -type l >"$HOME/open-meanwhile"
"""


def open_to_others(folder: Path, bits: int = stat.S_IWOTH) -> list[str]:
    """What others can write to, below a folder."""
    found = [Path(where) / name for where, folders, files in os.walk(folder) for name in (*folders, *files)]
    return sorted(
        str(p.relative_to(folder)) for p in found if not p.is_symlink() and stat.S_IMODE(p.lstat().st_mode) & bits
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A service whose files are open to everybody, as such a mask has left them."""
    service = tmp_path / "service"
    for name, text in (("service.yaml", SERVICE), ("scripts/run.sh", SCRIPT), ("lib/more.sh", ":\n")):
        (service / name).parent.mkdir(parents=True, exist_ok=True)
        (service / name).write_text(text.replace("LONG ]", f"{'x' * 200_000} ]"))
        (service / name).chmod(0o777)
    return tmp_path


@pytest.mark.parametrize(("mask", "bits"), [(0o000, 0o022), (0o020, 0o022), (0o002, 0o002)])
def test_nothing_of_an_ensemble_is_open_to_others(home: Path, mask: int, bits: int) -> None:
    """Neither while operations run nor afterwards: pins, records, journal, logs, secrets, slots. A group keeps what its
    members share where the mask says so."""
    code = f"import os; os.umask({mask})"
    for words in (
        ("init", "another"),
        ("deploy", "service/service.yaml", "-e", "ensemble", "--yes", "-i", "token=canary"),
        ("package", "service", "--out", "package.csar"),
    ):
        done = ordito(home, *words, code=code)
        assert done.code == 0, done.both
    assert (home / "ran").exists()
    assert (home / "open-meanwhile").read_text() == ""
    assert open_to_others(home / "ensemble", bits) == open_to_others(home / "another", bits) == []
    assert not stat.S_IMODE((home / "ensemble").stat().st_mode) & bits
    done = ordito(home, "undeploy", "-e", "ensemble", "--yes", code=code)
    assert done.code == 0, done.both
    assert open_to_others(home / "ensemble", bits) == []
    assert not stat.S_IMODE((home / "package.csar").stat().st_mode) & bits
