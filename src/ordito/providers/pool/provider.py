"""The provider of Computes that are hosts of a pool."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from ordito.providers.connection import ssh_target
from ordito.providers.pool.allocations import Allocations, Books, PoolFailed
from ordito.providers.pool.choosing import CHECK, Choosing
from ordito.providers.pool.fitting import HostRequest, Taken, asking_of, owner_of, owners_text, takes
from ordito.providers.pool.hosts import PoolHost, read_hosts
from ordito.providers.registry import COMPUTE
from ordito.providers.shapes import InventorySection, NoValue
from ordito.work.providing import Delegation, Provided, ProviderFailed, ProviderFinding, Recorded
from ordito.work.targets import HOST, SSH, Hands, HostTarget, TargetRefused, Unreachable

T = TypeVar("T")
NAME = "pool"
REACH_SECONDS = 15.0
"""Seconds within which a host must answer a check."""


class PoolProvider:
    """Provides Computes as hosts of the inventory: nothing is created, a host is given to an instance and taken back.

    Each allocation is stored beside the inventory before the host is used, under the ids of the ensemble and the
    instance, so an instance has one host, however often it is created.
    """

    name = NAME
    protocol = SSH

    def __init__(self, section: InventorySection, hosts: Mapping[str, PoolHost], hands: Hands) -> None:
        self._section = section
        self._hands = hands
        self._turns = asyncio.Lock()
        self._targets: dict[str, HostTarget | None] = {}
        self._left: dict[str, str] = {}
        self._away: set[str] = set()
        self._keeps: dict[str, str] = {}
        self._promised: dict[str, Taken] = {}
        self.hosts = hosts
        self.allocations = Allocations(section.folder)

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a Compute, and the inventory has hosts."""
        return COMPUTE in kinds and bool(self.hosts)

    def takes(self, kinds: Sequence[str]) -> bool:
        """False: the hosts exist already."""
        return False

    # --------------------------------------------------------------------------------------------- making, removing

    async def create(self, asked: Delegation) -> Provided:
        """Give the instance a suitable host, or the one that it has. Raises ``ProviderFailed``, also if it was to give
        back its host and keeps it."""
        if asked.instance in self._keeps:
            raise ProviderFailed(self._keeps[asked.instance])
        if COMPUTE not in asked.kinds:
            raise ProviderFailed(self._no_compute(asked))
        try:
            asking = asking_of(asked.properties, asked.metadata)
            async with self._turns:
                # One after the other: who asks first gets the first host, in every job alike.
                host = await asyncio.to_thread(self._take, asked, asking)
            return Provided(self._attributes(host), f"host {host.name}")
        except (PoolFailed, NoValue) as problem:
            raise ProviderFailed(str(problem)) from problem

    def _take(self, asked: Delegation, asking: HostRequest) -> PoolHost:
        with self.allocations.change() as books:
            has = books.of(asked.ensemble, asked.instance)
            if has is not None:
                return self._known(has.host)
            taken, lost = books.taken(), books.lost()
            promised = self._with_promised(taken, asked.instance)
            host, _ = Choosing(self.hosts.values(), promised, lost, self._section.file).choose(asked, asking)
            if host is None:
                # Better one that was promised to another instance than none.
                host, problem = Choosing(self.hosts.values(), taken, lost, self._section.file).choose(asked, asking)
            if host is None:
                raise ProviderFailed(problem)
            self._promised.pop(asked.instance, None)
            books.take(_taking(asked, asking, host, self._section.ensemble))
            return host

    def remember(self, ensemble: str, has: Mapping[str, Recorded]) -> None:
        """Store allocations that the ensemble has recorded, and the database has not
        (``work.providing.KeepsBooks``)."""
        try:
            if not self._unwritten(ensemble, has, self.allocations.read()[0]):
                return
            with self.allocations.change() as books:
                for one in self._unwritten(ensemble, has, books.taken()):
                    books.release(one.ensemble, one.instance)
                    books.take(one)
        except PoolFailed as problem:
            raise ProviderFailed(str(problem)) from problem

    def _unwritten(
        self, ensemble: str, has: Mapping[str, Recorded], taken: Mapping[str, Sequence[Taken]]
    ) -> list[Taken]:
        """The recorded allocations that the database does not have, or has with a former directory of the ensemble."""
        place = self._section.ensemble
        known = {t.instance: t for on_host in taken.values() for t in on_host if t.ensemble == ensemble}
        moved = [msgspec.structs.replace(t, place=place) for n, t in known.items() if n in has and t.place != place]
        return [*moved, *self.missing(ensemble, has, taken)]

    def missing(self, ensemble: str, has: Mapping[str, Recorded], taken: Mapping[str, Sequence[Taken]]) -> list[Taken]:
        """The recorded allocations that the database (``taken``, by host) does not have."""
        known = {t.instance for on_host in taken.values() for t in on_host if t.ensemble == ensemble}
        hosts = {name: _host_of(one.attributes) for name, one in has.items() if name not in known}
        place = self._section.ensemble
        return [Taken(ensemble, n, has[n].node, host, place=place) for n, host in hosts.items() if host]

    def foresee(
        self, asked: Sequence[Delegation], going: Collection[str], has: Mapping[str, Recorded]
    ) -> dict[str, str]:
        """The instances for which there would be no host, with the reasons (``work.providing.Foresees``)."""
        try:
            taken, lost = self.allocations.read()
        except PoolFailed as failed:
            return {one.instance: str(failed) for one in asked}
        ensemble = asked[0].ensemble if asked else ""
        unwritten = self._unwritten(ensemble, has, taken) if ensemble else []
        again = {*going, *(one.instance for one in unwritten)}
        left = {h: [t for t in all_ if t.ensemble != ensemble or t.instance not in again] for h, all_ in taken.items()}
        for recorded in unwritten:
            if recorded.instance not in going:
                left.setdefault(recorded.host, []).append(recorded)
        placed = {t.instance for all_ in left.values() for t in all_ if t.ensemble == ensemble}
        choosing = Choosing(self.hosts.values(), left, lost, self._section.file)
        problems: dict[str, str] = {}
        for one in asked:
            if one.instance in placed:
                continue
            if COMPUTE not in one.kinds:
                problems[one.instance] = self._no_compute(one)
                continue
            asking = asking_of(one.properties, one.metadata)
            host, problem = choosing.choose(one, asking)
            if host is None:
                problems[one.instance] = problem
            else:
                choosing.take(_taking(one, asking, host, self._section.ensemble))
        return problems

    def _no_compute(self, asked: Delegation) -> str:
        """The message that the inventory names the pool as provider of a node that is no Compute."""
        kind = asked.kinds[0] if asked.kinds else "no type"
        return (
            f'the pool gives hosts to Computes, and {asked.node} is a {kind}: take it out of "provide" in'
            f" {self._section.file}, or name another provider there"
        )

    def _known(self, name: str) -> PoolHost:
        host = self.hosts.get(name)
        if host is None:
            raise ProviderFailed(
                f"it has the host {name}, which is no longer in {self._section.file}: put it back, or undeploy it"
            )
        return host

    async def delete(self, asked: Delegation) -> bool:
        """Take the host back; returns whether it is lost.

        A host that does not answer is lost: what ran on it counts as gone, and it is not given out again before it was
        reached. Raises ``Unreachable`` if it is there but refuses the login, and ``ProviderFailed`` if it did not
        answer the check and answers now: then it is not known what runs on it, and the instance keeps it.
        """
        taken, lost = await self._in_books(lambda books: (books.of(asked.ensemble, asked.instance), books.lost()))
        if taken is None:
            # It was taken back before, and its host may have been found to be lost then.
            before = lost.get(_host_of(asked.attributes))
            return before is not None and owner_of(asked.instance, self._section.ensemble) in before.remains
        # Where it was never told that it has the host, nothing can have run there.
        why = await self._before_giving_back(asked, taken.host) if _host_of(asked.attributes) else ""
        since = datetime.now(UTC).isoformat(timespec="seconds")

        def release(books: Books) -> None:
            books.release(asked.ensemble, asked.instance)
            if why:
                for instance in (asked.instance, *asked.on_it):
                    books.lose(taken.host, since, why, owner_of(instance, taken.place))
            if all(other.ensemble != asked.ensemble for other in books.on(taken.host)):
                # At once with the release, so that a job that is cut off here leaves it to the one that goes on.
                books.give_back(asked.ensemble, taken.host)

        await self._in_books(release)
        if why:
            self._left[asked.instance] = f"{taken.host} does not answer, and is not used before `{CHECK}"
            owners = owners_text([owner_of(instance, taken.place) for instance in (asked.instance, *asked.on_it)])
            self._left[asked.instance] += f" {taken.host}` succeeds: something of {owners} may remain there"
        return bool(why)

    async def _before_giving_back(self, asked: Delegation, name: str) -> str:
        """Why a host does not answer, "" if it does. Raises if it did not answer the check and answers now: then what
        is on it was not taken down, and must not be created a second time."""
        try:
            why = await self._unreachable(name)
        except TargetRefused as refused:
            self._keeps[asked.instance] = f"{asked.instance} keeps {name}, on which something may run: {refused}"
            raise
        if not why and asked.instance in self._away:
            again = f"{name} could not be reached and answers again: {asked.instance} keeps it, with everything on it"
            self._keeps[asked.instance] = again
            raise ProviderFailed(again)
        return why

    def left_behind(self, instance: str) -> str:
        """The message that something of an instance may remain on a lost host (``work.providing.LeavesBehind``)."""
        return self._left.get(instance, "")

    def given_back(self, ensemble: str) -> tuple[HostTarget, ...]:
        """The hosts on which the ensemble has only files any more (``work.providing.Lends``)."""
        try:
            names = self.allocations.read_given_back(ensemble)
        except PoolFailed as problem:
            raise ProviderFailed(str(problem)) from problem
        targets = []
        for name in names:
            with contextlib.suppress(Unreachable):
                targets.append(self.target_of(name))
        return tuple(target for target in targets if target is not None)

    def tidied(self, ensemble: str, hosts: Sequence[HostTarget]) -> None:
        """See ``work.providing.Lends``."""
        if not hosts:
            return
        try:
            with self.allocations.change() as books:
                books.forget_given_back(ensemble, [host.name for host in hosts])
        except PoolFailed as problem:
            raise ProviderFailed(str(problem)) from problem

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether the instance's host can be reached. Raises ``TargetRefused`` if it refuses the login; also if
        it does not answer, the instance would be replaced, and there is no other host for it."""
        taken = await self._in_books(lambda books: books.of(asked.ensemble, asked.instance))
        if taken is None and HOST not in asked.attributes and asked.attributes.get("private_address"):
            # It was made before there was an inventory, by who says nothing of itself.
            return ProviderFinding("ok", {}, "this machine")
        if taken is None:
            return ProviderFinding("absent", {}, "it has no host of the pool")
        why = await self._unreachable(taken.host)
        if why and asked.anew:
            async with self._turns:
                none = await asyncio.to_thread(self._no_other, asked, taken.host)
            if none:
                raise TargetRefused(f"{why}; {asked.instance} keeps it, because there is no other: {none}")
            self._away.add(asked.instance)
        if why:
            return ProviderFinding("error", {}, why)
        try:
            return ProviderFinding("ok", self._attributes(self.hosts[taken.host]), f"host {taken.host}")
        except NoValue as problem:
            raise ProviderFailed(str(problem)) from problem

    def _no_other(self, asked: Delegation, name: str) -> str:
        """Why there is no other host for an instance that has one, "" if there is: that host is promised to the
        instance for the rest of the job, so that no other check counts on it."""
        try:
            taken, lost = self.allocations.read()
        except PoolFailed as problem:
            raise ProviderFailed(str(problem)) from problem
        others = [host for host in self.hosts.values() if host.name != name]
        asking = asking_of(asked.properties, asked.metadata)
        choosing = Choosing(others, self._with_promised(taken, asked.instance), lost, self._section.file)
        host, none = choosing.choose(asked, asking)
        if host is not None:
            place = f"{self._section.ensemble}, which is also to be healed"
            self._promised[asked.instance] = _taking(asked, asking, host, place)
        return none

    def _with_promised(self, taken: Mapping[str, Sequence[Taken]], instance: str) -> dict[str, list[Taken]]:
        """The allocations, with the hosts that are promised to other instances."""
        found = {host: list(on_host) for host, on_host in taken.items()}
        for name, promised in self._promised.items():
            if name != instance:
                found.setdefault(promised.host, []).append(promised)
        return found

    async def _unreachable(self, name: str) -> str:
        """Why a host does not answer, "" if it does. Raises ``TargetRefused`` if it refuses the login."""
        try:
            target = self.target_of(name)
            if target is not None:
                await self._hands.run(target, ("true",), timeout=REACH_SECONDS)
        except TargetRefused:
            raise
        except Unreachable as unreachable:
            return str(unreachable)
        except TimeoutError:
            return f"{name} did not answer within {REACH_SECONDS:g} s"
        return ""

    async def _in_books(self, work: Callable[[Books], T]) -> T:
        def change() -> T:
            with self.allocations.change() as books:
                return work(books)

        try:
            return await asyncio.to_thread(change)
        except PoolFailed as problem:
            raise ProviderFailed(str(problem)) from problem

    # -------------------------------------------------------------------------------------------------- reaching

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """How the host of an instance is reached, with present credentials; None for this machine. Raises
        ``Unreachable``."""
        return self.target_of(_host_of(attributes))

    def target_of(self, name: str) -> HostTarget | None:
        """How a host is reached, with present credentials; None for this machine. Raises ``Unreachable``."""
        if name not in self._targets:
            host = self.hosts.get(name)
            if host is None:
                raise Unreachable(f"the host {name} is no longer in {self._section.file}: put it back, or undeploy")
            try:
                self._targets[name] = None if host.is_local else self._ssh_target(host, ())
            except NoValue as problem:
                raise TargetRefused(f"{name}: {problem}") from problem
        return self._targets[name]

    def _ssh_target(self, host: PoolHost, through: tuple[str, ...]) -> HostTarget:
        """The target of a host; its jump hosts are maps of settings, the first hop first."""
        target = ssh_target(host.name, self._section, host.settings)
        settings = {"address": host.address, **target.settings}
        if "jump" in settings:
            settings["jump"] = self._hops(str(settings["jump"]), (*through, host.name))
        return HostTarget(target.protocol, target.name, settings)

    def _hops(self, text: str, through: tuple[str, ...]) -> list[Mapping[str, object]]:
        hops: list[Mapping[str, object]] = []
        for word in (w.strip() for w in text.split(",")):
            if word in through:
                raise Unreachable(f"{through[0]} is reached through itself: {' -> '.join((*through, word))}")
            if word not in self.hosts:
                hops.append(_hop(word))
                continue
            settings = dict(self._ssh_target(self.hosts[word], through).settings)
            before = settings.pop("jump", ())
            hops += [*(before if isinstance(before, list) else ()), settings]
        return hops

    # ------------------------------------------------------------------------------------------------- attributes

    def _attributes(self, host: PoolHost) -> dict[str, object]:
        """The attributes of a Compute (§5.9.2.2) that is a host of the pool, and the name of that host."""
        target = self.target_of(host.name)
        address = "127.0.0.1" if target is None else str(target.settings.get("address") or host.name)
        own = host.attributes
        private = str(own.get("private_address", address))
        network = {"network_name": NAME, "network_id": NAME, "addresses": [private]}
        port = {"port_name": NAME, "network_id": NAME, "addresses": [private]}
        return {
            "private_address": private,
            "public_address": own.get("public_address", address),
            "networks": own.get("networks", {NAME: network}),
            "ports": own.get("ports", {NAME: port}),
            HOST: {"provider": NAME, "id": host.name},
        }


def _host_of(attributes: Mapping[str, object]) -> str:
    """The name of the host in the record of an instance, "" for none."""
    host = attributes.get(HOST)
    return str(host.get("id", "")) if isinstance(host, Mapping) else ""


def _taking(asked: Delegation, asking: HostRequest, host: PoolHost, place: str) -> Taken:
    amounts, resources = takes(asking)
    return Taken(asked.ensemble, asked.instance, asked.node, host.name, amounts, resources, place)


def _hop(text: str) -> dict[str, object]:
    """The settings of a jump host that is written as ``[user@]address[:port]``."""
    user, at, rest = text.rpartition("@")
    address, colon, port = rest.rpartition(":") if not rest.endswith("]") else (rest, "", "")
    if not (colon and port.isdecimal()):
        address, port = rest, ""
    found: dict[str, object] = {"address": address.strip("[]")}
    if at:
        found["user"] = user
    if port:
        found["port"] = int(port)
    return found


def make_provider(section: InventorySection, hands: Hands) -> PoolProvider:
    """The provider of the hosts of an inventory."""
    return PoolProvider(section, read_hosts(section), hands)
