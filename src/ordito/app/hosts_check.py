"""Connect to the hosts of an inventory: can each be reached, what is there, and is that what the inventory says?"""

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
"""What the look at one host may take, once it is reached."""
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
"""What a host is asked: any `sh` knows it. Sizes are in KiB."""
SYSTEM = ("type", "architecture", "distribution", "version")
KIB = ("mem_size", "disk_size")
SLACK = {"mem_size": 0.9, "disk_size": 0.9}
"""The part of what the inventory says that is enough: systems keep some of it for themselves."""


class Checked(msgspec.Struct, frozen=True):
    """What was found of a host: why it could not be reached ("" if it could); what is there (``has``, amounts as texts,
    and the properties of its ``os``), and which ``tools``; in what the inventory differs from it; the fingerprints of
    the keys that were ``accepted``; and of which instances something may remain on it, where it was lost before
    (``found_again``). ``open_keys`` are files of private keys for it that others may read."""

    name: str
    unreachable: str = ""
    has: Mapping[str, str] = {}
    os: Mapping[str, str] = {}
    tools: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    found_again: bool = False
    remains: tuple[str, ...] = ()
    open_keys: tuple[str, ...] = ()


def check_hosts(request: HostsRequest, *, accept_new: bool = False) -> tuple[Checked, ...]:
    """Check hosts, many at the same time. Those that can be reached again are given out again, when what ensembles that
    had them have left at work there was ended, and their folders were removed. With ``accept_new`` keys
    of hosts that are not known yet are written into the file of known keys.

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
    """What was found, and of which ensembles nothing is left on which hosts that were lost before."""
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
        return Checked(name, unreachable=f"{name} does not answer: a look at it took more than {SECONDS:g} s")
    if ran.status != 0:
        said = ran.err.decode(errors="replace").strip().splitlines()
        return Checked(name, unreachable=f"{name} runs no sh: {said[-1] if said else f'exit status {ran.status}'}")
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
    """In what the inventory promises more than there is, or something else."""
    for name, value in host.host.items():
        said = measure(name, value)
        if said is not None and name in amounts and amounts[name] < said * SLACK.get(name, 1.0):
            yield f"{name} is {shown(name, amounts[name])}, and the inventory says {value}"
    for name, text in host.os.items():
        if name in system and normal(name, text) != normal(name, system[name]):
            yield f"{name} is {system[name]}, and the inventory says {text}"


# ----------------------------------------------------------------------------------------------------- keys of hosts


def _known(target: HostTarget | None) -> frozenset[str]:
    """The lines of the file with the known keys that are about a host: at its port, where the inventory says it."""
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
"""What OpenSSH permits nobody but the owner of a key."""


def is_open(path: Path) -> bool:
    """Whether a file of this user can be used by others; that of somebody else is left to them, as by OpenSSH."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and bool(found.st_mode & OTHERS)


def open_keys(target: HostTarget) -> tuple[str, ...]:
    """The files of private keys by which a host and those on the way to it are reached, and that others may use."""
    return tuple(dict.fromkeys(file for file in _files(target.settings) if is_open(Path(file))))


def _files(settings: Mapping[str, object]) -> Iterator[str]:
    identity, jump = settings.get("identity"), settings.get("jump")
    # The text of a key is no file; it is sensitive.
    yield from (item for item in identity if isinstance(item, str)) if isinstance(identity, list | tuple) else ()
    for hop in jump if isinstance(jump, list | tuple) else ():
        if isinstance(hop, Mapping):
            yield from _files(hop)
