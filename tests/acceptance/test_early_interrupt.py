"""Ctrl-C while the program starts: whenever it comes, nothing is printed that only authors understand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.program import ordito
from tests.support.thorough import examples

WATCH = """\
import os, signal, sys
count = 0
def trace(event, arguments):
    global count
    if event == "import":
        count += 1
        if count == {at}:
            os.kill(os.getpid(), signal.SIGINT)
from ordito.cli.main import main
sys.argv = ["ordito", "-e", "live", "status"]
sys.addaudithook(trace)
main()
"""


@pytest.mark.parametrize("at", [1, *range(2, 200, 200 // examples(10))])
def test_an_early_interrupt_shows_no_traceback(tmp_path: Path, at: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCH.format(at=at)],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    # It is ended by the signal, says that it was interrupted, or was done before so much was imported.
    assert done.returncode in {-signal.SIGINT, 130, 3}, done.stderr


def test_a_character_of_json_in_two_halves(tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_text(r'{"x": "\ud83d\ude00"}')
    (tmp_path / "service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template: { inputs: { x: { type: string } }, outputs: { y: { value: { get_input: x } } },"
        " node_templates: { a: { type: Root } } }\n"
    )
    words = ["-e", "live", "deploy", "service.yaml", "-I", "inputs.json", "--yes"]
    done = ordito(tmp_path, *words)
    assert done.code == 0, done.both
    assert "\U0001f600" in ordito(tmp_path, "-e", "live", "output", "y").both
