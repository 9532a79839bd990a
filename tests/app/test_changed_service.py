"""A plan is for the files that it was made for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from ordito.app.errors import Refused
from ordito.app.requests import DeployRequest
from ordito.app.workflow_run import WorkflowRequest, run_workflow

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    thing:
      type: tosca.nodes.Root
      interfaces: { Standard: { operations: { create: create.sh } } }
"""


class Editing:
    """Somebody who edits the script while the question is open, and then says yes."""

    def __init__(self, script: Path) -> None:
        self.script = script

    def found(self, diagnostics: object) -> None:
        """Say nothing of warnings."""

    def warn(self, text: str) -> None:
        """Say nothing of that either."""

    def approve(self, proposal: object) -> bool:
        """Edit, and agree."""
        self.script.write_text("exit 1\n")
        return True

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        raise AssertionError(intent, lines)

    @property
    def wants_inputs(self) -> bool:
        return False

    def listener(self) -> Any:
        """Nothing is to be heard."""
        raise AssertionError("no operation may run")

    def cancelling(self, callback: object) -> AbstractContextManager[None]:
        """Nobody cancels."""
        return nullcontext()

    def cancel_asked(self, times: int, why: str) -> None:
        """Nobody cancels."""


def test_files_that_change_while_the_question_is_open_are_not_deployed(tmp_path: Path) -> None:
    """What was approved is what runs, or nothing."""
    (tmp_path / "service.yaml").write_text(SERVICE)
    script = tmp_path / "create.sh"
    script.write_text("exit 0\n")
    request = WorkflowRequest(str(tmp_path / "ensemble"), DeployRequest(str(tmp_path / "service.yaml")))
    with pytest.raises(Refused, match="changed after the plan") as refused:
        run_workflow(request, Editing(script))
    assert "no operation was run" in refused.value.hint
    assert not (tmp_path / "ensemble" / "ensemble.yaml").exists()
