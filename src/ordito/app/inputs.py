"""Values of inputs as they are given: in files, on the command line, in the ensemble, and in earlier deployments."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import is_null
from ordito.source.package import load_file


class GivenInputs(msgspec.Struct, frozen=True):
    """What the user gives in one call: names of files, and texts by input; the later wins, and texts over files."""

    files: tuple[str, ...] = ()
    texts: Mapping[str, str] = {}


def read_given(given: GivenInputs, diagnostics: Diagnostics) -> dict[str, object]:
    """The values of one call, by input: located nodes and texts."""
    values: dict[str, object] = {}
    for path in given.files:
        values.update(_read_file(path, diagnostics))
    values.update(given.texts)
    return values


def _read_file(path: str, diagnostics: Diagnostics) -> Mapping[str, object]:
    document = load_file(path, diagnostics)
    if document is None or is_null(document.root):
        return {}
    if not isinstance(document.root, MappingNode):
        diagnostics.error(
            "bad-value",
            f"a file of inputs holds a map of names and values, not {document.root.kind}",
            document.root.span,
            hint="write one input a line, as in: port: 8080",
        )
        return {}
    return document.root.values
