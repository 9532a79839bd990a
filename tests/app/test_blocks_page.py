"""The examples in docs/blocks.md about declaring steps and writing blocks are what they say they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordito.app.services.read import read_service
from ordito.authoring.blocks import BlocksRequest, show_block
from ordito.base.diagnostics import Diagnostics

PAGE = Path(__file__).parents[2] / "docs" / "blocks.md"
EXAMPLE = re.compile(r"```yaml title=\"shop/(\S+)\"\n(.*?)```", re.DOTALL)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in EXAMPLE.findall(PAGE.read_text()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "sql").mkdir()
    return tmp_path


def test_steps_can_be_declared_as_the_page_says(files: Path) -> None:
    found = Diagnostics()
    hooks = read_service(str(files), found).service.hooks
    assert list(hooks) == ["migrate", "announce", "database/upgrade.after[0]", "module/delete.before[0]"]
    assert not list(found)


def test_a_block_can_be_written_as_the_page_says(files: Path) -> None:
    scripts = files / "catalog" / "ours" / "scripts"
    scripts.mkdir()
    for name in ("warm.sh", "empty.sh"):
        (scripts / name).write_text("true\n")
    page = show_block(BlocksRequest(str(files)), "Warm")
    assert (page.block.version, page.block.can_be_undone) == ("1.0.0", True)
    assert [f.name for f in page.config] == ["pages", "token"]
