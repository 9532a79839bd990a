"""What the server itself may reach: URLs as they may be written, and what is refused, as problems of the API."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from ordito.server.problems import ApiProblem
from ordito.source import egress as hosts
from ordito.source.fetch import FetchFailed

LONGEST_URL = 2_000


def permitted_addresses(host: str, port: int, egress: Collection[str]) -> tuple[str, ...]:
    """The addresses of a host that may be reached, as in ``ordito.source.egress``. Raises ``ApiProblem``."""
    try:
        return hosts.permitted_addresses(host, port, egress)
    except FetchFailed as failed:
        raise ApiProblem("egress", failed.message, failed.hint) from failed


def check_listed(host: str, port: int, egress: Collection[str]) -> None:
    """Refuse a host that is not listed. Raises ``ApiProblem``."""
    try:
        hosts.check_listed(host, port, egress)
    except FetchFailed as failed:
        raise ApiProblem("egress", failed.message, failed.hint) from failed


def split_url(url: str, schemes: Collection[str]) -> SplitResult:
    """The parts of a URL that the server is to reach. Raises ``ApiProblem`` with a reason that shows nothing of it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _no_url("it is not one") from None
    if len(url) > LONGEST_URL:
        raise _no_url(f"it has more than {LONGEST_URL:,} characters")
    if parts.scheme not in schemes:
        raise _no_url(f"it must begin with {' or '.join(f'{one}://' for one in schemes)}")
    if not host or port == 0 or host.startswith("-") or "%" in host or re.search(r"[\x00-\x20\x7f-\x9f\\]", url):
        raise _no_url("it is not one")
    if parts.password or (parts.username and parts.scheme != "ssh"):
        raise _no_url("a user or a password in it would be shown")
    return parts


def port_of(parts: SplitResult) -> int:
    """The port that a URL means."""
    return parts.port or hosts.PORTS[parts.scheme]


def _no_url(reason: str) -> ApiProblem:
    return ApiProblem(
        "malformed", f"the URL cannot be used: {reason}", "write it whole, as in https://hooks.example.org/x"
    )
