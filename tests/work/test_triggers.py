"""Triggers: which hear an event, what their conditions are about, and when they act.

Each file in `data/triggers` is a service. `#: one_1` (or `#: app_1 on host_1`) is an instance that exists, and
`#> 10 one_1 Watch.raised {"level": 7} => alarm.high: acts; alarm.past: outside` is told in this order: at which second,
about what, and what each trigger that hears it makes of it (the beginning of what is said of why it does not act).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.base.sensitive import Sensitive, is_sensitive
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.service import Service
from ordito.work.evaluations import MOST_REMEMBERED, Evaluation, combine
from ordito.work.notices import Notice, changes_of
from ordito.work.triggers import decide, hearing
from tests.support.documents import resolve
from tests.support.thorough import examples

FILES = sorted((Path(__file__).parent / "data" / "triggers").glob("*.yaml"))
EXISTS = re.compile(r"^#: (\w+_\d+)(?: on (\w+_\d+))?$", re.MULTILINE)
TOLD = re.compile(r"^#> (\S+) (\S+) (\S+) (?:(\{.*?\}) )?=> ?(.*)$", re.MULTILINE)

Remembered = dict[tuple[str, str, str], tuple[Evaluation, ...]]


class World:
    """A service, what exists of it, and what its triggers remember."""

    def __init__(self, path: Path) -> None:
        made, diagnostics = resolve(path)
        assert made is not None, [d.message for d in diagnostics]
        self.service: Service = made
        self.snapshot = Snapshot()
        self.remembered: Remembered = {}
        for name, host in EXISTS.findall(path.read_text()):
            stem, _, number = name.rpartition("_")
            self.snapshot.apply(Delta(instances=(Instance(name, stem, int(number) - 1, host, "started", "ok"),)))

    def tell(self, at: float, entity: str, event: str, values: dict[str, object]) -> dict[str, str]:
        """Receive a notice; gives what each trigger makes of it."""
        interface, _, name = event.rpartition(".")
        if event != "monitor.failed":
            notice = Notice(entity, name, at, interface=interface, values=values)
        else:
            notice = Notice(entity, event, at)
        notice = self._about(notice)
        self.snapshot.apply(changes_of(self._evaluator(), notice))
        found: dict[str, str] = {}
        for heard in hearing(self.service, notice):
            decision = decide(self._evaluator(), notice, heard, lambda *key: self.remembered.get(key, ()))
            for about, kept in decision.evaluations.items():
                self.remembered[decision.policy, decision.trigger, about] = kept
            found[f"{decision.policy}.{decision.trigger}"] = "acts" if decision.acts else decision.said
        return found

    def _about(self, notice: Notice) -> Notice:
        if "." not in notice.entity:
            return msgspec.structs.replace(notice, node=self.snapshot.instances[notice.entity].node)
        source, requirement, target = notice.entity.split(".")
        node = self.service.nodes[self.snapshot.instances[source].node]
        key = next(r.key for r in node.requirements if r.requirement == requirement)
        return msgspec.structs.replace(notice, relationship=key, source=source, target=target)

    def _evaluator(self) -> Evaluator:
        return Evaluator(self.service, self.snapshot, {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_triggers_make_of_events(path: Path) -> None:
    """R-12-4, R-12-5, R-12-6, R-12-7, R-12-8, R-3.6.21-2, R-3.6.22-3, R-3.6.22-4, R-3.6.22-6."""
    world = World(path)
    told = TOLD.findall(path.read_text())
    assert told
    for at, entity, event, values, expected in told:
        found = world.tell(float(at), entity, event, json.loads(values or "{}"))
        wanted = dict(part.split(": ", 1) for part in expected.split("; ")) if expected else {}
        line = f"{at} {entity} {event} {values}: {found}"
        assert set(found) == set(wanted), line
        assert [n for n, said in found.items() if not said.startswith(wanted[n])] == [], line


def test_what_is_remembered_is_bounded() -> None:
    world = World(next(path for path in FILES if path.stem == "evaluations"))
    full = tuple(Evaluation(float(n) / 1_000, holds=False) for n in range(MOST_REMEMBERED + 5))
    world.remembered["alarm", "often", "one_1"] = full
    world.tell(20.0, "one_1", "Watch.raised", {"level": 9})
    assert len(world.remembered["alarm", "often", "one_1"]) == MOST_REMEMBERED


def test_secret_values_are_combined_and_stay_secret() -> None:
    """Nothing that is said shows them."""
    world = World(next(path for path in FILES if path.stem == "evaluations"))
    said = [world.tell(at, "one_1", "Watch.token", {"token": "canary-991"}) for at in (1.0, 2.0)]
    assert "canary-991" not in str(said)
    (kept,) = [e for key, e in world.remembered.items() if key[1] == "secret"]
    assert all(is_sensitive(value) for e in kept for value in e.values.values())
    assert isinstance(kept[0].values["token"], Sensitive)


@pytest.mark.parametrize(
    ("method", "values", "expected"),
    [
        ("last", [1, 5, 3], 3),
        ("count", ["a", 5, True], 3),
        ("average", [1, 2], 1.5),
        ("sum", [1, 2, 3.5], 6.5),
        ("minimum", [4, 2, 3], 2),
        ("maximum", [4, 2, 3], 4),
        ("average", ["1 s", "3000 ms"], "2 s"),
        ("sum", ["1 GB", "24 MB"], "1024000000 B"),
        ("maximum", ["1 MiB", "1 MB"], "1048576 B"),
        ("average", ["red", "green"], "green"),
        ("sum", [True, True], True),
        ("average", [["a"], ["b"]], ["b"]),
    ],
)
def test_how_values_are_combined(method: str, values: list[object], expected: object) -> None:
    """R-12-8: numbers and scalars with a unit; of anything else the last one counts."""
    assert combine(values, method) == expected


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_what_is_combined_lies_between_the_values(values: list[int]) -> None:
    for method in ("last", "average", "minimum", "maximum"):
        combined = combine(values, method)
        assert isinstance(combined, int | float)
        assert min(values) <= combined <= max(values)
