"""Take hosts back from instances that nobody can undeploy any more."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.hosts import HostsRequest, Owner, broken_books, open_pool, read_books
from ordito.ensemble.layout import Layout
from ordito.providers.pool.allocations import PoolFailed


class Released(msgspec.Struct, frozen=True):
    """A host that was taken back, and from whom."""

    name: str
    owners: tuple[Owner, ...]


def release_hosts(request: HostsRequest, *, force: bool = False) -> tuple[Released, ...]:
    """Take back the hosts that are named; those that nobody has are left out. An instance whose ensemble is still
    there keeps its host, unless with ``force``.

    Raises ``Refused``, ``InvalidDocument`` and ``EnsembleError``.
    """
    pool = open_pool(request)
    taken, _ = read_books(pool)
    released = [(name, taken[name]) for name in pool.names if taken.get(name)]
    living = [t for _, all_ in released for t in all_ if t.place and Layout(Path(t.place)).exists]
    if living and not force:
        raise Refused(
            "host-in-use",
            f"{living[0].host} belongs to {living[0].owner}, which is still there",
            f"undeploy it there: `ordito -e {living[0].place} undeploy`; or give --force if nothing runs on the host",
        )
    try:
        with pool.provider.allocations.change() as books:
            for _, all_ in released:
                for one in all_:
                    books.release(one.ensemble, one.instance)
    except PoolFailed as problem:
        raise broken_books(problem) from problem
    return tuple(Released(name, tuple(Owner(t.instance, t.place) for t in all_)) for name, all_ in released)
