"""`./run demo` deploys, visits and removes a real application, and says how to repeat it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.program import LIMIT, environment

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_runs_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for verb in ("deploy", "status", "output", "undeploy"):
        assert f"$ ./run ordito {verb}" in done.stdout
    assert set(re.findall(r"^(web_\d) answers", done.stdout, re.MULTILINE)) == {"web_1", "web_2", "web_3"}
    assert list(tmp_path.iterdir()) == []
