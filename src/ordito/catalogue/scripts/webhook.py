"""Sends JSON to an address; and, when that is undone, what the config says for that case."""

from __future__ import annotations

import os

import block_http
import block_notify
import ordito_block as block


def execute() -> block.Outputs:
    return _send(dict(block.mapping("payload")))


def undo(_outputs: block.Outputs) -> block.Outputs:
    payload = block.mapping("undo_payload")
    if not payload:
        block.say("what was sent stays sent: the config has no undo_payload to send")
        return block.UNCHANGED
    return _send(dict(payload))


def _send(message: dict[str, object]) -> block.Outputs:
    if block.flag("about", default=True):
        names = ("fqn", "phase", "component")
        message["ordito"] = {
            **{name: os.environ.get(f"ORDITO_{name.upper()}", "") for name in names},
            "step": block.step(),
            "undone": bool(os.environ.get("ORDITO_EXECUTE_RESULT")),
        }
    return block_notify.send(
        block.text("url"),
        message,
        method=block.text("method", "POST"),
        headers=block.mapping("headers"),
        statuses=block_http.statuses("statuses", block.texts("statuses") or ["2xx"]),
    )


if __name__ == "__main__":
    block.run(execute, undo)
