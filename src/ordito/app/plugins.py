"""Who carries out operations and makes nodes: what comes with the program."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordito.ensemble.layout import Layout
from ordito.executors.registry import local_executors
from ordito.providers.registry import local_providers
from ordito.work.invocation import Executor
from ordito.work.providing import Provider

SCRATCH = "scratch"


class Plugins(msgspec.Struct, frozen=True):
    """The executors and providers of one ensemble."""

    executors: tuple[Executor, ...]
    providers: tuple[Provider, ...]

    def accepts(self, kinds: Sequence[str]) -> bool:
        """Whether some executor processes an artifact of these types."""
        return any(executor.accepts(kinds) for executor in self.executors)

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether some provider makes nodes of these types."""
        return any(provider.provides(kinds) for provider in self.providers)


def plugins_of(layout: Layout) -> Plugins:
    """What is at hand for an ensemble; nothing is made on disk before an operation runs."""
    return Plugins(local_executors(layout.private / SCRATCH), local_providers())
