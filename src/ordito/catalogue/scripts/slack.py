"""Tells a channel of Slack, or of what takes the same messages; and, when that is undone, that it holds no longer."""

from __future__ import annotations

import os

import block_notify
import ordito_block as block


def execute() -> block.Outputs:
    return _send(block.text("text", "") or _standard())


def undo(_outputs: block.Outputs) -> block.Outputs:
    return _send(block.text("undo_text", "") or f"Taken back: {block.text('text', '') or _standard()}")


def _send(text: str) -> block.Outputs:
    message = {"text": text}
    if channel := block.text("channel", ""):
        message["channel"] = channel
    return block_notify.send(block.text("url"), message, method="POST", headers={}, statuses=["2xx"])


def _standard() -> str:
    about = block.subject()
    return f"{os.environ.get('ORDITO_PHASE', 'a step')}{f' of {about}' if about else ''}: done so far"


if __name__ == "__main__":
    block.run(execute, undo)
