"""Mistakes in lifecycle steps: each is refused with its place before anything runs, whatever command reads them.

In the files below ``data/lifecycle/mistakes`` a comment ``# ^ code: words`` says what is found in the line above it, at
the column of its ``^``, and which words the message or its hint holds.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

MISTAKES = Path(__file__).parent / "data" / "lifecycle" / "mistakes"
EXPECTED = re.compile(r"#\s*\^ (?P<code>[a-z-]+): (?P<words>.*)")


def expected(file: Path) -> list[tuple[str, int, int, str, str]]:
    """What is to be found in a file: file, line, column, code, and words."""
    found = []
    line = 0
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = EXPECTED.fullmatch(text.strip())
        if match is None:
            line = number
        else:
            found.append((file.name, line, text.index("^") + 1, match["code"], match["words"]))
    return found


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("steps.yaml", "steps.yaml"),
        ("blocks.yaml", "blocks.yaml"),
        ("files.yaml", "files.yaml"),
        ("beside/service.yaml", "beside/lifecycle.yaml"),
    ],
)
def test_what_is_wrong_with_steps_is_refused_by_every_command(tmp_path: Path, name: str, wrong: str) -> None:
    """Blocks, versions, phases and keys that there are not, words in place of a block, and what has no sense."""
    service = tmp_path / "service"
    shutil.copytree(MISTAKES, service)
    place = service / name
    (place.parent / "create.sh").write_text('touch "$HOME/was-run"\n', encoding="utf-8")
    shown = ordito(tmp_path, "validate", place, "-o", "json")
    assert shown.code == 3, shown.both
    found = json.loads(shown.out)["diagnostics"]
    wanted = expected(service / wrong)
    assert [(Path(d["file"]).name, d["line"], d["column"], d["code"]) for d in found] == [w[:4] for w in wanted]
    for diagnostic, (*_, words) in zip(found, wanted, strict=True):
        assert words in f"{diagnostic['message']} {diagnostic.get('hint', '')}"
    for command in (["plan"], ["deploy", "--yes"]):
        refused = ordito(tmp_path, command[0], place, "-e", tmp_path / "ensemble", *command[1:])
        assert refused.code == 3, refused.both
        for file, line, column, code, _ in wanted:
            assert f"error[{code}]" in refused.err
            assert f"{file}:{line}:{column}" in refused.err
        assert "Traceback" not in refused.both
        assert not (tmp_path / "was-run").exists()
        assert not (tmp_path / "ensemble").exists()
