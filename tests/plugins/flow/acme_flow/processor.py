"""Carries out workflows that are lists of lines.

``say TEXT`` prints, ``write PATH`` writes down all that was given, ``wait PATH`` waits until a file is there,
``give NAME VALUE`` makes an output, ``fail TEXT`` fails. ``$NAME`` stands for an input.
"""

from __future__ import annotations

import json
import string
import time
from pathlib import Path
from typing import Any


def process(call: dict[str, Any]) -> dict[str, Any]:
    """Carry out a workflow."""
    outputs: dict[str, Any] = {}
    for line in Path(call["file"]).read_text().splitlines():
        word, _, rest = string.Template(line).substitute(call["inputs"]).partition(" ")
        match word:
            case "say":
                print(rest)
            case "write":
                Path(rest).write_text(json.dumps(call))
            case "wait":
                while not Path(rest).exists():
                    time.sleep(0.02)
            case "give":
                name, _, value = rest.partition(" ")
                outputs[name] = value
            case "fail":
                raise RuntimeError(rest)
    return outputs
