"""What a program is told that asks again and again whether all is well."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.cli.exit_codes import ExitCode
from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
topology_template:
  node_templates:
    base:
      type: tosca.nodes.Root
      metadata: { ordito.protected: "true" }
      interfaces: { Standard: { operations: { create: ok.sh } } }
    web:
      type: tosca.nodes.Root
      requirements: [ dependency: base ]
      interfaces:
        Standard: { operations: { create: { implementation: ok.sh, inputs: { place: PLACE } } } }
        Maintain:
          type: ordito.interfaces.Maintain
          operations: { check: { implementation: check.sh, inputs: { place: PLACE } } }
"""


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """A service whose `web` is broken while there is a file `broken`, and cannot be made while there is `failing`."""
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(tmp_path)))
    (tmp_path / "ok.sh").write_text('[ ! -e "$place/failing" ]\n')
    (tmp_path / "check.sh").write_text('[ ! -e "$place/broken" ]\n')
    return tmp_path


def test_a_check_ends_with_2_as_long_as_anything_is_not_ok(run: Run, service: Path) -> None:
    """Not only when it is found; what is new is said."""
    assert run("deploy", "service.yaml", "--yes").code == 0
    well = run("check", "--detailed-exitcode")
    assert (well.code, well.out.splitlines()[-1]) == (0, "1 instance: 1 ok. Nothing is new.")
    (service / "broken").touch()
    found = [run("check", "--detailed-exitcode") for _ in range(3)]
    assert [one.code for one in found] == [ExitCode.CHANGES] * 3
    assert [one.out.splitlines()[-1] for one in found] == [
        "1 instance: 1 error. New: web_1.",
        "1 instance: 1 error. Nothing is new.",
        "1 instance: 1 error. Nothing is new.",
    ]
    assert run("check").code == 0
    assert run("status", "--detailed-exitcode").code == ExitCode.CHANGES
    told = run("check", "-o", "json").json
    assert (told["well"], told["drift"]) == (False, False)
    (service / "broken").unlink()
    mended = run("check", "--detailed-exitcode")
    assert (mended.code, mended.out.splitlines()[-1]) == (0, "1 instance: 1 ok. New: web_1.")
    assert run("status", "--detailed-exitcode").code == 0


def test_what_cannot_be_asked_and_is_recorded_as_broken_is_not_ok(run: Run, service: Path) -> None:
    text = (service / "service.yaml").read_text()
    (service / "service.yaml").write_text(text[: text.index("        Maintain:")])
    (service / "failing").touch()
    assert run("deploy", "service.yaml", "--yes").code == 1
    assert run("status", "--detailed-exitcode").code == ExitCode.CHANGES
    found = run("check", "--detailed-exitcode")
    assert found.code == ExitCode.CHANGES
    assert "Recorded as not ok: web_1." in found.out
    assert run("check", "base", "--detailed-exitcode").code == 0, "only what is asked about counts"


def test_an_undeployment_that_keeps_what_is_protected_is_complete(run: Run, service: Path) -> None:
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert run("undeploy", "--yes").code == 0
    said = run("status", "--detailed-exitcode")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].endswith("  ok  (1 instance, revision 2)")
    assert lines[1].split() == ["base_1", "started", "ok"]
    assert "undeploy" in lines[2]
    assert "Next" not in said.err
    assert run("status", "-o", "json").json["attempt"] is None
    listed = run("revisions")
    assert "did not complete" not in listed.out + listed.err
    # Jobs that say nothing of what is deployed change nothing of that, and what fails after it is an attempt.
    assert run("check").code == 0
    assert "not complete" not in run("status").out
    (service / "failing").touch()
    assert run("deploy", "--yes").code == 1
    assert "an attempt at revision 3 is not complete: job " in run("status").out
    (service / "failing").unlink()
    assert run("deploy", "--yes").code == 0
    assert run("status", "--detailed-exitcode").code == 0
    assert run("jobs", "replay").code == 0


def test_following_the_status_has_no_exit_code(run: Run, service: Path) -> None:
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert run("status", "--watch", "--detailed-exitcode").code == ExitCode.USAGE
