"""Takes packages, which are "installed" by writing down what was told, and recipes, which implement operations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def install(call: dict[str, Any], by: str = "any") -> dict[str, Any] | None:
    """Install a package, or remove it: a file beside its own ``store`` property."""
    artifact = call["artifact"]
    file = Path(artifact["properties"]["store"]) / f"{artifact['name']}.json"
    if call["verb"] == "undeploy":
        file.unlink()
        return None
    content = Path(call["file"]).read_text()
    file.write_text(json.dumps({**call, "by": by, "content": content, "argv": sys.argv}))
    print(f"installed {artifact['name']}")
    return None


def install_second(call: dict[str, Any]) -> dict[str, Any] | None:
    """The same for packages of version 2."""
    return install(call, "second")


def install_tenth(call: dict[str, Any]) -> dict[str, Any] | None:
    """The same for packages of version 10."""
    return install(call, "tenth")


def cook(call: dict[str, Any]) -> dict[str, Any]:
    """Carry out an operation: each line of a recipe is the name of an output and that of an input."""
    if call["inputs"].get("spoiled"):
        raise RuntimeError("the recipe is spoiled")
    lines = [line.split() for line in Path(call["file"]).read_text().splitlines()]
    return {output: call["inputs"][name] for output, name in lines}
