"""What a declarative workflow must run, and in which order: written from the documented lifecycle (docs/lifecycle.md),
not from the code, and asked about what an executor saw.

An instance that comes (is made or started) has a chain *up*, one that goes (is removed or stopped) a chain *down*, and
one that is healed both. A link operation belongs to the chain of its source where the source comes or goes, else it
stands between the chain of its target, all of it, and those of the instances that depend on the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from ordito.instances.records import Instance
from tests.support.random_topologies import Nodes

KINDS = ("hosted_on", "needs", "connects")

LINK = ("add_target", "add_source", "source.establish", "target.establish")
UNDO = ("remove_target", "remove_source")
UNLINK = ("source.unlink", "target.unlink")
UP_TO_START = (("start",), ("lifecycle.start",), ("monitoring_agent.install",), ("monitoring_agent.start",))
WATCH = (("monitor_start",), ("monitoring.start",))
UNWATCH = (("monitor_stop",), ("monitoring.stop",), ("monitoring_agent.stop",), ("monitoring_agent.uninstall",))

MAKE = (
    ("create",),
    ("lifecycle.create",),
    ("source.preconfigure", "target.preconfigure"),
    ("pre_configure_source", "pre_configure_target"),
    ("configure",),
    ("lifecycle.configure",),
    ("post_configure_source", "post_configure_target"),
    ("source.postconfigure", "target.postconfigure"),
    *UP_TO_START,
    LINK,
    *WATCH,
)
LINK_AGAIN = ("add_target", "add_source")
"""What stopping undoes, and starting does again."""
START = (*UP_TO_START, LINK_AGAIN, *WATCH)
REMOVE = (*UNWATCH, UNDO, ("stop",), ("lifecycle.stop",), UNLINK, ("delete",), ("lifecycle.delete",))
STOP = (*UNWATCH, UNDO, ("stop",), ("lifecycle.stop",))
Chains = Mapping[str, tuple[tuple[str, ...], ...]]

PAIR = frozenset(
    {*LINK, *UNDO, *UNLINK, *(f"{s}.{o}" for s in ("source", "target") for o in ("preconfigure", "postconfigure"))}
)
IN_PAIR = (
    ("source.preconfigure", "target.preconfigure"),
    ("source.postconfigure", "target.postconfigure"),
    LINK,
    (*UNDO, *UNLINK),
)
"""The operations of one pair, in order."""
ALWAYS_BEGIN = frozenset({"pre_configure_source", *LINK})
BEGIN_WITH_SOURCE = frozenset({"source.preconfigure", "target.preconfigure"})
"""The operations that begin a pair: whenever it is made, and only where it is made with its source."""


class Requirement(msgspec.Struct, frozen=True):
    """One requirement of a node: its place, its name, the relationship's operations."""

    source: str
    target: str
    place: int
    name: str
    is_hosting: bool
    operations: tuple[str, ...]


class Run(msgspec.Struct, frozen=True):
    """One operation that is to run: in which part of the chain of ``owner``; of a pair with its link."""

    step: str
    operation: str
    owner: str
    is_up: bool
    part: int
    on: str
    link: tuple[str, str, int] | None = None


