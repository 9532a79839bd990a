"""Which part of a service a command is about: nodes and instances that it names, and whether anything new is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.names import INSTANCE, NODE, Names
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.options import Part, PlanOptions


class GivenPart(msgspec.Struct, frozen=True):
    """All instances of ``nodes`` and the ``instances`` of others; of everything, where neither is named. With
    ``skip_new`` no instance is made of which there is nothing yet."""

    nodes: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    skip_new: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it is everything."""
        return self == EVERYTHING

    @property
    def told(self) -> dict[str, object]:
        """What was said of it, by the names of options, as it is kept with a job."""
        said = {"node": list(self.nodes), "instance": list(self.instances), "skip_new": self.skip_new}
        return {name: value for name, value in said.items() if value}

    @property
    def words(self) -> tuple[str, ...]:
        """The options by which a command is told of it."""
        named = [*(("--node", n) for n in self.nodes), *(("--instance", i) for i in self.instances)]
        words = [word for pair in named for word in pair]
        return (*words, "--skip-new") if self.skip_new else tuple(words)


EVERYTHING = GivenPart()


def part_as_told(said: Mapping[str, object]) -> GivenPart:
    """What was kept with a job, as it was given."""

    def names(key: str) -> tuple[str, ...]:
        found = said.get(key)
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    return GivenPart(names("node"), names("instance"), said.get("skip_new") is True)


def with_part(options: PlanOptions, given: GivenPart, service: Service, snapshot: Snapshot) -> PlanOptions:
    """What planning is told of the part. Raises ``Refused`` for names that mean nothing, and where the template has a
    way of its own to do it, which is for everything."""
    if given.is_all:
        return options
    if options.written:
        raise Refused(
            "own-workflow-whole",
            f'workflow "{options.written}" of the template does this, and it is not for a part of the service',
            f"leave out {' '.join(given.words)}",
        )
    names = Names(service, snapshot, deleted=True)
    nodes = frozenset(names.find(f"{NODE}{n.removeprefix(NODE)}").node for n in given.nodes)
    instances = frozenset(names.find(f"{INSTANCE}{i.removeprefix(INSTANCE)}").instance for i in given.instances)
    if not (nodes or instances):
        nodes = frozenset(service.nodes)
    return dataclasses.replace(options, part=Part(nodes, instances, given.skip_new))
