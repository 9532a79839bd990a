"""What is carried out instead of functions of plugins and of operations, by the choice of whoever deploys a blueprint:
``overrides.yaml`` in a folder of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping, Scalar, is_null

FILE = "overrides.yaml"
PLAYBOOK, SCRIPT = "playbook", "script"
NOTHING = "nothing"


class Override(msgspec.Struct, frozen=True):
    """What is carried out instead; nothing where there is no path."""

    written: Scalar
    path: str = ""
    """From the folder of the blueprint's main file."""
    is_playbook: bool = False


def read_overrides(root: object, diagnostics: Diagnostics) -> Iterator[tuple[str, Scalar, bool]]:
    """The names in a file of overrides, with what is written for each: the path of a script or of a playbook, or
    nothing."""
    if not isinstance(root, Mapping):
        if root is not None and not (isinstance(root, Scalar) and is_null(root)):
            diagnostics.error("wrong-form", f"{FILE} is a map of functions and operations", getattr(root, "span", None))
        return
    for key, value in root.entries():
        if isinstance(value, Mapping) and len(value.keys) == 1 and value.keys[0].text in (PLAYBOOK, SCRIPT):
            inner = value.values[value.keys[0].text]
            if isinstance(inner, Scalar):
                yield key.text, inner, value.keys[0].text == PLAYBOOK
                continue
        if isinstance(value, Scalar):
            yield key.text, value, False
            continue
        diagnostics.error(
            "wrong-form",
            f'"{key.text}" is replaced by the path of a script, by playbook: and a path, or by nothing',
            value.span,
            hint=f"write {key.text}: scripts/own.sh, or {key.text}: {NOTHING}",
        )


__all__ = ["FILE", "NOTHING", "Override", "read_overrides"]
