"""Changes of random topologies into others: what is changed is as if it had been deployed so, however it was come by,
and going back gives what there was."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from ordito.instances.records import Instance, Link, Snapshot
from tests.scenarios.test_random_failures import FailsOnce
from tests.scenarios.test_random_workflows import SEEDS, SOME
from tests.support.commands import Commands, Ran
from tests.support.edits import OTHER, spelled, three_versions, versions
from tests.support.hands import always_well
from tests.support.random_topologies import Nodes
from tests.support.scenarios import place_service

UNDOES = frozenset({"stop", "delete", "uninstall", "monitor_stop", "remove_target", "remove_source", "unlink"})
UPDATES = "update"
UPDATE = f"Maintain.{UPDATES}"

Kept = Mapping[tuple[str, str], frozenset[str]]
"""Names of attributes by instance, and by the change that has made it."""
NOTHING: Kept = {}


def compact(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is not as it should be."""
    return {
        k: (list((found[k] - wanted[k]).items()), list((wanted[k] - found[k]).items()))
        for k in found
        if found[k] != wanted[k]
    }


class Versions:
    """Versions of a service, and ensembles in which one of them runs."""

    def __init__(self, directory: Path, said: tuple[Nodes, ...], seed: int) -> None:
        self.directory = directory
        self.files: list[str] = []
        every = [about for nodes in said for about in nodes.items()]
        self._updated = frozenset(name for name, node in every if UPDATES in node.get("maintain", "").split())
        for name, nodes in zip("abc", said, strict=False):
            (directory / name).mkdir()
            file = place_service({"nodes": spelled(nodes)}, directory / name)
            (file.parent / OTHER).write_text("#!/bin/bash\n# another one\n", encoding="utf-8")
            self.files.append(str(file))
        self.commands = Commands(directory)
        self.commands.hands.random = Random(seed)

    def run(self, *words: str, code: int = 0) -> Ran:
        """A command that ends as it should."""
        ran = self.commands.run(*words, "--yes")
        assert ran.code == code, f"{' '.join(words)}\n{ran.out}{ran.err}"
        return ran

    def upgrade(self, which: int, *words: str, code: int = 0) -> Ran:
        """Change what runs into one of the versions."""
        return self.run("upgrade", self.files[which], *words, code=code)

    def settled(self, which: int) -> None:
        """See that what runs is what a version says, and that nothing is left to do for that."""
        told = self.commands.run("diff", self.files[which], "--detailed-exitcode")
        assert told.code == 0, f"{told.out}{told.err}"
        again = self.upgrade(which)
        assert (again.log, again.plan) == ((), None), again.out + again.err

    def essence(self) -> Mapping[str, Any]:
        """What runs, whatever its instances are called and by which jobs it came to be."""
        return essence(self.commands.recorded()[0])

    def kept(self) -> Kept:
        """What operations have given of each instance so far, which stays with it until it is replaced."""
        snapshot = self.commands.recorded()[0]
        found = ((i, frozenset(snapshot.attributes.get(i.id, {}))) for i in snapshot.instances.values() if i.exists)
        return {(i.id, i.created): attributes for i, attributes in found if attributes}

    def differing(self, wanted: Mapping[str, Any], kept: Kept) -> Mapping[str, Any]:
        """What is not as it should be, besides attributes that instances had already and that the service does not
        have, and those that an ``update`` would have to give in place of what it stands for."""
        given = {(about[0], name) for about in wanted["instances"] for name in about[-1]}
        found = essence(self.commands.recorded()[0], given, kept)
        return compact(self._with_updated(found), self._with_updated(wanted))

    def _with_updated(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        every = found["instances"].elements()
        passed = Counter((*about[:-1], ()) if about[0] in self._updated else about for about in every)
        return {**found, "instances": passed}

    def fresh(self, which: int) -> Mapping[str, Any]:
        """What a version is where it is deployed at once."""
        directory = self.directory / f"fresh-{which}"
        directory.mkdir()
        commands = Commands(directory)
        commands.hands.random = self.commands.hands.random
        ran = commands.run("deploy", self.files[which], "--yes")
        assume(ran.code != 3)  # Not every topology that can be written can be deployed.
        assert ran.code == 0, ran.err
        return essence(commands.recorded()[0]) if (directory / "ensemble").exists() else essence(Snapshot())


@contextmanager
def placed(said: tuple[Nodes, ...], seed: int) -> Iterator[Versions]:
    """Versions in a directory of their own, the first of which runs."""
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as directory:
        yield Versions(Path(directory), said, seed)


def essence(snapshot: Snapshot, given: Container[tuple[str, str]] = (), kept: Kept = NOTHING) -> Mapping[str, Any]:
    """What each instance is and how it is linked, without its number; and without the attributes that it has only
    ``kept``, where nothing gives its node these any more."""
    nodes = {i.id: i.node for i in snapshot.instances.values()}
    existing = [i for i in snapshot.instances.values() if i.exists]
    return {
        "instances": Counter(_about(i, nodes, snapshot, given, kept) for i in existing),
        "links": Counter(about for link in snapshot.links.values() if any((about := _linked(link, nodes))[3:])),
    }


def _about(
    one: Instance, nodes: Mapping[str, str], snapshot: Snapshot, given: Container[tuple[str, str]], kept: Kept
) -> tuple[object, ...]:
    """What prepares a target for a source does not run where that comes later, and is not undone when it goes."""
    own = {key for key in (*one.applied, *one.failed) if "/" not in key or key.startswith(f"{one.node}.")}
    applied = tuple((key, one.applied[key].digest) for key in sorted(own & one.applied.keys() - {UPDATE}))
    had = kept.get((one.id, one.created), frozenset())
    recorded = snapshot.attributes.get(one.id, {})
    attributes = tuple(sorted(name for name in recorded if name not in had or (one.node, name) in given))
    failed = _failed({key: change for key, change in one.failed.items() if key in own})
    return one.node, nodes.get(one.host, ""), one.state, one.local, one.form, applied, failed, attributes


def _failed(failed: Mapping[str, str]) -> tuple[str, ...]:
    """What failed to be undone is remembered until it is undone, though it was made again meanwhile."""
    return tuple(sorted(key for key in failed if key.rpartition(".")[2] not in UNDOES))


def _linked(link: Link, nodes: Mapping[str, str]) -> tuple[object, ...]:
    """What configures a pair with its source does not run for a target that comes later, what tells of changes runs
    where something has changed, and that a pair was undone is known until it has been made again."""
    counts = (key for key in link.applied if key.rpartition(".")[2] not in UNDOES)
    done = tuple(
        sorted((key, link.applied[key].digest) for key in counts if not key.endswith(("configure", "changed")))
    )
    return link.relationship, nodes[link.source], nodes[link.target], done, _failed(link.failed)


@SOME
@given(versions(), SEEDS)
def test_there_and_back_and_there_again(two: tuple[Nodes, Nodes], seed: int) -> None:
    """What was changed into another version is as if that had been deployed at once, and nothing is left to do."""
    with placed(two, seed) as both:
        wanted = [both.fresh(0), both.fresh(1)]
        both.run("deploy", both.files[0])
        for which in (1, 0, 1):
            kept = both.kept()
            both.upgrade(which)
            assert not (found := both.differing(wanted[which], kept)), found
            both.settled(which)


UPDATED: dict[str, object] = {
    "runs": "start",
    "compute": True,
    "count": 1,
    "size": 1,
    "scripts": {},
    "cloudify": "lifecycle.create",
    "maintain": "update",
}
MONITORED: dict[str, object] = {
    "runs": "create",
    "compute": True,
    "count": 2,
    "cloudify": "lifecycle.create lifecycle.configure lifecycle.start monitoring_agent.install monitoring_agent.start"
    " monitoring_agent.stop monitoring_agent.uninstall",
    "size": 1,
    "scripts": {},
}
PREPARES = {"n1": {"runs": "", "hosted_on": {"n0": "pre_configure_target"}, "size": 1, "scripts": {}}}
CUT_BEFORE_CONFIGURED = ({"n0": MONITORED, **PREPARES}, {"n0": {**MONITORED, "size": 2}, **PREPARES})
"""What prepares it was carried out again, and what configures and starts it was not, and is done by no stop."""
UPDATED_IN_VAIN = ({"n0": UPDATED}, {"n0": {**UPDATED, "runs": "create start"}})
"""The update that fails is for an operation that comes before all that were carried out."""
LOOKED_AFTER: dict[str, object] = {"runs": "start stop", "maintain": "monitor_start", "size": 1, "scripts": {}}
LINKED_IN_THE_END = {"n0": {**UPDATED, "maintain": ""}, "n1": {**LOOKED_AFTER, "connects": {"n0": "add_source"}}}
STARTED_IN_VAIN = (
    LINKED_IN_THE_END,
    {**LINKED_IN_THE_END, "n1": {**LINKED_IN_THE_END["n1"], "scripts": {"start": OTHER}}},
)
"""What starts it has failed, and what watches it counts from before, since nothing has ceased to."""
UPDATED_FOR_OUTPUTS = (
    {"n0": {**UPDATED, "outputs": True}},
    {"n0": {**UPDATED, "outputs": True, "runs": "create start"}, "n1": {"runs": "create", "size": 1, "scripts": {}}},
)
"""It stands for an operation that would give an attribute."""
LINKED: dict[str, object] = {"runs": "configure stop", "size": 1, "scripts": {}}
LINKED_OTHERWISE = (
    {**LINKED_IN_THE_END, "n1": {**LINKED, "connects": {"n0": "add_target remove_source target.establish"}}},
    {**LINKED_IN_THE_END, "n1": {**LINKED, "connects": {"n0": "add_target add_source remove_target remove_source"}}},
)
"""The job that took over what is wanted was cut before it did."""


@SOME
@given(versions(), SEEDS, st.integers(1, 12), st.sampled_from(("continue", "abort")))
@example(LINKED_OTHERWISE, 0, 2, "continue")
@example(LINKED_OTHERWISE, 0, 2, "abort")
@example(UPDATED_IN_VAIN, 0, 1, "continue")
@example(UPDATED_FOR_OUTPUTS, 0, 2, "continue")
@example(STARTED_IN_VAIN, 0, 2, "continue")
@example(CUT_BEFORE_CONFIGURED, 0, 5, "abort")
def test_what_fails_is_completed_by_the_next_upgrade(two: tuple[Nodes, Nodes], seed: int, place: int, how: str) -> None:
    with placed(two, seed) as both:
        wanted = both.fresh(1)
        both.run("deploy", both.files[0])
        kept = both.kept()
        both.commands.hands.answer = failing = FailsOnce(place)
        ran = both.commands.run("upgrade", both.files[1], "--on-failure", how, "--yes")
        both.commands.hands.answer = always_well
        assert ran.code == (1 if failing.failed else 0), ran.err
        both.upgrade(1)
        assert not (found := both.differing(wanted, kept)), found
        both.settled(1)


HOST: Nodes = {"n0": {"runs": "start", "compute": True, "count": 2, "size": 1, "scripts": {}}}
ON_IT: dict[str, object] = {
    "runs": "configure stop",
    "hosted_on": {"n0": "add_target"},
    "count": 2,
    "size": 1,
    "scripts": {},
}
CONNECTED = {**ON_IT, "outputs": True, "connects": {"n0": "add_target remove_target add_source remove_source"}}
NEWLY_LINKED = ({**HOST, "n1": {**ON_IT, "outputs": True}}, {**HOST, "n1": CONNECTED})
"""What stays is linked again, and takes over what its other operations are called by then."""

STARTED: dict[str, object] = {"runs": "configure start stop delete", "size": 1, "scripts": {}}
OTHERWISE: dict[str, object] = {"scripts": {"configure": "other.sh"}}
UPSTREAM: Nodes = {
    "n0": {"runs": "create configure delete", "compute": True, "count": 2, "size": 1, "scripts": {}},
    "n3": {"runs": "configure stop delete", "compute": True, "count": 2, "size": 1, "scripts": {}, "outputs": True},
}
UNLINKED_LATER = (
    {**UPSTREAM, "n1": {**STARTED, "connects": {"n0": "pre_configure_source add_source target.establish"}}},
    {
        "n3": {**UPSTREAM["n3"], **OTHERWISE},
        "n0": UPSTREAM["n0"],
        "n1": {**STARTED, **OTHERWISE, "connects": {"n0": "target_changed remove_target"}},
    },
)
"""Nothing undoes what was linked, and what would undo it later was not reached."""

WATCHED: dict[str, object] = {
    "runs": "configure",
    "compute": True,
    "maintain": "monitor_start",
    "cloudify": "lifecycle.stop monitoring_agent.start monitoring_agent.stop",
    "scripts": {},
}
NOT_CONFIGURED = ({"n0": {**WATCHED, "size": 1}}, {"n0": {**WATCHED, "size": 2}})
"""What has failed comes before what was taken back on the way down, which alone would only ask for a restart."""


ADDED: dict[str, object] = {"runs": "create start", "size": 1, "scripts": {}}
LINKED_FOR_GOOD = (
    {**HOST, "n1": ADDED},
    {**HOST, "n1": {**ADDED, "connects": {"n0": "add_target add_source"}}},
)
"""Of what was begun nothing can be undone, and nothing is to be known of it any more."""
OTHER_HOST: Nodes = {"n2": {"runs": "start", "compute": True, "count": 1, "size": 1, "scripts": {}}}
MOVED: dict[str, object] = {
    "runs": "delete",
    "count": 2,
    "needs": {"n0": "add_target remove_target"},
    "size": 1,
    "scripts": {},
}
MOVED_AWAY = (
    {**HOST, **OTHER_HOST, "n3": {**MOVED, "hosted_on": {"n0": ""}}},
    {**HOST, **OTHER_HOST, "n3": {**MOVED, "hosted_on": {"n2": ""}}},
)
"""What was removed from its host and not made on the other one is made again on the one that it had."""
WELL_HOSTED: Nodes = {
    "n0": {
        "runs": "configure start delete",
        "compute": True,
        "count": 2,
        "maintain": "update",
        "cloudify": "lifecycle.configure lifecycle.start lifecycle.delete monitoring_agent.install"
        " monitoring_agent.start monitoring_agent.stop monitoring_agent.uninstall",
        "size": 1,
        "scripts": {},
    }
}
ON_WELL: dict[str, object] = {
    "runs": "",
    "hosted_on": {"n0": "post_configure_source post_configure_target remove_target"},
    "maintain": "monitor_start update",
    "size": 1,
    "scripts": {},
}
FAILED_TO_LINK = (
    {
        **WELL_HOSTED,
        "n1": {**ON_WELL, "needs": {"n0": "pre_configure_source post_configure_source add_source remove_source"}},
    },
    {
        **WELL_HOSTED,
        "n1": {**ON_WELL, "needs": {"n0": "target_changed add_target remove_source add_source"}},
        "m2": {"runs": "create start stop delete", "size": 1, "scripts": {}},
    },
)
"""What has failed is no operation of the version that is gone back to."""
ALONE: Nodes = {"n0": {"runs": "start", "compute": True, "count": 1, "size": 1, "scripts": {}}}
STOPPED_TWICE: dict[str, object] = {
    "runs": "stop",
    "count": 2,
    "cloudify": "lifecycle.start lifecycle.stop",
    "size": 1,
    "scripts": {},
}
NOT_STOPPED: dict[str, object] = {"runs": "stop", "cloudify": "lifecycle.start", "size": 1, "scripts": {}}
LEFT: dict[str, object] = {"runs": "", "size": 1, "scripts": {}}
LINKS = {"n2": {**NOT_STOPPED, "connects": {"n1": "add_target remove_target"}}}
NOT_STOPPED_BUT_UNLINKED = ({**ALONE, "n1": {**LEFT, "hosted_on": {"n0": ""}}, **LINKS}, {"n1": LEFT, **LINKS})
"""What had failed is a stop, and what starts it counts still: the way back only links it."""
HALF_STOPPED = ({**ALONE, "n1": {**STOPPED_TWICE, "hosted_on": {"n0": ""}}}, {"n1": STOPPED_TWICE})
"""One of two operations that stop it was carried out, and there is none that would start it by that."""


@SOME
@given(versions(), SEEDS, st.integers(1, 12), st.booleans())
@example(NEWLY_LINKED, 535, 1, True)
@example(UNLINKED_LATER, 73918, 1, True)
@example(NOT_CONFIGURED, 0, 3, False)
@example(LINKED_FOR_GOOD, 0, 2, True)
@example(MOVED_AWAY, 0, 6, True)
@example(MOVED_AWAY, 0, 7, True)
@example(MOVED_AWAY, 0, 8, True)
@example(LINKED_FOR_GOOD, 0, 2, False)
@example(FAILED_TO_LINK, 0, 1, False)
@example(HALF_STOPPED, 0, 2, True)
@example(NOT_STOPPED_BUT_UNLINKED, 0, 2, True)
def test_whatever_fails_it_can_be_gone_back(two: tuple[Nodes, Nodes], seed: int, place: int, by_itself: bool) -> None:
    with placed(two, seed) as both:
        both.fresh(1)
        both.run("deploy", both.files[0])
        before = both.essence()
        both.commands.hands.answer = failing = FailsOnce(place)
        how = "rollback" if by_itself else "continue"
        ran = both.commands.run("upgrade", both.files[1], "--on-failure", how, "--yes")
        both.commands.hands.answer = always_well
        assert ran.code == ((7 if by_itself else 1) if failing.failed else 0), ran.err
        kept = both.kept()
        if not (by_itself and failing.failed) and ran.plan is not None:
            both.run("rollback")
        assert not (found := both.differing(before, kept)), found
        told = both.commands.run("diff", "--detailed-exitcode")
        assert told.code == 0, told.out + told.err
        both.settled(0)


HOWS = {"continue": 1, "abort": 1, "rollback": 7}
"""What an upgrade does once something has failed, and what its command ends with then."""


def failing(them: Versions, which: int, place: int, how: str) -> None:
    """Change what runs into one of the versions, in which one operation fails."""
    them.commands.hands.answer = fails = FailsOnce(place)
    ran = them.commands.run("upgrade", them.files[which], "--on-failure", how, "--yes")
    them.commands.hands.answer = always_well
    assert ran.code == (HOWS[how] if fails.failed else 0), ran.out + ran.err


CREATED: dict[str, object] = {"runs": "create", "cloudify": "lifecycle.configure", "size": 1, "scripts": {}}
CONFIGURED = {**CREATED, "runs": "create configure"}
CONFIGURED_IN_VAIN = ({"n0": CREATED}, {"n0": CONFIGURED}, {"n0": CONFIGURED, "n1": CREATED})
"""What has failed, and was taken back, is part of the next version as well."""
PREPARED: dict[str, object] = {"runs": "stop", "connects": {"n0": "pre_configure_target add_source"}, "scripts": {}}
PREPARED_IN_VAIN = (
    {"n0": {**CREATED, "compute": True}, "n1": {**PREPARED, "size": 1}},
    {"n0": {**CREATED, "compute": True, "size": 2}, "n1": {**PREPARED, "size": 1}},
    {"n0": {**CREATED, "compute": True, "size": 2}, "n2": CREATED},
)
"""What has failed on a target goes with its source."""


@SOME
@given(three_versions(), SEEDS, st.integers(1, 12), st.sampled_from(sorted(HOWS)))
@example(CONFIGURED_IN_VAIN, 0, 1, "rollback")
@example(PREPARED_IN_VAIN, 0, 1, "abort")
def test_what_fails_is_left_behind_by_another_version(
    three: tuple[Nodes, Nodes, Nodes], seed: int, place: int, how: str
) -> None:
    """Nothing is left of a version to which no upgrade came, once another one is deployed."""
    with placed(three, seed) as them:
        them.fresh(1)
        wanted = them.fresh(2)
        them.run("deploy", them.files[0])
        failing(them, 1, place, how)
        kept = them.kept()
        them.upgrade(2)
        assert not (found := them.differing(wanted, kept)), found
        them.settled(2)


LINKED_AT_THE_SOURCE: dict[str, object] = {
    "runs": "create configure stop",
    "connects": {"n0": "add_source remove_target"},
    "cloudify": "lifecycle.start",
    "scripts": {},
}
LINKED_AGAIN = (
    {"n0": {"runs": "create", "size": 1, "scripts": {}}, "n1": {**LINKED_AT_THE_SOURCE, "size": 1}},
    {"n0": {"runs": "create", "size": 1, "scripts": {}}, "n1": {**LINKED_AT_THE_SOURCE, "size": 2}},
)
"""A pair is undone at its other side, and linked again though its source is not started again."""
STARTED_WITHOUT: dict[str, object] = {"runs": "create stop", "cloudify": "monitoring.start", "size": 1, "scripts": {}}
NOT_LINKED_AGAIN = (
    {**HOST, "n1": {**STARTED_WITHOUT, "connects": {"n0": "remove_source source.postconfigure target.unlink"}}},
    {**HOST, "n1": {**STARTED_WITHOUT, "scripts": {"stop": OTHER}}},
)
"""A pair was undone for good, and its source is started."""


@SOME
@given(versions(), SEEDS, st.integers(1, 12), st.sampled_from(sorted(HOWS)))
@example(LINKED_AGAIN, 0, 2, "rollback")
@example(NOT_LINKED_AGAIN, 0, 6, "abort")
def test_what_fails_is_removed_with_all_that_it_has_linked(
    two: tuple[Nodes, Nodes], seed: int, place: int, how: str
) -> None:
    """Nothing is left, and each pair was undone that was begun and can be."""
    with placed(two, seed) as both:
        both.fresh(1)
        both.run("deploy", both.files[0])
        failing(both, 1, place, how)
        snapshot = both.commands.recorded()[0]
        ran = both.run("undeploy")
        undone = {step.rpartition(".")[0].rpartition(".")[0] for step in ran.begun if _undoes(step)}
        left = [link for link in snapshot.links.values() if _is_to_be_undone(link, snapshot, two)]
        assert not (found := [link for link in left if link.id not in undone]), found
        after = both.commands.recorded()[0]
        assert [i for i in after.instances.values() if i.exists] == []
        assert after.links == {}


def _is_to_be_undone(link: Link, snapshot: Snapshot, said: tuple[Nodes, ...]) -> bool:
    """Whether a pair was begun by an operation, since it was undone last, such that each version that has this can undo
    the pair."""
    every = [_keys(link, snapshot, nodes) for nodes in said]
    changes = {**{key: one.change for key, one in link.applied.items()}, **link.failed}
    undone = max((one.change for key, one in link.applied.items() if _undoes(key)), default="")
    since = [key for key, change in changes.items() if change > undone and not _undoes(key)]
    begun = [[keys for keys in every if key in keys] for key in since]
    return any(those and all(any(map(_undoes, keys)) for keys in those) for those in begun)


def _undoes(key: str) -> bool:
    return key.rpartition(".")[2] in UNDOES


def _keys(link: Link, snapshot: Snapshot, nodes: Nodes) -> set[str]:
    """The operations of a pair's relationship in a version, by what the record remembers them by."""
    target = snapshot.instances[link.target].node
    node = nodes.get(snapshot.instances[link.source].node, {})
    tails = {"hosted_on": "host", "needs": target, "connects": f"to_{target}"}
    for kind, tail in tails.items():
        if target in node.get(kind, {}) and link.relationship.endswith(f".{tail}"):
            return {word if "." in word else f"Configure.{word}" for word in node[kind][target].split()}
    return set()
