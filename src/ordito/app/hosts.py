"""List the hosts of an inventory: what they have, which instances have them, and what is still free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.used_spec import use_spec
from ordito.app.place import Place, place_of
from ordito.app.plugins import Plugins, plugins_of
from ordito.base.suggest import nearest
from ordito.ensemble.layout import Layout
from ordito.ensemble.store import read_ensemble
from ordito.providers.pool.allocations import Lost, PoolFailed
from ordito.providers.pool.fitting import Taken, left_of, owners_text, shown
from ordito.providers.pool.hosts import PoolHost
from ordito.providers.pool.provider import NAME, PoolProvider
from ordito.work.providing import Recorded, recorded_with

FREE, TAKEN, SHARED, LOST = "free", "taken", "shared", "lost"
"""The states of a host: no instance has it; it is taken; it is taken but has room; it could not be reached and is not
given out."""


class HostsRequest(msgspec.Struct, frozen=True):
    """The ensemble, the environment and the inventory (None if the command names none); ``names`` are the hosts, () for
    all."""

    directory: str
    environment: str | None = None
    hosts: str | None = None
    names: tuple[str, ...] = ()


class HostOwner(msgspec.Struct, frozen=True):
    """An instance, of the ensemble in a directory, that has a host."""

    instance: str
    ensemble: str


class HostEntry(msgspec.Struct, frozen=True):
    """A host of the inventory."""

    name: str
    address: str
    state: str
    """``FREE``, ``TAKEN``, ``SHARED`` or ``LOST``."""

    labels: Mapping[str, str] = {}
    os: Mapping[str, str] = {}
    has: Mapping[str, str] = {}
    """What it has, as texts."""

    left: Mapping[str, str] = {}
    """What is still free of that, as texts."""

    owners: tuple[HostOwner, ...] = ()
    why: str = ""
    """Why it is lost, "" if it is not."""

    since: str = ""
    """Since when it is lost."""

    remains: tuple[str, ...] = ()
    """The instances of which something may remain on it."""


class HostList(msgspec.Struct, frozen=True):
    """The hosts of an inventory, and its path."""

    inventory: str
    hosts: tuple[HostEntry, ...]


class Pool(msgspec.Struct, frozen=True):
    """The pool of an inventory, the names of the wanted hosts, and the plug-ins. ``recorded`` are the instances of the
    ensemble with a host of the pool, by id."""

    file: str
    provider: PoolProvider
    names: tuple[str, ...]
    plugins: Plugins
    ensemble: str = ""
    recorded: Mapping[str, Recorded] = {}


def open_pool(request: HostsRequest) -> Pool:
    """The pool that a command is about. Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``."""
    place = place_of(request.directory)
    with read_ensemble(request.directory) as ensemble:
        status = ensemble.status
        used = use_spec(place, ensemble.snapshot, status, request.environment, request.hosts)
        recorded = recorded_with(NAME, ensemble.snapshot) if used.is_own(status, request.hosts) else {}
    plugins = plugins_of(place.layout, used.inventory)
    found = plugins.providers.named(NAME)
    if not isinstance(found, PoolProvider) or not found.hosts:
        raise _no_hosts(place, used.inventory.file.shown)
    for name in request.names:
        if name not in found.hosts:
            near = nearest(name, found.hosts)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(list(found.hosts)[:12])}"
            raise Refused("unknown-host", f'{used.inventory.file.shown} has no host "{name}"', hint)
    names = tuple(dict.fromkeys(request.names)) or tuple(found.hosts)
    return Pool(used.inventory.file.shown, found, names, plugins, status.ensemble, recorded)


def _no_hosts(place: Place, file: str) -> Refused:
    if file:
        return Refused("no-hosts", f"{file} names no hosts", 'write them below "hosts:", as docs/hosts.md shows')
    return Refused(
        "no-inventory",
        f"{place.shown} has no inventory: every Compute is this machine",
        "name the hosts in hosts.yaml there, or give --hosts FILE; docs/hosts.md describes the file",
    )


def list_hosts(request: HostsRequest) -> HostList:
    """The hosts as recorded in the database of the pool and by the ensemble itself; none is connected to. Raises
    ``Refused``, ``InvalidDocument``, ``EnsembleError``."""
    pool = open_pool(request)
    taken, lost = read_books(pool)
    missing: dict[str, list[Taken]] = {}
    for one in pool.provider.missing(pool.ensemble, pool.recorded, taken):
        missing.setdefault(one.host, []).append(one)
    hosts = [pool.provider.hosts[name] for name in pool.names]
    has = {h.name: (*taken.get(h.name, ()), *missing.get(h.name, ())) for h in hosts}
    return HostList(pool.file, tuple(_entry(h, has[h.name], lost.get(h.name)) for h in hosts))


def read_books(pool: Pool) -> tuple[Mapping[str, Sequence[Taken]], Mapping[str, Lost]]:
    """The allocations by host, and the lost hosts. Raises ``Refused``."""
    try:
        return pool.provider.allocations.read()
    except PoolFailed as problem:
        raise broken_books(problem) from problem


def told(remains: Sequence[str]) -> str:
    """The instances of which something may remain on a host, for people."""
    return owners_text(remains)


def broken_books(problem: PoolFailed) -> Refused:
    """The refusal because the database of the pool cannot be used."""
    return Refused("broken-pool", str(problem), "give this user the right to use it, or put back a copy of it")


def _entry(host: PoolHost, taken: Sequence[Taken], lost: Lost | None) -> HostEntry:
    left = left_of(host, taken) if host.instances > 1 else {} if taken else left_of(host, ())
    state = FREE if not taken else TAKEN if len(taken) >= host.instances else SHARED
    return HostEntry(
        name=host.name,
        address="this machine" if host.is_local else host.address or "(elsewhere)",
        state=LOST if lost is not None else state,
        labels=host.labels,
        os=host.os,
        has={**{n: str(v) for n, v in host.host.items()}, **{n: f"{v:g}" for n, v in host.resources.items()}},
        left=dict(_shown(left)),
        owners=tuple(HostOwner(t.instance, t.place) for t in taken),
        why=lost.why if lost is not None else "",
        since=lost.since if lost is not None else "",
        remains=lost.remains if lost is not None else (),
    )


def _shown(left: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    for name, value in left.items():
        yield name, shown(name, max(value, 0.0))


# Take hosts back from instances that nobody can undeploy any more.


class Released(msgspec.Struct, frozen=True):
    """A host that was taken back, and the instance that had it."""

    name: str
    owners: tuple[HostOwner, ...]


def release_hosts(request: HostsRequest, *, force: bool = False) -> tuple[Released, ...]:
    """Take back the named hosts that instances have. An instance whose ensemble still exists keeps its host, unless
    with ``force``.

    Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``.
    """
    pool = open_pool(request)
    taken, _ = read_books(pool)
    released = [(name, taken[name]) for name in pool.names if taken.get(name)]
    living = [t for _, all_ in released for t in all_ if t.place and Layout(Path(t.place)).exists]
    if living and not force:
        raise Refused(
            "host-in-use",
            f"{living[0].host} belongs to {living[0].owner}, which still exists",
            f"undeploy it there: `ordito -e {living[0].place} undeploy`; or give --force if nothing runs on the host",
        )
    try:
        with pool.provider.allocations.change() as books:
            for _, all_ in released:
                for one in all_:
                    books.release(one.ensemble, one.instance)
    except PoolFailed as problem:
        raise broken_books(problem) from problem
    return tuple(Released(name, tuple(HostOwner(t.instance, t.place) for t in all_)) for name, all_ in released)
