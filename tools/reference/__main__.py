"""Writes the pages of ``docs/reference`` and of `man` that are made from the code: ``python -m tools.reference``."""

from __future__ import annotations

from tools.reference.pages import PAGES, ROOT

if __name__ == "__main__":
    for name, document in PAGES.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(document(), encoding="utf-8")
