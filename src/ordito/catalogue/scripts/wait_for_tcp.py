"""Waits until something accepts connections at a port."""

from __future__ import annotations

import socket
import time

import block_http
import ordito_block as block


def execute() -> block.Outputs:
    host, port = block.text("host"), block.number("port")
    if not 1 <= port <= 65_535:
        raise block.misconfigured("port", f"{port} is no port", "ports are 1 to 65535")
    interval, within, each = block.seconds("interval", 1), block.seconds("within", 60), block.seconds("each", 5)
    began = time.monotonic()
    attempts = 0
    while True:
        attempts += 1
        left = max(0.1, began + within - time.monotonic())
        try:
            with socket.create_connection((host, port), timeout=min(each, left)):
                break
        except OSError as error:
            problem = block_http.reason(error)
        if time.monotonic() - began + interval > within:
            raise block.Failed(
                f"within {within:g} s nothing accepted a connection at {host}, port {port}: {problem}",
                "see whether it runs and where it listens; or give it more time by config, within",
            )
        time.sleep(interval)
    waited = round(time.monotonic() - began, 3)
    block.say(f"{host} accepts connections at port {port} after {waited} s")
    return {"waited": waited, "attempts": attempts}


if __name__ == "__main__":
    block.run(execute, block.nothing_to_undo)
