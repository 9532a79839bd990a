"""The first address of a range that nobody has."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection

from ordito.providers.cloud.dialect import Unsupported


def first_free(cidr: str, start: str, end: str, taken: Collection[str], first: int, last: int) -> str:
    """The first address from ``start`` to ``end`` ("" for the ends of the network) that is not taken; a cloud gives
    those of a network from its ``first`` to its ``last`` one. Raises ``Unsupported`` where there is none."""
    network = ipaddress.ip_network(cidr, strict=False)
    lowest, highest = network[first], network[last]
    begin = max(int(ipaddress.ip_address(start)) if start else int(lowest), int(lowest))
    finish = min(int(ipaddress.ip_address(end)) if end else int(highest), int(highest))
    for number in range(begin, min(finish, begin + len(taken)) + 1):
        address = str(ipaddress.ip_address(number))
        if address not in taken:
            return address
    raise Unsupported(f"no address from {start or lowest} to {end or highest} of the network {cidr} is free")
