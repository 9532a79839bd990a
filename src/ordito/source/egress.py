"""What a server may reach: only hosts that the setting `egress` lists, at addresses that were looked at first.

It is the same for what the server reaches itself (webhooks, repositories that ensembles follow) and for what processes
reach that read documents for it.
"""

from __future__ import annotations

import ipaddress
import shlex
import socket
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ordito.base.git_places import git_place, is_in_git
from ordito.source.fetch import FetchFailed
from ordito.source.reach import listed_hosts

PORTS = {"http": 80, "https": 443, "ssh": 22}
MOST_ADDRESSES = 16
PRIVATE = ":private"
"""The end of an entry whose name may lead to private addresses."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def permitted_addresses(host: str, port: int, egress: Collection[str]) -> tuple[str, ...]:
    """The addresses of a host that may be reached, in the order in which they are to be tried. Whoever connects takes
    one of them, and does not resolve the name once more. It waits for the resolver, so it is called in a thread.

    An entry of ``egress`` is a host for the usual ports, or ``host:port``. Who serves the name decides where it leads,
    so it may lead to this machine and to private networks only where the entry ends in ``:private``, or where the
    address itself is listed. No name may lead to an address that is link-local, unspecified or multicast, as are those
    at which clouds give out credentials: such an address must be listed itself. All addresses of a name must be
    permitted.

    Raises ``FetchFailed``.
    """
    check_listed(host, port, egress)
    plain = normal_host(host)
    try:
        found = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        hint = "check the name, and whether the server's machine can resolve it"
        raise FetchFailed(f"{host} cannot be resolved: {_reason(error)}", hint) from None
    addresses = tuple(dict.fromkeys(str(one[4][0]) for one in found))[:MOST_ADDRESSES]
    for text in addresses:
        address = _unmapped(text)
        if _is_private(address) and str(address) != plain and not _entries(plain, port) & _private_ones(egress):
            hint = f'an administrator can permit it: `egress: [ "{_named(plain, port)}{PRIVATE}" ]` in server.yaml'
            raise FetchFailed(f"{host} has the address {address}, which is one of a private network", hint)
        if _is_special(address) and str(address) != plain:
            hint = "list the address itself in `egress` of server.yaml if that is really meant"
            raise FetchFailed(f"{host} has the address {address}, which no name may lead to", hint)
    return addresses


def check_listed(host: str, port: int, egress: Collection[str]) -> None:
    """Refuse a host that is not listed. Raises ``FetchFailed``."""
    if not is_listed(host, port, egress):
        named = _named(normal_host(host), port)
        named = f'"{named}"' if ":" in named else named
        hint = f"an administrator can permit it: `egress: [ {named} ]` in server.yaml"
        raise FetchFailed(f"{host} port {port} is nothing that this server may reach", hint)


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


def is_listed(host: str, port: int, egress: Collection[str]) -> bool:
    """Whether a host is listed."""
    return bool(_entries(normal_host(host), port) & {_entry(one.removesuffix(PRIVATE)) for one in egress})


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


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


def check_host(url: str) -> None:
    """Raise ``FetchFailed`` for a URL, also of a git repository, from which nothing may be fetched."""
    if (egress := listed_hosts()) is not None:
        _listed_host(url, egress)


def addresses_of(url: str) -> tuple[str, ...] | None:
    """The addresses to which this process may connect for a URL, also of a git repository; None where it is not
    confined, and where a proxy that the environment names connects in its place, and so resolves the name. It waits for
    the resolver. Raises ``FetchFailed``."""
    egress = listed_hosts()
    if egress is None:
        return None
    scheme, name, port = _listed_host(url, egress)
    return None if _has_proxy(scheme, name, port) else permitted_addresses(name, port, egress)


def _listed_host(url: str, egress: Collection[str]) -> tuple[str, str, int]:
    """The scheme, the host and the port of a URL. Raises ``FetchFailed`` where these are not listed."""
    try:
        parts = urlsplit(git_place(url).repository if is_in_git(url) else url)
        name, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise FetchFailed("this is not a valid URL") from None
    usual = PORTS.get(parts.scheme)
    if usual is None or not name:
        raise FetchFailed("a server fetches nothing from its own machine", "put the file into the package")
    if not is_listed(name, port or usual, egress):
        raise FetchFailed(
            f"this server fetches nothing from {name}{f':{port}' if port else ''}",
            "put the file into the package, or let an administrator list the host as `egress` in server.yaml",
        )
    return parts.scheme, name, port or usual


def _has_proxy(scheme: str, name: str, port: int) -> bool:
    proxies = getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and scheme != "ssh" and not proxy_bypass(f"{name}:{port}")


def git_to(repository: str, addresses: Sequence[str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Settings and environment variables by which git connects to these addresses for the host of a repository, and
    resolves its name no more. The key of a host of SSH is the one that is known for its name."""
    parts = urlsplit(repository)
    host = parts.hostname or ""
    if parts.scheme in ("http", "https"):
        if ":" in host:
            return {}, {}
        port = parts.port or PORTS[parts.scheme]
        return {"http.curloptResolve": f"{host}:{port}:{','.join(map(bracketed, addresses))}"}, {}
    if parts.scheme != "ssh":
        return {}, {}
    known = host if parts.port in (None, PORTS["ssh"]) else f"[{host}]:{parts.port}"
    said = {"BatchMode": "yes", "StrictHostKeyChecking": "yes", "ProxyCommand": "none", "ConnectTimeout": "15"}
    said |= {"ServerAliveInterval": "15", "HostKeyAlias": known, "HostName": addresses[0]}
    words = [word for name, value in said.items() for word in ("-o", f"{name}={value}")]
    return {}, {"GIT_SSH_COMMAND": shlex.join(["ssh", *words]), "GIT_SSH_VARIANT": "ssh"}
