"""Which pages there are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
ALSO_LINKED = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")


def pages() -> list[str]:
    """All pages that are carried out, as paths below the root of the repository."""
    found = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/README.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)
