"""What the server may reach: only hosts that the setting `egress` lists, at addresses that were looked at first."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from ordito.server.problems import ApiProblem

PORTS = {"http": 80, "https": 443, "ssh": 22}
MOST_ADDRESSES = 16
PRIVATE = ":private"
"""The end of an entry whose name may lead to private addresses."""

LONGEST_URL = 2_000

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def permitted_addresses(host: str, port: int, egress: Collection[str]) -> tuple[str, ...]:
    """The addresses of a host that may be reached, in the order in which they are to be tried. Whoever connects takes
    one of them, and does not resolve the name once more. It waits for the resolver, so it is called in a thread.

    An entry of ``egress`` is a host for the usual ports, or ``host:port``. Who serves the name decides where it leads,
    so it may lead to this machine and to private networks only where the entry ends in ``:private``, or where the
    address itself is listed. No name may lead to an address that is link-local, unspecified or multicast, as are those
    at which clouds give out credentials: such an address must be listed itself. All addresses of a name must be
    permitted.

    Raises ``ApiProblem``.
    """
    check_listed(host, port, egress)
    plain = normal_host(host)
    try:
        found = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        hint = "check the name, and whether the server's machine can resolve it"
        raise ApiProblem("egress", f"{host} cannot be resolved: {_reason(error)}", hint) from None
    addresses = tuple(dict.fromkeys(str(one[4][0]) for one in found))[:MOST_ADDRESSES]
    for text in addresses:
        address = _unmapped(text)
        if _is_private(address) and str(address) != plain and not _entries(plain, port) & _private_ones(egress):
            hint = f'an administrator can permit it: `egress: [ "{_named(plain, port)}{PRIVATE}" ]` in server.yaml'
            raise ApiProblem("egress", f"{host} has the address {address}, which is one of a private network", hint)
        if _is_special(address) and str(address) != plain:
            hint = "list the address itself in `egress` of server.yaml if that is really meant"
            raise ApiProblem("egress", f"{host} has the address {address}, which no name may lead to", hint)
    return addresses


def check_listed(host: str, port: int, egress: Collection[str]) -> None:
    """Refuse a host that is not listed. Raises ``ApiProblem``."""
    plain = normal_host(host)
    if not _entries(plain, port) & {_entry(one.removesuffix(PRIVATE)) for one in egress}:
        named = _named(plain, port)
        named = f'"{named}"' if ":" in named else named
        hint = f"an administrator can permit it: `egress: [ {named} ]` in server.yaml"
        raise ApiProblem("egress", f"{host} port {port} is nothing that this server may reach", hint)


def _entries(plain: str, port: int) -> set[str]:
    """The entries that permit a host."""
    return {f"{bracketed(plain)}:{port}", *([plain] if port in PORTS.values() else [])}


def _named(plain: str, port: int) -> str:
    return plain if port in PORTS.values() else f"{bracketed(plain)}:{port}"


def _private_ones(egress: Collection[str]) -> set[str]:
    """The entries whose names may lead to private addresses."""
    return {_entry(one.removesuffix(PRIVATE)) for one in egress if one.endswith(PRIVATE)}


def normal_host(host: str) -> str:
    """A host as it is compared: in small letters, without a dot at its end, an address in its usual spelling."""
    plain = host.strip("[]").rstrip(".").lower()
    try:
        return str(_unmapped(plain))
    except ValueError:
        pass
    try:
        return plain.encode("idna").decode("ascii") if not plain.isascii() else plain
    except UnicodeError:
        return plain


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


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
    return parts.port or PORTS[parts.scheme]


def _no_url(reason: str) -> ApiProblem:
    return ApiProblem(
        "malformed", f"the URL cannot be used: {reason}", "write it whole, as in https://hooks.example.org/x"
    )


def _entry(text: str) -> str:
    """An entry of the setting as it is compared."""
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and (":" not in host or host.startswith("[")):
        return f"{bracketed(normal_host(host))}:{int(port)}"
    return normal_host(text)


def _unmapped(text: str) -> _Address:
    """An address; an IPv4 one that is written as IPv6 as what it is."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses that a gateway leads to the IPv4 address in them."""


_PRIVATE_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7",
         "fec0::/10"),
    )
)  # fmt: skip
"""The addresses of this machine, of networks of one's own, and of those of providers."""


def _is_private(address: _Address) -> bool:
    return any(address in network for network in _PRIVATE_NETWORKS)


def _is_special(address: _Address) -> bool:
    return address.is_link_local or address.is_multicast or address.is_unspecified or address in METADATA


METADATA = frozenset({ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")})
"""Addresses at which clouds tell machines their credentials, besides the link-local one."""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
