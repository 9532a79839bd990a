"""The page of security promises names a test for each, and every one of them exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_every_promise_has_a_test_that_exists() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and not line.endswith("| test |")]
    assert len(rows) > 20
    for row in rows:
        named = NAMED.findall(row.rpartition("| ")[2])
        assert named, f"no test is named in: {row}"
        for file, name in named:
            tree = ast.parse((Path(__file__).parent / file).read_text())
            functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert name in functions, f"{file} has no {name}"
