"""The site is built from the pages alone, and is shown without anything from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.page import CONSOLE, Block, commands, read_page
from tests.docs.places import ROOT, pages

# What a browser fetches by itself: not the links that a reader follows.
FETCHED = re.compile(
    r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?(?:https?:)?//[^ >]*|<link\b[^>]*\bhref=\"?(?:https?:)?//[^ >]*"
)


def test_the_site(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, re.sub(r"\x1b\[[0-9;]*m", "", done.stderr).partition(" issue")[0]
    site = tmp_path / ".cache" / "site"
    made = {path.relative_to(site).with_suffix(".md").as_posix(): path.read_text() for path in site.rglob("*.html")}
    assert {name.removeprefix("docs/") for name in pages() if name.startswith("docs/")} <= set(made)
    assert {name: found for name, text in made.items() if (found := FETCHED.findall(text))} == {}
    assert "assets/copy.js" in made["quick-start.md"]


def test_the_copy_button_copies_commands_alone(tmp_path: Path) -> None:
    """The script of the site finds the commands in a console that the reader of the pages finds there."""
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node")
    consoles = [
        (part.text, "\n".join(command.text for command in commands(page, part)))
        for page in (read_page(ROOT / name, name) for name in pages())
        for part in page.parts
        if isinstance(part, Block) and part.language == CONSOLE and not part.title
    ]
    assert any("\n" in expected for _, expected in consoles)
    shown = tmp_path / "consoles.json"
    shown.write_text(json.dumps([text for text, _ in consoles]))
    script = (ROOT / "docs/assets/copy.js").read_text()
    ask = f"{script}\nconst texts = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));"
    ask += "\nconsole.log(JSON.stringify(texts.map(commandsOf)));"
    done = subprocess.run([node, "-e", ask, shown], capture_output=True, text=True, check=True)
    for (text, expected), found in zip(consoles, json.loads(done.stdout), strict=True):
        assert found == expected, text
