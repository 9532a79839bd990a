"""Transform: how many instances of each node are wanted, and whether that is within its bounds (§2.20, §5.5.13)."""

from __future__ import annotations

from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.model.service import Capability, NodeTemplate
from ordito.planning.draft import Draft

SCALABLE = "tosca.capabilities.Scalable"
BOUNDS = ("min_instances", "max_instances", "default_instances")


def counts(draft: Draft) -> None:
    """Find the wanted number of instances of every node, hosts first."""
    for node in draft.ordered:
        if node.name in draft.options.left_behind:
            draft.counts[node.name] = len(draft.snapshot.ids_of(node.name))
            draft.origins[node.name] = "what exists"
            continue
        count, origin = _wanted(draft, node)
        draft.counts[node.name] = count
        draft.origins[node.name] = origin


def _wanted(draft: Draft, node: NodeTemplate) -> tuple[int, str]:
    scalable = _scalable(node)
    if node.instance_count is not None:
        count = _number(draft, node, node.instance_count, "instance_count")
        origin = "instance_count"
    elif scalable is not None and "default_instances" in scalable.assigned:
        count = _number(draft, node, scalable.properties.get("default_instances"), "default_instances")
        origin = "default_instances"
    else:
        lower = node.occurrences[0] if node.occurrences else 0
        least = 0
        if scalable is not None and "min_instances" in scalable.assigned:
            least = _number(draft, node, scalable.properties.get("min_instances"), "min_instances") or 0
        if node.host is not None and not lower and not least:
            hosts = draft.counts.get(node.host.target, 0)
            return hosts, f"one on each {node.host.target}"
        count = max(1, lower, least)
        origin = "" if count == 1 else "min_instances" if count == least else "occurrences"
    if count is None:
        return 0, ""
    _check_bounds(draft, node, scalable, count, origin)
    return count, origin


def _check_bounds(draft: Draft, node: NodeTemplate, scalable: Capability | None, count: int, origin: str) -> None:
    lowest, highest, source = _bounds(draft, node, scalable)
    if lowest <= count and (highest is None or count <= highest):
        return
    bound = "any number" if highest is None else str(highest)
    hints = {
        "scalable": f'change min_instances or max_instances of capability "{scalable.name if scalable else ""}"',
        "occurrences": "change the occurrences of the node template",
        "": "give the node template occurrences, or assign max_instances of its Scalable capability",
    }
    draft.diagnostics.error(
        "count-out-of-bounds",
        f'node "{node.name}" wants {count} instances ({origin or "default"}), and its bounds are {lowest} to {bound}',
        node.span,
        hint=hints[source],
    )


def _bounds(draft: Draft, node: NodeTemplate, scalable: Capability | None) -> tuple[int, int | None, str]:
    """The fewest and the most instances that a node may have, and where that is written."""
    if scalable is not None and any(name in scalable.assigned for name in BOUNDS):
        lowest = _number(draft, node, scalable.properties.get("min_instances", 1), "min_instances")
        highest = scalable.properties.get("max_instances", 1)
        return lowest or 0, _number(draft, node, highest, "max_instances"), "scalable"
    if node.occurrences is not None:
        return node.occurrences[0], node.occurrences[1], "occurrences"
    return 1, 1, ""


def _scalable(node: NodeTemplate) -> Capability | None:
    return next((c for c in node.capabilities.values() if SCALABLE in c.kinds), None)


def _number(draft: Draft, node: NodeTemplate, value: object, what: str) -> int | None:
    """A whole number from 0 on; None, with a diagnostic, where the value is none."""
    try:
        data = draft.static.evaluate(value, Context(node=node.name))  # type: ignore[arg-type]
    except EvaluationError as error:
        draft.diagnostics.error("bad-count", f'{what} of node "{node.name}": {error.message}', error.span or node.span)
        return None
    found = revealed(data)
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    shown = "nothing" if isinstance(found, Nothing) else repr(data)
    draft.diagnostics.error(
        "bad-count", f'{what} of node "{node.name}" is a whole number from 0 on, and this is {shown}', node.span
    )
    return None
