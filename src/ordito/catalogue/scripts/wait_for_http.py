"""Waits until each of some addresses answers with a status that is expected."""

from __future__ import annotations

import time

import block_http
import ordito_block as block


def execute() -> block.Outputs:
    urls = [block_http.checked("urls", url) for url in block.texts("urls")]
    if not urls:
        raise block.misconfigured("urls", "it names no address")
    wanted = block_http.statuses("statuses", block.texts("statuses") or ["2xx"])
    interval, within, each = block.seconds("interval", 1), block.seconds("within", 60), block.seconds("each", 5)
    headers, ca = block.mapping("headers"), block.text("ca", "")
    began = time.monotonic()
    attempts = 0
    said: dict[str, str] = {}
    waiting = urls
    while True:
        attempts += 1
        for url in waiting:
            # The last request must not end long after the time is over.
            left = max(0.1, began + within - time.monotonic())
            said[url] = _look(block_http.Client(min(each, left), ca), url, headers, wanted)
        waiting = [url for url in waiting if said[url]]
        if not waiting:
            break
        if time.monotonic() - began + interval > within:
            raise _not_in_time(waiting, said, wanted, within)
        time.sleep(interval)
    waited = round(time.monotonic() - began, 3)
    block.say(f"answered as expected after {waited} s: {', '.join(block_http.shown(url) for url in urls)}")
    return {"waited": waited, "attempts": attempts}


def _look(client: block_http.Client, url: str, headers: dict[str, str], wanted: list[str]) -> str:
    """What is not as expected; empty where all is."""
    try:
        status = client.ask(url, headers).status
    except block_http.Unanswered as problem:
        return str(problem)
    return "" if block_http.is_expected(status, wanted) else f"it answers with status {status}"


def _not_in_time(waiting: list[str], said: dict[str, str], wanted: list[str], within: float) -> block.Failed:
    found = "; ".join(f"{block_http.shown(url)}: {said[url]}" for url in waiting)
    return block.Failed(
        f"within {within:g} s there was no answer with status {' or '.join(wanted)}: {found}",
        "see whether it runs and at which address; or give it more time by config, within",
    )


if __name__ == "__main__":
    block.run(execute, block.nothing_to_undo)
