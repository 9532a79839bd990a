"""Steps that do nothing fall away, and the order among all others stays what it was."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.instances.records import Snapshot
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep
from ordito.planning.reduce import reduce
from ordito.work.plan import Action
from tests.support.runs import OPTIONS
from tests.support.services import node, service
from tests.support.thorough import examples

Kinds = Sequence[str]
Edges = Sequence[tuple[int, int]]


def draft_of(kinds: Kinds, edges: Edges) -> Draft:
    """A draft of steps that work, join (also tolerantly), or were done."""
    draft = Draft("deploy", service(node("a")), Snapshot(), {}, OPTIONS)
    for number, kind in enumerate(kinds):
        step = DraftStep(f"s{number}", Action.JOIN if "join" in kind else Action.CALL)
        step.after_failure, step.done = "after failure" in kind, kind == "done"
        draft.add(step)
    for before, after in edges:
        draft.edge(before, after, draft.why(f"{before} before {after}"))
    return draft


def reached(count: int, edges: Edges) -> list[set[int]]:
    """All steps after each step."""
    found: list[set[int]] = [set() for _ in range(count)]
    for number in reversed(range(count)):
        for before, after in edges:
            if before == number:
                found[number] |= {after, *found[after]}
    return found


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Kinds, Edges]:
    kinds = draw(
        st.lists(st.sampled_from(["works", "works", "join", "after failure join", "done"]), min_size=1, max_size=12)
    )
    pairs = [(b, a) for b in range(len(kinds)) for a in range(b + 1, len(kinds))]
    return kinds, draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []


@settings(max_examples=examples(80), deadline=None)
@given(graphs())
def test_the_order_among_steps_that_work_is_kept_and_nothing_is_added(graph: tuple[Kinds, Edges]) -> None:
    kinds, edges = graph
    draft = draft_of(kinds, edges)
    reduce(draft)
    works = {n for n, kind in enumerate(kinds) if "works" in kind}
    before = reached(len(kinds), edges)
    after = reached(len(kinds), list(zip(draft.befores, draft.afters, strict=True)))
    assert [after[n] & works for n in sorted(works)] == [before[n] & works for n in sorted(works)]
    places = {number: place for place, number in enumerate(draft.order)}
    assert works <= set(places)
    assert all(places[b] < places[a] for b, a in zip(draft.befores, draft.afters, strict=True))
    leads_to = [places[a] for a in draft.afters]
    assert leads_to == sorted(leads_to)
    assert len({*zip(draft.befores, draft.afters, strict=True)}) == len(draft.befores) <= max(len(edges), 1)


@settings(max_examples=examples(80), deadline=None)
@given(graphs())
def test_what_goes_on_past_failures_still_does(graph: tuple[Kinds, Edges]) -> None:
    """A join that comes after failures keeps what comes after it, and does not, from depending on what is before it."""
    kinds, edges = graph
    draft = draft_of(kinds, edges)
    reduce(draft)
    alone = draft_of(
        kinds, [(b, a) for b, a in edges if "after failure" not in kinds[b] and "after failure" not in kinds[a]]
    )
    reduce(alone)
    needed = reached(len(kinds), list(zip(alone.befores, alone.afters, strict=True)))
    strict = [(b, a) for b, a in zip(draft.befores, draft.afters, strict=True)]
    direct = reached(
        len(kinds), [(b, a) for b, a in strict if "after failure" not in kinds[b] and "after failure" not in kinds[a]]
    )
    works = {n for n, kind in enumerate(kinds) if "works" in kind}
    assert [direct[n] & works for n in sorted(works)] == [needed[n] & works for n in sorted(works)]
