"""Which part of a service a command is about: nodes and instances that it names, and whether anything new is made."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


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
