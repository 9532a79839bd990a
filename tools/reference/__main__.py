"""Writes the pages of ``docs/reference`` that are made from the code: ``python -m tools.reference``."""

from __future__ import annotations

from tools.reference.pages import FOLDER, PAGES

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, document in PAGES.items():
        (FOLDER / name).write_text(document(), encoding="utf-8")
