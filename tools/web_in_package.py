"""Sees that the web UI is in what is built of a checkout: called by hatchling for each wheel and each sdist.

The sdist holds what was built, so that a wheel made of it asks for no Node.js.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = Path("src") / "ordito" / "server" / "web" / "index.html"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the web UI where it is missing; what is installed to be edited does without until it is served."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises ``CalledProcessError`` where it cannot be built."""
        root = Path(self.root)
        if version != "editable" and not (root / BUILT).exists():
            subprocess.run([sys.executable, str(root / "run"), "web"], check=True)
