"""How much is tried: a run that is to be quick tries little of what `./run crash` tries much of."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("ORDITO_THOROUGH") == "1"


def examples(few: int) -> int:
    """How many examples a property is tried with; ``few`` in a quick run, ten times as many in a thorough one."""
    return 10 * few if THOROUGH else few
