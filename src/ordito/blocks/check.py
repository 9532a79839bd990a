"""Lifecycle steps as far as they can be checked before anything runs: names of blocks, phases, conditions, times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.blocks.conditions.faults import NotACondition
from ordito.blocks.conditions.names import unknown
from ordito.blocks.conditions.parser import parse as parse_condition
from ordito.blocks.duration import NotADuration, seconds
from ordito.blocks.fqn import Fqn, NotAnFqn, nearest_names
from ordito.blocks.fqn import parse as parse_fqn
from ordito.blocks.places import span_of_part
from ordito.model.block_types import LIFECYCLE_STEP
from ordito.model.lifecycle_steps import LifecycleStep

OPERATION = "ordito.dev/lifecycle/run@v1#Operation"
"""The block that runs an operation of a component. The engine carries it out, so nothing implements it."""

LIST_HINT = "`ordito blocks list` shows the blocks that there are"
BY_COMPONENT = ("outputs", "resources")
"""What has a field for each component in the conditions of the module's steps."""
BOTH = ("values", "resources", "outputs", "module", "transition", "phase", "previous")
OF_BOTH = {"component": ("name",), "previous": ("values", "module")}
OF_MODULE = ("name", "version", "outputs")
"""What is known of the module in its own steps; in those of components its outputs are not."""


def check_step(
    step: LifecycleStep, names: Callable[[], Iterable[str]], components: Collection[str], diagnostics: Diagnostics
) -> None:
    """Report what is wrong with a step. ``names`` are those of all blocks, for suggestions; ``components`` are the
    names of all node templates."""
    _check_block(step, names, diagnostics)
    if step.condition:
        _check_condition(step, components, diagnostics)
    if step.timeout:
        try:
            seconds(step.timeout)
        except NotADuration as fault:
            diagnostics.error("bad-duration", f"timeout: {fault}", _place(step, "timeout"), hint=fault.hint)


def condition_roots(component: str) -> tuple[str, ...]:
    """The names with which the paths of a condition can begin."""
    return (*BOTH, "component") if component else BOTH


def condition_fields(component: str) -> Mapping[str, Collection[str]]:
    """What the names have, with which the paths of a condition begin, that always have the same."""
    return {**OF_BOTH, "module": OF_MODULE[:2] if component else OF_MODULE}


def _check_block(step: LifecycleStep, names: Callable[[], Iterable[str]], diagnostics: Diagnostics) -> None:
    if step.fqn == LIFECYCLE_STEP:
        message = f"{LIFECYCLE_STEP} is what all lifecycle steps have in common, and no block"
        diagnostics.error("bad-fqn", message, _place(step, "fqn"), hint=f"name a block; {LIST_HINT}")
        return
    try:
        fqn = parse_fqn(step.fqn)
    except NotAnFqn as fault:
        place = step.spans.get("fqn")
        if place is not None:
            place = span_of_part(place, step.fqn, fault.offset, len(step.fqn))
        message = f'"{step.fqn}" is no name of a block: {fault}'
        diagnostics.error("bad-fqn", message, place or step.span, hint=fault.hint or LIST_HINT)
        return
    if step.block is None:
        _report_unknown(step, fqn, names(), diagnostics)
    elif not step.block.is_implemented or (step.block.execute is None and step.fqn != OPERATION):
        what = "nothing implements it" if step.block.is_implemented else "there is no node type of that name"
        diagnostics.error(
            "bad-block",
            f"{step.fqn} cannot be carried out: {what}",
            _place(step, "fqn"),
            hint="a block is a policy type, and a node type of the same name whose interface Block implements execute",
        )
    _check_version(step, fqn, diagnostics)


def _check_version(step: LifecycleStep, fqn: Fqn, diagnostics: Diagnostics) -> None:
    """Refuse a block whose version is not of the major version that its name says."""
    version = step.block.version if step.block is not None else ""
    if version and version.partition(".")[0] != str(fqn.major):
        diagnostics.error(
            "bad-block",
            f"{step.fqn} is of version {version}, and its name says {fqn.major}",
            _place(step, "fqn"),
            hint=f"its types have a version {fqn.major}.x.y, or a name with @v{version.partition('.')[0]}",
        )


def _report_unknown(step: LifecycleStep, fqn: Fqn, names: Iterable[str], diagnostics: Diagnostics) -> None:
    known = []
    for name in names:
        try:
            known.append(parse_fqn(name))
        except NotAnFqn:
            continue
    majors = sorted({f.major for f in known if (f.path, f.name) == (fqn.path, fqn.name)})
    near = nearest_names(step.fqn, known)
    hint = "did you mean " + " or ".join(f'"{n}"' for n in near) + "? " if near else ""
    message = f"there is no block {step.fqn}"
    if majors:
        message += f": it is there in the major version {', '.join(map(str, majors))}"
    diagnostics.error("unknown-block", message, _place(step, "fqn"), hint=hint + LIST_HINT)


def _check_condition(step: LifecycleStep, components: Collection[str], diagnostics: Diagnostics) -> None:
    faults: list[NotACondition]
    try:
        by_component = {} if step.component else dict.fromkeys(BY_COMPONENT, components)
        roots, fields = condition_roots(step.component), condition_fields(step.component)
        faults = unknown(parse_condition(step.condition), roots, fields, by_component)
    except NotACondition as unreadable:
        faults = [unreadable]
    for fault in faults:
        place: Span | None = step.spans.get("condition")
        if place is not None:
            place = span_of_part(place, step.condition, fault.place.offset, fault.place.end)
        hint = fault.hint
        if fault.place.end >= len(step.condition) and _is_cut(step.spans.get("condition")):
            hint = 'in YAML " #" begins a comment: put the condition in single quotes'
        diagnostics.error("bad-condition", f"condition: {fault.message}", place or step.span, hint=hint)


def _is_cut(place: Span | None) -> bool:
    """Whether a comment follows a text, which may have been meant as a part of it."""
    return place is not None and place.source.line(place.end_line)[place.end_column - 1 :].lstrip().startswith("#")


def _place(step: LifecycleStep, field: str) -> Span | None:
    """Where something stands that a step says, or the step itself."""
    return step.spans.get(field) or step.span
