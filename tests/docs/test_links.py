"""Links within the documentation lead somewhere."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.docs.page import Mistake, read_page
from tests.docs.places import ALSO_LINKED, ROOT, pages

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^(#{1,6}) +(.*?) *#*$")
NAMED = re.compile(r'<a (?:id|name)="([^"]+)"')


@pytest.mark.parametrize("name", [*pages(), *ALSO_LINKED])
def test_every_link_leads_to_something(name: str) -> None:
    path = ROOT / name
    prose = _prose(path)
    broken = []
    for found in LINK.finditer(re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), prose)):
        target, _, anchor = found[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        line = 1 + prose.count("\n", 0, found.start())
        place = (path.parent / target).resolve() if target else path
        # What lies elsewhere in the repository is not on the site.
        if not place.exists() or not place.is_relative_to(ROOT / "docs" if name.startswith("docs/") else ROOT):
            broken.append(f"{name}:{line}: there is no {target}")
        elif anchor and (place.suffix != ".md" or anchor not in _anchors(place)):
            broken.append(f"{name}:{line}: {target or 'this page'} has no section #{anchor}")
    assert broken == []


def test_the_site_lists_every_page_once() -> None:
    with (ROOT / "zensical.toml").open("rb") as settings:
        listed = sorted(_listed(tomllib.load(settings)["project"]["nav"]))
    assert listed == sorted(name.removeprefix("docs/") for name in pages() if name.startswith("docs/"))


def _listed(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    parts = part.values() if isinstance(part, dict) else part
    assert not isinstance(parts, (bytes, int))
    return [page for each in parts for page in _listed(each)]  # type: ignore[attr-defined]


def _prose(path: Path) -> str:
    try:
        return read_page(path, path.name).prose
    except Mistake:
        return path.read_text(encoding="utf-8")


@cache
def _anchors(path: Path) -> frozenset[str]:
    """The sections of a page as links name them; of two with one name only the first can be named everywhere."""
    prose = _prose(path)
    headings = (HEADING.match(line) for line in prose.splitlines())
    found = [
        re.sub(r"[^\w\- ]", "", _plain(heading[2]).lower()).strip().replace(" ", "-") for heading in headings if heading
    ]
    return frozenset(found) | frozenset(NAMED.findall(prose))


def _plain(heading: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
