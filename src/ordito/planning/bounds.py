"""How few and how many instances a node may have: what its template says, narrowed by scaling policies (§2.20, §5.5.13,
R-12-12)."""

from __future__ import annotations

from typing import NamedTuple

from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.slots import SCALABLE
from ordito.model.imperative import Policy
from ordito.model.service import Capability, NodeTemplate
from ordito.planning.draft import Draft
from ordito.syntax.expressions import Value

IN_EACH = "cloudify.capabilities.Scalable"
"""The capability whose numbers are those of the instances in each instance of the node's container."""

ASSIGNED = ("min_instances", "max_instances", "default_instances")
UNBOUNDED = frozenset({-1, "UNBOUNDED"})
"""What stands for no bound at all where a whole number is expected."""


class InstanceBounds(NamedTuple):
    """The fewest and the most instances that a node may have (None: any number). ``said`` is whether anything says so,
    ``hint`` what to change where more or fewer are wanted."""

    least: int
    most: int | None
    said: bool
    hint: str

    @property
    def shown(self) -> str:
        """The bounds for people."""
        return f"{self.least} to {'any number' if self.most is None else self.most}"

    def allow(self, count: int) -> bool:
        """Whether a number lies within them."""
        return self.least <= count and (self.most is None or count <= self.most)


def bounds_of(draft: Draft, node: NodeTemplate) -> InstanceBounds:
    """The bounds of all instances of a node together. A policy that contradicts the template is reported."""
    found = _of_template(draft, node)
    for policy in draft.scaling.get(node.name, ()):
        found = _narrowed(draft, node, found, policy)
    return found


def check_bounds(draft: Draft, node: NodeTemplate, count: int, why: str, hint: str = "") -> None:
    """Refuse a number of instances that a node cannot have; ``why`` says where the number comes from, ``hint`` what may
    be done besides changing the bounds."""
    bounds = bounds_of(draft, node)
    if not bounds.allow(count):
        draft.diagnostics.error(
            "count-out-of-bounds",
            f'node "{node.name}" wants {count} instances ({why or "default"}), and its bounds are {bounds.shown}',
            node.span,
            hint=f"{bounds.hint}; {hint}" if hint else bounds.hint,
        )


def scalable_of(node: NodeTemplate) -> Capability | None:
    """The capability that says how many instances of a node there may be, if it has one."""
    return next((c for c in node.capabilities.values() if SCALABLE in c.kinds), None)


def containers(draft: Draft, node: NodeTemplate) -> int:
    """By what the numbers of a node's capability count: by the instances of its container where they are counted in
    each of them, else by one."""
    host, scalable = node.host, scalable_of(node)
    if host is None or scalable is None or IN_EACH not in scalable.kinds:
        return 1
    return draft.counts.get(host.target, 0)


def number(draft: Draft, node: NodeTemplate, value: Value, what: str) -> int | None:
    """A whole number from 0 on; None, with a diagnostic, where the value is none."""
    try:
        data = draft.static.evaluate(value, Context(node=node.name))
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


def most(draft: Draft, node: NodeTemplate, value: Value, what: str) -> int | None:
    """An upper bound: a whole number, None for no bound."""
    if isinstance(value, int | str) and value in UNBOUNDED:
        return None
    return number(draft, node, value, what)


def of_policy(draft: Draft, node: NodeTemplate, name: str) -> tuple[int, Policy] | None:
    """What the first scaling policy says of a node that says it at all: ``default_instances``, ``min_instances`` or
    ``increment``; and that policy."""
    for policy in draft.scaling.get(node.name, ()):
        if name in policy.properties:
            found = number(draft, node, policy.properties[name], f'{name} of policy "{policy.name}"')
            return (found, policy) if found is not None else None
    return None


def _of_template(draft: Draft, node: NodeTemplate) -> InstanceBounds:
    scalable = scalable_of(node)
    if scalable is not None and not scalable.assigned.isdisjoint(ASSIGNED):
        times = containers(draft, node)
        least = number(draft, node, scalable.properties.get("min_instances", 1), "min_instances") or 0
        highest = most(draft, node, scalable.properties.get("max_instances", 1), "max_instances")
        hint = f'change min_instances or max_instances of capability "{scalable.name}"'
        return InstanceBounds(least * times, None if highest is None else highest * times, said=True, hint=hint)
    if node.occurrences is not None:
        return InstanceBounds(*node.occurrences, said=True, hint="change the occurrences of the node template")
    hint = "give the node template occurrences, or assign max_instances of its Scalable capability"
    return InstanceBounds(1, 1, said=False, hint=hint)


def _narrowed(draft: Draft, node: NodeTemplate, found: InstanceBounds, policy: Policy) -> InstanceBounds:
    written = policy.properties
    least = number(draft, node, written["min_instances"], "min_instances") if "min_instances" in written else None
    highest = most(draft, node, written["max_instances"], "max_instances") if "max_instances" in written else None
    if least is None and highest is None:
        return found
    hint = f'change min_instances or max_instances of policy "{policy.name}"'
    if not found.said:
        # Nothing else says anything: that there is one instance is no more than what is usual.
        return InstanceBounds(1 if least is None else least, highest, said=True, hint=hint)
    lower = max(found.least, least or 0)
    upper = min((n for n in (found.most, highest) if n is not None), default=None)
    if upper is not None and lower > upper:
        own = f"{found.least} to {'any number' if found.most is None else found.most}"
        wanted = f"{least or 0} to {'any number' if highest is None else highest}"
        draft.diagnostics.error(
            "count-out-of-bounds",
            f'policy "{policy.name}" allows {wanted} instances of node "{node.name}", whose other bounds are {own}: no'
            " number is within both",
            policy.span or node.span,
            hint=f"{hint}, or {found.hint}",
        )
        return found
    narrower = lower > found.least or upper != found.most
    return InstanceBounds(lower, upper, said=True, hint=hint if narrower else found.hint)


LARGEST = 200_000
"""Instances of all nodes together above which a plan has to be asked for: it takes several kilobytes for each."""


def few_enough(draft: Draft, node: NodeTemplate, count: int, others: int) -> bool:
    """Whether so many instances of a node may be planned beside those of other nodes; that they may not is reported."""
    # What exists is there, however much it is.
    if count + others <= LARGEST or draft.options.allow_large or count <= len(draft.snapshot.ids_of(node.name)):
        return True
    beside = f" beside {others:,} of other nodes" if others else ""
    draft.diagnostics.error(
        "too-many-instances",
        f'node "{node.name}" is to have {count:,} instances{beside}, and more than {LARGEST:,} in all have to be asked'
        " for",
        node.span,
        hint="plan fewer instances, or give --allow-large",
    )
    return False