class Expected:
    """What must run when some instances come and some go. ``instances`` are all that exist before or after; those that
    are ``later`` were made when what depends on them was there already."""

    def __init__(
        self,
        nodes: Nodes,
        instances: Iterable[Instance],
        *,
        up: Chains | None = None,
        down: Chains | None = None,
        later: Iterable[str] = (),
    ) -> None:
        self.nodes = nodes
        self.instances = {i.id: i for i in instances}
        self.up, self.down = dict(up or {}), dict(down or {})
        self.later = frozenset(later)
        self.requirements = {name: list(_requirements(name, node)) for name, node in nodes.items()}
        self.runs: dict[str, Run] = {}
        for instance, chain in self.up.items():
            self._of_instance(instance, chain, is_up=True)
        for instance, chain in self.down.items():
            self._of_instance(instance, chain, is_up=False)
        for source, target, requirement in self.pairs():
            self._of_pair(source, target, requirement)

    # -------------------------------------------------------------------------------------------------- what runs

    def pairs(self) -> Iterator[tuple[str, str, Requirement]]:
        """All pairs of instances of all requirements."""
        for instance in self.instances.values():
            for requirement in self.requirements[instance.node]:
                for target in self.targets(instance, requirement):
                    yield instance.id, target, requirement

    def targets(self, instance: Instance, requirement: Requirement) -> list[str]:
        """The instances that one depends on by a requirement."""
        if requirement.is_hosting:
            return [instance.host]
        return [i.id for i in self.instances.values() if i.node == requirement.target]

    def fallen_with(self, chosen: Iterable[str]) -> set[str]:
        """The instances that cannot stay up when some are stopped: what they host, and what requires a node of which no
        other instance stays up."""
        fallen = set(chosen)
        while True:
            staying = {i.node for i in self.instances.values() if i.id not in fallen}
            more = {
                source
                for source, target, requirement in self.pairs()
                if target in fallen and (requirement.is_hosting or requirement.target not in staying)
            }
            if more <= fallen:
                return fallen
            fallen |= more

    def contained_with(self, chosen: str) -> set[str]:
        """The nearest Compute that contains an instance, else the instance itself, with all that this contains."""
        outermost = current = chosen
        while current and not self.nodes[self.instances[current].node].get("compute"):
            current = self.instances[current].host
        found = {current or outermost}
        while more := {i.id for i in self.instances.values() if i.host in found} - found:
            found |= more
        return found

    def _of_instance(self, instance: str, chain: tuple[tuple[str, ...], ...], *, is_up: bool) -> None:
        own = list(self._operations_on(instance))
        for part, operations in enumerate(chain):
            for operation, step in own:
                if operation in operations:
                    self.runs[step] = Run(step, operation, instance, is_up, part, instance)

    def _operations_on(self, instance: str) -> Iterator[tuple[str, str]]:
        """The implemented operations of an instance itself and once per relationship, each with the id of its step."""
        name = self.instances[instance].node
        node = self.nodes[name]
        yield from ((o, f"{instance}.Standard.{o}") for o in node.get("runs", "").split())
        yield from ((o, f"{instance}.Maintain.{o}") for o in node.get("maintain", "").split())
        yield from ((o, f"{instance}.cloudify.interfaces.{o}") for o in node.get("cloudify", "").split())
        for requirement in (r for requirements in self.requirements.values() for r in requirements):
            key = f"{requirement.source}.{requirement.name}"
            for operation in requirement.operations:
                at_source = operation.endswith("configure_source") and requirement.source == name
                if at_source or (operation.endswith("configure_target") and requirement.target == name):
                    yield operation, f"{instance}.{key}.Configure.{operation}"

    def _of_pair(self, source: str, target: str, requirement: Requirement) -> None:
        """Of a pair whose source stays only what links it, or undoes the link, runs; nothing is undone that was never
        begun."""
        stops, starts = self.down.get(target) == STOP, self.up.get(target) == START
        for chains, is_up, stays in (
            (self.up, True, LINK_AGAIN if starts else LINK),
            (self.down, False, UNDO if stops else (*UNDO, *UNLINK)),
        ):
            if not is_up and not self._was_begun(source, target, requirement):
                continue
            if source in chains:
                for part, operations in enumerate(chains[source]):
                    self._pair_runs(source, target, requirement, operations, is_up=is_up, part=part)
            elif target in chains:
                self._pair_runs(source, target, requirement, stays, is_up=is_up, part=-1)

    def _was_begun(self, source: str, target: str, requirement: Requirement) -> bool:
        own = set(requirement.operations)
        if not own & (ALWAYS_BEGIN | BEGIN_WITH_SOURCE):
            return True
        if target in self.later and source not in self.later:
            # What its source did once, for all pairs, says nothing of it where others are begun one by one.
            return bool(own & set(LINK)) or not own & BEGIN_WITH_SOURCE
        return True

    def _pair_runs(
        self, source: str, target: str, requirement: Requirement, words: tuple[str, ...], *, is_up: bool, part: int
    ) -> None:
        for operation in words:
            if operation in requirement.operations and operation in PAIR:
                word = operation if "." in operation else f"Configure.{operation}"
                step = f"{source}.{requirement.name}.{target}.{word}"
                at_source = operation.startswith("source.") or operation.endswith("_target")
                place = (source, target, requirement.place)
                self.runs[step] = Run(step, operation, source, is_up, part, source if at_source else target, place)

    # ------------------------------------------------------------------------------------------------- the order

    def check(self, log: Iterable[tuple[str, bool]]) -> None:
        """That exactly what must run has run, each operation after all that it has to wait for. Raises
        ``AssertionError``."""
        began: dict[str, int] = {}
        ended: dict[str, int] = {}
        for moment, (step, is_end) in enumerate(log):
            known = ended if is_end else began
            assert step not in known, f"{step} twice"
            known[step] = moment
        assert set(began) == set(self.runs), _difference(set(began), set(self.runs))
        for before, after in self.edges():
            assert ended[before] < began[after], f"{after} began before {before} had ended"
        self._one_at_a_time(log)

    def edges(self) -> Iterator[tuple[str, str]]:
        """Every pair of operations of which the first must have ended before the second begins."""
        chains: dict[tuple[str, bool], list[Run]] = {}
        between: list[Run] = []
        for run in self.runs.values():
            if run.part < 0:
                between.append(run)
            else:
                chains.setdefault((run.owner, run.is_up), []).append(run)
        for runs in chains.values():
            yield from ((a.step, b.step) for a in runs for b in runs if a.part < b.part)
            yield from _links_in_order(runs)
        for instance in self.instances:
            up, down = chains.get((instance, True), []), chains.get((instance, False), [])
            yield from _all(down, up)
        for source, target, _ in self.pairs():
            yield from _all(chains.get((target, True), []), chains.get((source, True), []))
            yield from _all(chains.get((source, False), []), chains.get((target, False), []))
        yield from self._between(between, chains)

    def _between(self, between: list[Run], chains: dict[tuple[str, bool], list[Run]]) -> Iterator[tuple[str, str]]:
        """Links whose source stays."""
        for run in between:
            assert run.link is not None
            source, target, _ = run.link
            depending = [s for s, t, _ in self.pairs() if t == source]
            if run.is_up:
                yield from _all(chains.get((target, True), []), [run])
                for other in depending:
                    yield from _all([run], chains.get((other, True), []))
            else:
                yield from _all([run], chains.get((target, False), []))
                for other in depending:
                    yield from _all(chains.get((other, False), []), [run])
        by_source: dict[tuple[str, bool], list[Run]] = {}
        for run in between:
            by_source.setdefault((run.owner, run.is_up), []).append(run)
        for runs in by_source.values():
            yield from _pairs_in_order(runs)

    def _one_at_a_time(self, log: Iterable[tuple[str, bool]]) -> None:
        running: dict[str, str] = {}
        for step, is_end in log:
            on = self.runs[step].on
            if is_end:
                del running[on]
            else:
                assert on not in running, f"{step} began on {on} while {running[on]} ran there"
                running[on] = step


