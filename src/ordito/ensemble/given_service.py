"""The service that an ensemble remembers in the place of the one that the user's part names, read by itself: who only
wants to know which service is meant need not read all that exists."""

from __future__ import annotations

import msgspec

from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import RESTORE, read_manifest
from ordito.ensemble.yaml_reader import load
from ordito.work.records import GivenService

_BEGIN = b"\n  named:\n"
_INDENT = b"    "


def given_service(layout: Layout) -> GivenService | None:
    """What `ensemble.yaml` says of it, None where it says nothing. Raises ``EnsembleError``."""
    found = read_manifest(layout)
    _, mark, rest = (found.machine if found is not None else b"").partition(_BEGIN)
    if not mark:
        return None
    lines: list[bytes] = []
    for line in rest.splitlines():
        if not line.startswith(_INDENT):
            break
        lines.append(line.removeprefix(_INDENT))
    data = load(b"\n".join([*lines, b""]), str(layout.manifest), RESTORE)
    try:
        return msgspec.convert(data, GivenService)
    except msgspec.ValidationError:
        return None  # Who reads the whole status says what is wrong with it.
