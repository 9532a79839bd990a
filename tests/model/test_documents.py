"""Service templates as data: each file below ``data`` says in its comments what must be found in it.

``tests/support/documents.py`` says how. All findings of a file must be expected, and nothing else is reported. Files in
a folder named after a case are its imports, and hold expectations likewise.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.documents import check_document, expectations, expected_parts

DATA = Path(__file__).parent / "data"
CASES = sorted(DATA.glob("*/*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_document(case: Path) -> None:
    """R-1.4-1: a document is validated without anything else, and every fault in it is reported, each once."""
    files = [case, *sorted((case.parent / case.stem).rglob("*.yaml"))]
    check_document(case, [e for f in files for e in expectations(f)], expected_parts(case))
