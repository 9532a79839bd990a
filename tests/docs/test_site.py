"""The site is built from the pages alone, and is shown without anything from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

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
