"""Connect to the hosts of an inventory: whether each can be reached, what it has, and whether that agrees with the
inventory."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.app.hosts import HostsRequest, Pool, broken_books, open_pool, read_books
from ordito.executors.remote.executor import RemoteExecutor
from ordito.providers.pool.allocations import PoolFailed
from ordito.providers.pool.fitting import measure, normal, shown
from ordito.providers.pool.hosts import PoolHost
from ordito.work.targets import Hands, HostTarget, Unreachable

AT_ONCE = 16
"""Hosts that are checked at the same time."""
SECONDS = 30.0
"""Seconds that the check of one host may take, once it is reached."""
KNOWN_HOSTS = "~/.ssh/known_hosts"

LOOK = """\
echo "type=$(uname -s)"
echo "architecture=$(uname -m)"
if [ -r /etc/os-release ]; then
  . /etc/os-release
  echo "distribution=$ID"
  echo "version=$VERSION_ID"
fi
echo "num_cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null)"
[ -r /proc/meminfo ] && echo "mem_size=$(sed -n 's/^MemTotal: *\\([0-9]*\\) .*/\\1/p' /proc/meminfo)"
echo "disk_size=$(df -Pk . 2>/dev/null | sed -n '2s/^[^ ]* *\\([0-9]*\\) .*/\\1/p')"
for tool in sh bash python3; do
  command -v "$tool" >/dev/null 2>&1 && echo "tool=$tool"
