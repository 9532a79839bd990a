"""Looks once at each of some endpoints, whether it answers as it should; every one that does not is told."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import block_databases
import block_http
import ordito_block as block

SCHEMES = ("http", "https", "tcp", "postgres", "postgresql")


def execute() -> block.Outputs:
    endpoints = block.records("endpoints")
    if not endpoints:
        raise block.misconfigured("endpoints", "it names no endpoint")
    for number, endpoint in enumerate(endpoints):
        _check_config(number, endpoint)
    attempts, interval = block.number("attempts", 1), block.seconds("interval", 1)
    waiting = list(range(len(endpoints)))
    problems: dict[int, str] = {}
    for attempt in range(attempts):
        if attempt:
            time.sleep(interval)
        problems = {number: said for number in waiting if (said := _look(endpoints[number]))}
        waiting = list(problems)
        if not waiting:
            break
    for number, endpoint in enumerate(endpoints):
        if number not in problems:
            block.say(f"{_shown(endpoint)}: as expected")
    if problems:
        for number, said in problems.items():
            block.tell(f"{_shown(endpoints[number])}: {said}")
        raise block.Failed(f"{len(problems)} of {len(endpoints)} endpoints do not answer as they should")
    return {"checked": len(endpoints)}


def _check_config(number: int, endpoint: Mapping[str, object]) -> None:
    key = f"endpoints[{number}]"
    url = str(endpoint.get("url", ""))
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES:
        raise block.misconfigured(
            key, "url is no address that can be looked at", f"begin it with {'://, '.join(SCHEMES)}://"
        )
    if scheme in ("http", "https"):
        block_http.checked(key, url)
        block_http.statuses(key, _texts(endpoint.get("statuses")))
        try:
            re.compile(str(endpoint.get("body", "")))
        except re.error as error:
            raise block.misconfigured(key, f"body is no pattern: {error}") from None
        return
    if scheme == "tcp" and not _address(url):
        raise block.misconfigured(key, "url names no port", "write it as tcp://host:port")
    if unused := [name for name in ("statuses", "body", "headers") if endpoint.get(name)]:
        raise block.misconfigured(key, f"{unused[0]} has no meaning for {scheme}://")


def _look(endpoint: Mapping[str, object]) -> str:
    """What is not as it should be; empty where all is."""
    url = str(endpoint["url"])
    scheme = url.partition("://")[0]
    if scheme == "tcp":
        return _look_at_port(url)
    if scheme in ("http", "https"):
        return _look_at_page(url, endpoint)
    return _look_at_database(url, str(endpoint.get("password") or ""))


def _look_at_port(url: str) -> str:
    try:
        with socket.create_connection(_address(url) or ("", 0), timeout=block.seconds("each", 10)):
            return ""
    except OSError as error:
        return block_http.reason(error)


def _look_at_page(url: str, endpoint: Mapping[str, object]) -> str:
    headers = endpoint.get("headers")
    wanted = _texts(endpoint.get("statuses")) or ["2xx"]
    client = block_http.Client(block.seconds("each", 10), block.text("ca", ""))
    try:
        answer = client.ask(url, dict(headers) if isinstance(headers, dict) else {})
    except block_http.Unanswered as problem:
        return str(problem)
    if not block_http.is_expected(answer.status, wanted):
        return f"it answers with status {answer.status}, not {' or '.join(wanted)}"
    pattern = str(endpoint.get("body") or "")
    if pattern and not re.search(pattern, answer.body.decode(errors="replace")):
        return f"nothing in its body is as {pattern}"
    return ""


def _look_at_database(url: str, password: str) -> str:
    database = block_databases.postgres("endpoints", url, password, block.seconds("each", 10))
    try:
        database.psql("SELECT 1;")
    except block_databases.SaidNo as error:
        return error.text
    return ""


def _shown(endpoint: Mapping[str, object]) -> str:
    return block_http.shown(str(endpoint["url"]))


def _address(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        return (parts.hostname, parts.port) if parts.hostname and parts.port else None
    except ValueError:
        return None


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


if __name__ == "__main__":
    block.run(execute, block.nothing_to_undo)
