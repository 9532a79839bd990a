"""A rule that permits what the property of a policy says."""

from __future__ import annotations

import time
from typing import Any


def allowed(call: dict[str, Any]) -> object:
    """Say what ``answer`` asks for."""
    print("this goes to nobody")
    answer = call["properties"]["answer"]
    level = call["snapshot"]["instances"][call["entity"]]["attributes"].get("level")
    match answer:
        case "raise":
            raise RuntimeError("it is broken")
        case "sleep":
            time.sleep(600)
        case "odd":
            return 3
        case "plain":
            return bool(level > 5)
    return {"acts": level > 5, "said": f"a {call['event']} of {call['entity']} at level {level} is no reason"}
