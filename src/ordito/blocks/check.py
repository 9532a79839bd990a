"""Checks lifecycle steps before anything runs: the names of blocks, phases, conditions and times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.blocks.conditions.parser import parse as parse_condition
from ordito.blocks.conditions.trees import Field, Name, Node, NotACondition, TextRange, ValuePath, references
from ordito.blocks.duration import NotADuration, seconds
from ordito.blocks.fqn import Fqn, NotAnFqn, nearest_names
from ordito.blocks.fqn import parse as parse_fqn
from ordito.model.block_types import LIFECYCLE_STEP
from ordito.model.lifecycle_steps import LifecycleStep

OPERATION = "ordito.dev/lifecycle/run@v1#Operation"
"""The block that runs an operation of a component. The engine carries it out, so nothing implements it."""

LIST_HINT = "`ordito blocks list` shows the blocks that there are"
BY_COMPONENT = ("outputs", "resources")
"""The names that have a field for each component in the conditions of the module's steps."""
BOTH = ("values", "resources", "outputs", "module", "transition", "phase", "previous")
OF_BOTH = {"component": ("name",), "previous": ("values", "module")}
OF_MODULE = ("name", "version", "outputs")
"""The fields of the module in its own steps; in the steps of components it has no outputs."""


def check_step(
    step: LifecycleStep, names: Callable[[], Iterable[str]], components: Collection[str], diagnostics: Diagnostics
) -> None:
    """Report what is wrong with a step. ``names`` gives the names of all blocks, for suggestions; ``components`` are
    the names of all node templates."""
    _check_block(step, names, diagnostics)
    if step.condition:
        _check_condition(step, components, diagnostics)
    if step.timeout:
        try:
            seconds(step.timeout)
        except NotADuration as fault:
            diagnostics.error("bad-duration", f"timeout: {fault}", _place(step, "timeout"), hint=fault.hint)


def condition_roots(component: str) -> tuple[str, ...]:
    """The names with which the paths of a condition may begin, by the component of the step ("" for the module)."""
    return (*BOTH, "component") if component else BOTH


def condition_fields(component: str) -> Mapping[str, Collection[str]]:
    """By name, the fields of the names in conditions whose fields are always the same."""
    return {**OF_BOTH, "module": OF_MODULE[:2] if component else OF_MODULE}


def _check_block(step: LifecycleStep, names: Callable[[], Iterable[str]], diagnostics: Diagnostics) -> None:
    if step.fqn == LIFECYCLE_STEP:
        message = f"{LIFECYCLE_STEP} is the base type of all lifecycle steps, and not a block"
        diagnostics.error("bad-fqn", message, _place(step, "fqn"), hint=f"name a block; {LIST_HINT}")
        return
    try:
        fqn = parse_fqn(step.fqn)
    except NotAnFqn as fault:
        place = step.spans.get("fqn")
        if place is not None:
            place = span_of_part(place, step.fqn, fault.offset, len(step.fqn))
        message = f'"{step.fqn}" is not the name of a block: {fault}'
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
        message += f": it exists in the major version {', '.join(map(str, majors))}"
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


# Where a part of a text stands in the file in which that text is written.

MOST_LINES = 1_000


def span_of_part(whole: Span, text: str, offset: int, end: int) -> Span:
    """The place of the characters ``offset`` to ``end`` of a text that is written at ``whole``, up to the end of the
    line. Where the text is written in another form (escapes, folded lines), it is the place of the whole."""
    start = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    wanted = text[start : stop if stop >= 0 else len(text)]
    length = max(1, min(end, start + len(wanted)) - offset)
    found = _line_of(whole, wanted, text.count("\n", 0, start))
    if found is None:
        return whole
    line, column = found
    begin = column + offset - start
    return Span(whole.source, line, begin, line, begin + length)


def _line_of(whole: Span, wanted: str, number: int) -> tuple[int, int] | None:
    """The line and column at which a line of a text is written, being the line ``number`` of it (from 0)."""
    if not wanted:
        return None
    last = min(whole.end_line, whole.line + MOST_LINES)
    candidates = []
    for line in range(whole.line, last + 1):
        at = whole.source.line(line).find(wanted, whole.column - 1 if line == whole.line else 0)
        if at >= 0:
            candidates.append((line, at + 1))
    # A block of lines begins in the line after its mark.
    likely = [c for c in candidates if c[0] - whole.line in {number, number + 1}]
    return next(iter(likely or candidates), None)


# The names of a context that a condition speaks of.

Fields = Mapping[str, Collection[str]]
"""By name, the fields of names in a context whose fields are always the same."""


def roots(tree: Node) -> dict[str, TextRange]:
    """The names with which the paths of a condition begin (``values`` of ``values.a.b``), each with its first place."""
    found: dict[str, TextRange] = {}
    for reference in references(tree):
        name = reference if isinstance(reference, Name) else reference.base
        if isinstance(name, Name):
            found.setdefault(name.name, name.place)
    return found


def unknown(
    tree: Node, known: Collection[str], fields: Fields | None = None, components: Fields | None = None
) -> list[NotACondition]:
    """A fault for each unknown name with which a path of the condition begins; where all are known, one for each field
    that its name never has, by ``fields``. ``components`` are the fields of names that have one for each component."""
    faults: list[NotACondition] = []
    for name, place in roots(tree).items():
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            faults.append(NotACondition(f'there is no "{name}" in conditions', place, hint))
    return [*faults, *(fault for fault in _unknown_fields(tree, fields or {}, components or {}) if not faults)]


def _unknown_fields(tree: Node, known: Fields, components: Fields) -> Iterator[NotACondition]:
    """A fault for each path that begins with what none of these names has."""
    for path in references(tree):
        step = path.steps[0] if isinstance(path, ValuePath) else None
        if isinstance(path, ValuePath) and isinstance(path.base, Name) and isinstance(step, Field):
            fields, named = known.get(path.base.name), components.get(path.base.name)
            if fields is not None and step.name not in fields:
                message = f'"{path.base.name}" has no "{step.name}" in conditions'
                yield NotACondition(message, step.place, f"it has {' and '.join(fields)}")
            elif named is not None and step.name not in named:
                message = f'"{path.base.name}" has a field for each component, and there is no component "{step.name}"'
                close = nearest(step.name, named)
                hint = f"did you mean {' or '.join(close)}?" if close else "name a node template of the topology"
                yield NotACondition(message, step.place, hint)
