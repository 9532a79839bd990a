"""Plug-ins of tests, installed as those of users are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLUGINS = Path(__file__).parents[1] / "plugins"


def install(name: str, target: Path) -> Path:
    """Install a distribution of the folder of plug-ins into a folder that can be put on the path of modules."""
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    command += ["--no-build-isolation", "--python", sys.executable, "--target", str(target), str(PLUGINS / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target
