"""How messages are sent: tried again while the server does not take them, and marked so that it can tell repeats."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence

import block_http
import ordito_block as block

REPEATABLE = (408, 425, 429)


def send(
    url: str, message: Mapping[str, object], *, method: str, headers: Mapping[str, str], statuses: Sequence[str]
) -> block.Outputs:
    """Send a message as JSON. Raises ``Failed``, in which only the server is named: an address may be a secret."""
    block_http.checked("url", url)
    client = block_http.Client(block.seconds("each", 10), block.text("ca", ""))
    most, interval = block.number("attempts", 3), block.seconds("interval", 2)
    if most < 1:
        raise block.misconfigured("attempts", f"{most} is not enough", "it is tried at least once")
    where = block_http.place(url)
    headers = {"Content-Type": "application/json", **_marked(), **headers}
    body = json.dumps(message, ensure_ascii=False).encode()
    for attempt in range(1, most + 1):
        try:
            status = client.ask(url, headers, method=method, body=body).status
        except block_http.Unanswered as problem:
            said, is_final = str(problem), False
        else:
            if block_http.is_expected(status, statuses):
                block.say(f"sent to {where}, which answered with status {status}")
                return {"status": status, "attempts": attempt}
            said = f"it answers with status {status}"
            is_final = status < 500 and status not in REPEATABLE
        if is_final or attempt == most:
            break
        time.sleep(interval)
    raise block.Failed(
        f"{where} did not take the message ({attempt} of {most} attempts): {said}",
        "see whether the address and what it is sent are those that the server knows",
    )


def _marked() -> dict[str, str]:
    """A header by which a server can tell that it has had a message already."""
    if not block.execution():
        return {}
    # Headers take no other characters.
    key = block.execution().encode("ascii", "backslashreplace").decode()
    return {"Idempotency-Key": f"{key}{'/undo' if os.environ.get('ORDITO_EXECUTE_RESULT') else ''}"}
