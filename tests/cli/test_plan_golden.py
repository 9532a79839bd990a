"""What `ordito plan` shows: text for people and JSON for programs, as data in `tests/data/planned/golden`.

With the variable ORDITO_GOLDEN set, the files are written again; look at what has changed before you keep it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.program import DATA, Finished, Run

PLANNED = DATA / "planned"
GOLDEN = PLANNED / "golden"

Commands = Sequence[Sequence[str]]
DEPLOYED = (("deploy", "service.yaml", "--yes", "-q"),)

CASES: dict[str, tuple[Commands, Sequence[str], int]] = {
    "new": ((), ("plan", "service.yaml"), 0),
    "new-summary": ((), ("plan", "service.yaml", "--summary"), 0),
    "new-full": ((), ("plan", "service.yaml", "--full", "-i", "count=1"), 0),
    "new-explained": ((), ("plan", "service.yaml", "--explain"), 0),
    "new-data": ((), ("plan", "service.yaml", "-o", "json", "-i", "count=1"), 0),
    "new-many": ((), ("plan", "service.yaml", "-i", "count=250"), 0),
    "nothing": (DEPLOYED, ("plan",), 0),
    "nothing-data": (DEPLOYED, ("plan", "-o", "json"), 0),
    "grown": (DEPLOYED, ("plan", "-i", "count=3"), 0),
    "shrunk": (DEPLOYED, ("plan", "-i", "count=1"), 0),
    "shrunk-explained": (DEPLOYED, ("plan", "-i", "count=1", "--explain"), 0),
    "forced": (DEPLOYED, ("plan", "--force", "-i", "count=3"), 0),
    "undeployed": (DEPLOYED, ("plan", "undeploy"), 0),
    "changed": (DEPLOYED, ("plan", "-i", "size=2", "-i", "password=second", "-i", "count=3"), 0),
    "changed-data": (DEPLOYED, ("plan", "-o", "json", "-i", "size=2", "-i", "password=second"), 0),
    "changed-machine": (DEPLOYED, ("plan", "-i", "cpus=2"), 0),
    "changed-script": ((*DEPLOYED, ("edit", "scripts/create.sh"), ("edit", "scripts/link.sh")), ("plan",), 0),
    "continued": (
        (("edit", "scripts/configure.sh", "exit 1"), *DEPLOYED, ("edit", "scripts/configure.sh", "exit 0")),
        ("plan", "--full"),
        0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_plan_is_shown_as_it_was(run: Run, tmp_path: Path, case: str) -> None:
    before, words, code = CASES[case]
    shutil.copytree(PLANNED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("golden"))
    for command in before:
        if command[0] == "edit":
            with (tmp_path / command[1]).open("a", encoding="utf-8") as script:
                script.write("\n".join((*command[2:], "")) or "# changed\n")
        else:
            run(*command)
    found = run(*words)
    assert found.code == code, found.err
    shown, expected = _shown(found), GOLDEN / f"{case}.txt"
    if os.environ.get("ORDITO_GOLDEN"):
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def _shown(found: Finished) -> str:
    """The result, or why there is none, without what differs from run to run."""
    return re.sub(r"[0-9a-f]{64}", "<digest>", found.out or found.err)


def test_more_places_on_a_host_make_fewer_waves(run: Run, tmp_path: Path) -> None:
    """The plan that a command shows keeps to what that very command allows."""
    shutil.copytree(PLANNED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("golden"))
    limited = run("plan", "service.yaml").out
    assert "One operation at a time on machine_1: 9 waves instead of 6" in limited
    done = run("deploy", "service.yaml", "--yes", "--host-concurrency", "9")
    assert "9 operations in 6 waves." in done.err
