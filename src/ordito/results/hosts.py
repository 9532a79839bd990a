"""The hosts of an inventory: what they have and who uses them, what a check has found, and those taken back."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.app.hosts import HostEntry, HostList, HostsRequest, Released, list_hosts
from ordito.app.hosts_check import Checked
from ordito.results.answer import Asked, ResultData, UseCase


class HostListData(ResultData, frozen=True, tag="ordito.hosts-list/1"):
    """The hosts of an inventory, and its path."""

    inventory: str
    hosts: tuple[HostEntry, ...]


class CheckedHostsData(ResultData, frozen=True, tag="ordito.hosts-check/1"):
    """What the check of each host has found."""

    hosts: tuple[Checked, ...]


class ReleasedHostsData(ResultData, frozen=True, tag="ordito.hosts-release/1"):
    """The hosts that were taken back, and from whom."""

    released: tuple[Released, ...]


def host_list_data(found: HostList) -> HostListData:
    """The hosts of an inventory."""
    return HostListData(found.inventory, found.hosts)


def checked_hosts_data(found: Sequence[Checked]) -> CheckedHostsData:
    """Hosts that were checked."""
    return CheckedHostsData(tuple(found))


def released_hosts_data(found: Sequence[Released]) -> ReleasedHostsData:
    """Hosts that were taken back."""
    return ReleasedHostsData(tuple(found))


class HostsAsked(Asked, frozen=True):
    """About the hosts of the inventory."""

    names: tuple[str, ...] = ()
    """The hosts, none for all."""

    environment: str | None = None
    """The environment, null for that of the ensemble."""


def _hosts(directory: str, asked: HostsAsked) -> HostListData:
    return host_list_data(list_hosts(HostsRequest(directory, asked.environment, names=asked.names)))


HOSTS = UseCase("hosts list", HostsAsked, (HostListData,), _hosts)