done
exit 0
"""
"""The script for the check of a host, for any `sh`. Sizes are in KiB."""
SYSTEM = ("type", "architecture", "distribution", "version")
KIB = ("mem_size", "disk_size")
SLACK = {"mem_size": 0.9, "disk_size": 0.9}
"""The part of the amount in the inventory that is enough: operating systems keep some of it for themselves."""


class Checked(msgspec.Struct, frozen=True):
    """The result of the check of a host."""

    name: str
    unreachable: str = ""
    """Why it could not be reached, "" if it could."""

    has: Mapping[str, str] = {}
    """Its amounts, as texts."""

    os: Mapping[str, str] = {}
    """The properties of its operating system."""

    tools: tuple[str, ...] = ()
    """The interpreters that it has."""

    differences: tuple[str, ...] = ()
    """How it differs from the inventory."""

    accepted: tuple[str, ...] = ()
    """The fingerprints of the keys that were accepted."""

    found_again: bool = False
    """Whether it was lost before."""

    remains: tuple[str, ...] = ()
    """If it was lost, the instances of which something may remain on it."""

    open_keys: tuple[str, ...] = ()
    """The files of private keys for it that other users may read."""


def check_hosts(request: HostsRequest, *, accept_new: bool = False) -> tuple[Checked, ...]:
    """Check hosts, many at the same time. Lost hosts that can be reached again become free, after the processes that
    ensembles have left there were ended, and their folders removed. With ``accept_new``, keys of unknown hosts are
    added to the file of known keys.

    Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``.
    """
    pool = open_pool(request)
    _, lost = read_books(pool)
    try:
        left_behind: Mapping[str, Sequence[str]] = {}
        if lost:
            with pool.provider.allocations.change() as books:
                left_behind = books.left_behind()
        found, taken_back = asyncio.run(_check_all(pool, left_behind, accept_new=accept_new))
        pool.plugins.close()
        again = [one.name for one in found if not one.unreachable and one.name in lost]
        if again:
            with pool.provider.allocations.change() as books:
                for name in again:
                    books.find(name)
                for ensemble, name in taken_back:
                    books.forget_given_back(ensemble, (name,))
    except PoolFailed as problem:
        raise broken_books(problem) from problem
    return tuple(
        msgspec.structs.replace(one, found_again=True, remains=lost[one.name].remains) if one.name in again else one
        for one in found
    )


async def _check_all(
    pool: Pool, left_behind: Mapping[str, Sequence[str]], *, accept_new: bool
) -> tuple[list[Checked], list[tuple[str, str]]]:
    """The results, and for lost hosts the ensembles of which nothing remains there."""
    places, hands = asyncio.Semaphore(AT_ONCE), pool.plugins.hands
    taken_back: list[tuple[str, str]] = []

    async def one(name: str) -> Checked:
        async with places:
            found = await _check(pool, hands, name, accept_new=accept_new)
            target = None if found.unreachable else pool.provider.target_of(name)
            for ensemble in left_behind.get(name, ()) if target is not None else ():
                assert target is not None
                if await RemoteExecutor(pool.plugins.connectors, ensemble).take_back(target):
                    taken_back.append((ensemble, name))
            return found

    async with pool.plugins.connected():
        return await asyncio.gather(*(one(name) for name in pool.names)), taken_back


async def _check(pool: Pool, hands: Hands, name: str, *, accept_new: bool) -> Checked:
    found = await _looked(pool, hands, name, accept_new=accept_new)
    try:
        target = pool.provider.target_of(name)
    except Unreachable:
        return found
    return msgspec.structs.replace(found, open_keys=open_keys(target)) if target is not None else found


async def _looked(pool: Pool, hands: Hands, name: str, *, accept_new: bool) -> Checked:
    try:
        target = pool.provider.target_of(name)
        before: frozenset[str] = frozenset()
        if target is not None:
            if accept_new and target.settings.get("host_key_check", "strict") == "strict":
                target = HostTarget(target.protocol, target.name, {**target.settings, "host_key_check": "accept-new"})
            before = _known(target)
        ran = await hands.run(target, ("sh", "-c", LOOK), timeout=SECONDS)
    except Unreachable as unreachable:
        return Checked(name, unreachable=str(unreachable))
    except TimeoutError:
        return Checked(name, unreachable=f"{name} does not answer: checking it took more than {SECONDS:g} s")
    if ran.status != 0:
        said = ran.err.decode(errors="replace").strip().splitlines()
        return Checked(name, unreachable=f"{name} cannot run sh: {said[-1] if said else f'exit status {ran.status}'}")
    accepted = tuple(_fingerprints(_known(target) - before)) if target is not None else ()
    return _seen(pool.provider.hosts[name], ran.out.decode(errors="replace"), accepted)


def _seen(host: PoolHost, text: str, accepted: tuple[str, ...]) -> Checked:
    pairs = [line.partition("=")[::2] for line in text.splitlines() if "=" in line]
    tools = tuple(value for key, value in pairs if key == "tool")
    found = {key: value for key, value in pairs if value and key != "tool"}
    amounts = {key: value for key in ("num_cpus", *KIB) if (value := _amount(key, found.get(key, ""))) is not None}
    system = {key: value for key, value in found.items() if key in SYSTEM}
    return Checked(
        host.name,
        has={key: shown(key, value) for key, value in amounts.items()},
        os=system,
        tools=tools,
        differences=tuple(_differences(host, amounts, system)),
        accepted=accepted,
    )


def _amount(name: str, text: str) -> float | None:
    if not text.isdecimal():
        return None
    return float(text) * (1024 if name in KIB else 1)


def _differences(host: PoolHost, amounts: Mapping[str, float], system: Mapping[str, str]) -> Iterator[str]:
    """Where the inventory promises more than the host has, or something else."""
    for name, value in host.host.items():
        said = measure(name, value)
        if said is not None and name in amounts and amounts[name] < said * SLACK.get(name, 1.0):
            yield f"{name} is {shown(name, amounts[name])}, but the inventory says {value}"
    for name, text in host.os.items():
        if name in system and normal(name, text) != normal(name, system[name]):
            yield f"{name} is {system[name]}, but the inventory says {text}"


# ----------------------------------------------------------------------------------------------------- keys of hosts


def _known(target: HostTarget | None) -> frozenset[str]:
    """The lines of the file of known keys about a host; at its port, if the inventory has one."""
    if target is None:
        return frozenset()
    path = Path(str(target.settings.get("known_hosts") or KNOWN_HOSTS)).expanduser()
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    address, port = str(target.settings.get("address", "")), target.settings.get("port")
    place = re.compile(rf"\[{re.escape(address)}\]:{port or '[0-9]+'}")

    def is_meant(name: str) -> bool:
        return (name == address and port in (None, 22)) or place.fullmatch(name) is not None

    return frozenset(line for line in lines if any(map(is_meant, line.partition(" ")[0].split(","))))


def _fingerprints(lines: frozenset[str]) -> Iterator[str]:
    for line in sorted(lines):
        words = line.split()
        if len(words) >= 3:
            digest = hashlib.sha256(base64.b64decode(words[2])).digest()
            yield f"{words[0]} {words[1]} SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


# Files of private keys that others may read: OpenSSH uses no such key, so what works here would not work with it.

OTHERS = 0o077
"""The permission bits that the file of a key must not have for OpenSSH."""


def is_open(path: Path) -> bool:
    """Whether a file of this user can be accessed by other users; files of other users are not checked, as in
    OpenSSH."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and bool(found.st_mode & OTHERS)


def open_keys(target: HostTarget) -> tuple[str, ...]:
    """The files of private keys for a host and its jump hosts that other users may read."""
    return tuple(dict.fromkeys(file for file in _files(target.settings) if is_open(Path(file))))


def _files(settings: Mapping[str, object]) -> Iterator[str]:
    identity, jump = settings.get("identity"), settings.get("jump")
    # The text of a key is no file; it is sensitive.
    yield from (item for item in identity if isinstance(item, str)) if isinstance(identity, list | tuple) else ()
    for hop in jump if isinstance(jump, list | tuple) else ():
        if isinstance(hop, Mapping):
            yield from _files(hop)