def _all(befores: Iterable[Run], afters: Iterable[Run]) -> Iterator[tuple[str, str]]:
    later = list(afters)
    return ((a.step, b.step) for a in befores for b in later)


def _links_in_order(runs: list[Run]) -> Iterator[tuple[str, str]]:
    """Requirement by requirement in declared order, on removal reversed; of a pair the target first."""
    linking = [r for r in runs if r.link is not None]
    for a in linking:
        for b in linking:
            assert a.link is not None
            assert b.link is not None
            is_first = a.link[2] < b.link[2] if a.is_up else a.link[2] > b.link[2]
            if is_first and a.part == b.part:
                yield a.step, b.step
    yield from _pairs_in_order(linking)


def _pairs_in_order(runs: Iterable[Run]) -> Iterator[tuple[str, str]]:
    by_link: dict[tuple[str, str, int], dict[str, Run]] = {}
    for run in runs:
        assert run.link is not None
        by_link.setdefault(run.link, {})[run.operation] = run
    for operations in by_link.values():
        for words in IN_PAIR:
            yield from pairwise(operations[word].step for word in words if word in operations)


def _requirements(name: str, node: Mapping[str, Any]) -> Iterator[Requirement]:
    place = 0
    for kind in KINDS:
        for target, operations in node.get(kind, {}).items():
            requirement = "host" if kind == "hosted_on" else target if kind == "needs" else f"to_{target}"
            yield Requirement(name, target, place, requirement, kind == "hosted_on", tuple(operations.split()))
            place += 1


def _difference(found: set[str], wanted: set[str]) -> str:
    return f"unexpected {sorted(found - wanted)}, missing {sorted(wanted - found)}"
