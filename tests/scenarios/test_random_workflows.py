"""Whole commands on random topologies: what they run, in which order, and what they leave."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ordito.instances.records import Instance, Link, Snapshot
from tests.support.commands import Commands, Ran
from tests.support.lifecycle_oracle import MAKE, REMOVE, START, STOP, Expected
from tests.support.random_topologies import Nodes, topologies
from tests.support.scenarios import place_service
from tests.support.thorough import THOROUGH

SOME = settings(
    max_examples=400 if THOROUGH else 2,
    # Shrinking what takes whole commands is for those who have the time.
    phases=tuple(Phase) if THOROUGH else (Phase.explicit, Phase.reuse, Phase.generate),
    # The same ones each time, so that a change is blamed for what it has changed; others in the long form.
    derandomize=not THOROUGH,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SEEDS = st.integers(0, 2**32)


class Play:
    """A topology that is deployed, and what is done to it."""

    def __init__(self, given: Mapping[str, Any], directory: Path, seed: int) -> None:
        """``given`` is the topology in a few words."""
        self.nodes: Nodes = given["nodes"]
        self.service = place_service(given, directory)
        self.commands = Commands(directory)
        self.commands.hands.random = Random(seed)

    def run(self, *words: str) -> Ran:
        """A command that ends well."""
        ran = self.commands.run(*words, "--yes")
        assert ran.code == 0, f"{' '.join(words)}\n{ran.out}{ran.err}"
        return ran

    def deploy(self) -> Ran:
        return self.run("deploy", str(self.service))

    def snapshot(self) -> Snapshot:
        return self.commands.recorded()[0] if self.commands.ensemble.exists() else Snapshot()

    def existing(self) -> list[Instance]:
        return [i for i in self.snapshot().instances.values() if i.exists]


@contextmanager
def played(nodes: Nodes, seed: int) -> Iterator[Play]:
    """A topology in a directory of its own."""
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as directory:
        yield Play({"nodes": nodes}, Path(directory), seed)


def essence(snapshot: Snapshot) -> Mapping[str, Any]:
    """What a topology looks like: without when and by which job it came to be."""
    return {
        "instances": {
            i.id: (i.state, i.local, i.host, i.index, sorted(i.applied), sorted(i.failed))
            for i in snapshot.instances.values()
            if i.exists
        },
        # What configures a pair with its source does not run for a target that comes later.
        "links": {i.id: (linked, sorted(i.failed)) for i in snapshot.links.values() if (linked := _linked(i))},
    }


def _linked(link: Link) -> list[str]:
    return sorted(key for key in link.applied if not key.endswith("configure"))


@SOME
@given(topologies(), SEEDS)
def test_what_deploying_and_undeploying_run_is_what_the_lifecycle_says(nodes: Nodes, seed: int) -> None:
    """R-7.2-1, R-7.2-3, R-7.2.3.2-1: exactly the operations of the lifecycle, each after all that it has to wait
    for."""
    with played(nodes, seed) as play:
        ran = play.deploy()
        made = play.existing()
        Expected(nodes, made, up={i.id: MAKE for i in made}).check(ran.log)
        assert play.deploy().log == ()
        ran = play.run("undeploy")
        Expected(nodes, made, down={i.id: REMOVE for i in made}).check(ran.log)
        assert play.existing() == []
        assert play.snapshot().links == {}
        assert play.snapshot().attributes == {}
        assert play.run("undeploy").log == ()


@SOME
@given(topologies(scalable=True), SEEDS, st.data())
def test_scaling_out_and_in_ends_as_it_began(nodes: Nodes, seed: int, data: st.DataObject) -> None:
    """R-7.1-4: what is added is made as by a deployment and linked with what stays; what leaves is what was added."""
    with played(nodes, seed) as play:
        play.deploy()
        before = play.snapshot()
        name = data.draw(st.sampled_from(sorted(nodes)))
        more = data.draw(st.integers(1, 2))
        ran = play.run("scale", name, "--delta", str(more))
        grown = play.existing()
        added = {i.id for i in grown} - {i.id for i in before.instances.values() if i.exists}
        assert added
        Expected(nodes, grown, up=dict.fromkeys(added, MAKE)).check(ran.log)
        assert play.deploy().log == ()
        ran = play.run("scale", name, "--delta", str(-more))
        Expected(nodes, grown, down=dict.fromkeys(added, REMOVE), later=added).check(ran.log)
        assert essence(play.snapshot()) == essence(before)
        assert play.deploy().log == ()
        play.run("undeploy")
        assert play.existing() == []


@SOME
@given(topologies(), SEEDS, st.data())
def test_stopping_and_starting_ends_as_it_began(nodes: Nodes, seed: int, data: st.DataObject) -> None:
    """What is stopped takes with it what cannot do without it, and is started as it was; so it is when restarted."""
    with played(nodes, seed) as play:
        play.deploy()
        before = play.snapshot()
        made = play.existing()
        assert made
        chosen = data.draw(st.sets(st.sampled_from([i.id for i in made]), min_size=1, max_size=2))
        falling = Expected(nodes, made).fallen_with(chosen)
        ran = play.run("stop", *sorted(chosen))
        Expected(nodes, made, down=dict.fromkeys(falling, STOP)).check(ran.log)
        assert {i.id for i in play.existing() if i.state != "started"} == falling
        assert play.run("stop", *sorted(chosen)).log == ()
        ran = play.run("start", *sorted(falling))
        Expected(nodes, made, up=dict.fromkeys(falling, START)).check(ran.log)
        assert essence(play.snapshot()) == essence(before)
        assert play.run("start", "--all").log == ()
        ran = play.run("restart", *sorted(chosen))
        Expected(nodes, made, down=dict.fromkeys(falling, STOP), up=dict.fromkeys(falling, START)).check(ran.log)
        assert essence(play.snapshot()) == essence(before)


@SOME
@given(topologies(), SEEDS, st.data())
def test_healing_leaves_what_was_there(nodes: Nodes, seed: int, data: st.DataObject) -> None:
    """R-7.1-4: the host of what is healed, and all that is on it, is removed and made again; nothing else runs but
    their links, and everything is as before."""
    with played(nodes, seed) as play:
        play.deploy()
        before = play.snapshot()
        made = play.existing()
        later: set[str] = set()
        for _ in range(2):
            chosen = data.draw(st.sampled_from([i.id for i in made]))
            replaced = Expected(nodes, made).contained_with(chosen)
            down, up = dict.fromkeys(replaced, REMOVE), dict.fromkeys(replaced, MAKE)
            expected = Expected(nodes, made, down=down, up=up, later=later)
            ran = play.commands.run("heal", chosen, "--scope", "host", "--yes")
            if "nothing-heals" in ran.err:
                # Where nothing would be run nobody is told that it is healed.
                expected.check(())
                assert ran.code == 3
                continue
            assert ran.code == 0, ran.err
            expected.check(ran.log)
            later = replaced
            assert essence(play.snapshot()) == essence(before)
            assert play.deploy().log == ()
        play.run("undeploy")
        assert play.existing() == []
