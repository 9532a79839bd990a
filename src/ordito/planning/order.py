"""The order of transforms: what each needs of the draft, and what it gives to it.

A transform comes after those that give what it needs. If several give a part of the draft, one that also needs it
continues what the others began, and comes after them. The table is for those who add a transform, for the
documentation, and for the tests, which check that all workflows keep to it and that nothing else depends on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

import msgspec


class DraftPart(StrEnum):
    """A part of the draft."""

    NODES = "the nodes, in the order of what they require"
    COUNTS = "how many instances of each node there are to be"
    INSTANCES = "the instances that it is about"
    ACTIONS = "what becomes of each instance"
    CASCADED = "what goes down with what is changed, and in which turn"
    REPAIRS = "stages in which what is broken is repaired first"
    UP = "chains that make and start instances, and other calls"
    DOWN = "chains that stop and remove instances"
    PAIRS = "steps that link and unlink pairs"
    DONE = "which steps were carried out before"
    BESIDE = "steps beside the chains"
    QUESTIONS = "checks that are asked first"
    MAPPED = "what topologies that stand for nodes add to their chains"
    WAITS = "which chain waits for which"
    TURNS = "which instances take turns"
    STAGES = "how stages follow each other"
    FORMS = "the form in which each instance is left"
    CHANGES = "notifications of changes"
    PHASES = "lifecycle steps"
    UNDONE = "lifecycle steps that are undone"
    ORDER = "the order of the steps"


class TransformPlace(msgspec.Struct, frozen=True):
    """The place of a transform among others."""

    needs: frozenset[DraftPart] = frozenset()
    """What has to be given before it."""
    after: frozenset[DraftPart] = frozenset()
    """What comes before it if it is given at all."""
    gives: frozenset[DraftPart] = frozenset()
    """What it gives."""


def _place(
    needs: Sequence[DraftPart] = (), gives: Sequence[DraftPart] = (), after: Sequence[DraftPart] = ()
) -> TransformPlace:
    return TransformPlace(frozenset(needs), frozenset(after), frozenset(gives))


P = DraftPart
LAID = (P.UP, P.DOWN, P.PAIRS)
WAITED = (P.WAITS, P.TURNS, P.STAGES)
CHOOSES = _place([P.NODES], [P.INSTANCES, P.ACTIONS])

PLACES: dict[str, TransformPlace] = {
    "check_requirements": _place(gives=[P.NODES]),
    "check_references": _place([P.NODES]),
    "check_existing": _place([P.NODES]),
    "counts": _place([P.NODES], [P.COUNTS]),
    "check_capabilities": _place([P.NODES, P.COUNTS]),
    "choose_instances": _place([P.NODES, P.COUNTS], [P.INSTANCES]),
    "scale_instances": _place([P.NODES], [P.COUNTS, P.INSTANCES]),
    "existing": CHOOSES,
    "there_are": CHOOSES,
    "all_instances": CHOOSES,
    "all_of_part": CHOOSES,
    "choose_stopped": CHOOSES,
    "choose_started": CHOOSES,
    "choose_restarted": CHOOSES,
    "choose_made": CHOOSES,
    "decide": _place([P.INSTANCES], [P.ACTIONS]),
    "decide_begun": _place([P.INSTANCES], [P.ACTIONS]),
    "stay": _place([P.INSTANCES], [P.ACTIONS]),
    "keep": _place([P.INSTANCES, P.ACTIONS], [P.ACTIONS]),
    "cascade": _place([P.ACTIONS], [P.ACTIONS, P.CASCADED]),
    "second_pass": _place([P.ACTIONS, P.CASCADED], [P.ACTIONS]),
    "refuse_replaced": _place([P.ACTIONS]),
    "check_part": _place([P.ACTIONS]),
    "check_placement": _place([P.ACTIONS]),
    "check_dependencies": _place([P.ACTIONS]),
    "repairing": _place([P.ACTIONS], [P.REPAIRS]),
    "widening": _place([P.NODES], [P.INSTANCES, P.ACTIONS, *LAID, P.WAITS]),
    "install_chains": _place([P.ACTIONS], [P.UP], [P.REPAIRS]),
    "looking": _place([P.INSTANCES], [P.UP]),
    "run_operation": _place([P.INSTANCES], [P.UP]),
    "preconditions": _place([P.INSTANCES], [P.UP]),
    "written": _place([P.UP], [P.UP]),
    "actions": _place([P.INSTANCES], [P.UP]),
    "uninstall_chains": _place([P.ACTIONS], [P.DOWN], [P.UP, P.REPAIRS]),
    "links": _place([P.UP], [P.PAIRS], [P.DOWN]),
    "unlinks": _place([P.DOWN], [P.PAIRS], [P.PAIRS]),
    "take_back": _place([P.DOWN], [P.BESIDE], [P.PAIRS]),
    "skip_done": _place(gives=[P.DONE], after=LAID),
    "forget_leftovers": _place([P.ACTIONS], [P.DONE], [P.DONE]),
    "adopt": _place([P.ACTIONS], [P.BESIDE], [P.DONE]),
    "stop_first": _place([P.UP], [P.BESIDE], [P.DONE, P.BESIDE]),
    "ask_first": _place([P.DOWN], [P.QUESTIONS], [P.DONE, P.BESIDE]),
    "mapped": _place(gives=[P.MAPPED], after=LAID),
    "install_waits": _place([P.UP], [P.WAITS], [*LAID, P.BESIDE, P.QUESTIONS]),
    "run_waits": _place([P.UP], [P.WAITS]),
    "uninstall_waits": _place([P.DOWN], [P.WAITS], [*LAID, P.BESIDE, P.QUESTIONS, P.WAITS]),
    "in_turn": _place([P.WAITS], [P.TURNS]),
    "stages": _place([P.WAITS], [P.STAGES], [P.TURNS]),
    "form": _place([P.ACTIONS], [P.FORMS], [*LAID, P.BESIDE]),
    "forget": _place([P.ACTIONS], [P.FORMS], [*LAID, P.BESIDE]),
    "notify_peers": _place(gives=[P.CHANGES], after=[*LAID, *WAITED]),
    "say_unrepaired": _place([P.ACTIONS]),
    "phases": _place(gives=[P.PHASES], after=[*LAID, P.CHANGES, *WAITED]),
    "removal_phases": _place(gives=[P.PHASES], after=[*LAID, *WAITED]),
    "check_lossy": _place([P.PHASES]),
    "undo_hooks": _place(gives=[P.UNDONE], after=[*LAID, P.PHASES, *WAITED]),
    "warn_of_kept_attributes": _place([P.ACTIONS]),
    "check_called_inputs": _place([P.UP]),
    "without_steps": _place([P.UP]),
    "end_stages": _place(after=[*LAID, P.PHASES, P.UNDONE, P.STAGES]),
    "reduce": _place(gives=[P.ORDER], after=[p for p in DraftPart if p is not P.ORDER]),
}
"""By the names of transforms, or of the functions that make them."""


def name_of(transform: Callable[..., object]) -> str:
    """The name of a transform in the table."""
    made = transform.__qualname__.split(".")
    return made[0] if "<locals>" in made else made[-1]


def out_of_order(transforms: Sequence[Callable[..., object]]) -> Iterator[str]:
    """What is wrong with the order of some transforms, in words; nothing if it is right."""
    names = [name_of(transform) for transform in transforms]
    for place, name in enumerate(names):
        own = PLACES[name]
        for part in sorted({*own.needs, *own.after}):
            givers = [i for i, other in enumerate(names) if part in PLACES[other].gives and other != name]
            begin = [i for i in givers if part not in {*PLACES[names[i]].needs, *PLACES[names[i]].after}]
            # One that goes on with what others began comes before those that only need it.
            first = begin if part in own.gives else givers
            for late in (i for i in first if i > place):
                yield f"{name} needs {part.name}, which {names[late]} gives only after it"
            if part in own.needs and not givers and part not in own.gives:
                yield f"{name} needs {part.name}, and nobody gives it"
