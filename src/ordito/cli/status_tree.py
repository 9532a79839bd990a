"""The rows of the status: every instance below the one that hosts it, and as one row those that agree in everything
that is shown of them and of what they host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ordito.app.status import InstanceStatus
from ordito.base.listing import spans
from ordito.instances.records import number_of


class Row(msgspec.Struct, frozen=True):
    """Instances of one node that agree, the first of which stands for all; ``lead`` are the branches before them."""

    lead: str
    members: tuple[InstanceStatus, ...]

    @property
    def first(self) -> InstanceStatus:
        """The one that stands for all."""
        return self.members[0]

    @property
    def title(self) -> str:
        """The ids."""
        return spans([m.instance.id for m in self.members])


def rows(instances: Sequence[InstanceStatus], *, unicode: bool, fold: bool) -> Iterator[Row]:
    """The rows of the tree. It has a stack of its own, since users choose how deep hosting goes."""
    branches = UNICODE_BRANCHES if unicode else ASCII_BRANCHES
    hosted = _hosted(instances)
    agree = _agreements(hosted) if fold else {}
    # What stands before the instances themselves, and before those below them.
    stack = [("", "", group) for group in reversed(_groups(hosted.get("", []), agree))]
    while stack:
        own, below, group = stack.pop()
        yield Row(own, tuple(group))
        children = [child for member in group for child in hosted.get(member.instance.id, ())]
        for index, child in enumerate(reversed(_groups(children, agree))):
            branch, deeper = ("last", "gap") if index == 0 else ("child", "line")
            stack.append((below + branches[branch], below + branches[deeper], child))


def _hosted(instances: Sequence[InstanceStatus]) -> dict[str, list[InstanceStatus]]:
    """By host, "" for none that is shown, what it hosts, in order."""
    shown = {i.instance.id for i in instances}
    hosted: dict[str, list[InstanceStatus]] = {}
    for found in sorted(instances, key=lambda i: (i.instance.node, number_of(i.instance.id))):
        hosted.setdefault(found.instance.host if found.instance.host in shown else "", []).append(found)
    return hosted


def _agreements(hosted: dict[str, list[InstanceStatus]]) -> dict[str, int]:
    """A number for each instance, the same for those that agree, what they host included."""
    order = list(hosted.get("", ()))
    for found in order:  # grows while it is read
        order.extend(hosted.get(found.instance.id, ()))
    numbers: dict[tuple[object, ...], int] = {}
    agree: dict[str, int] = {}
    for found in reversed(order):
        i = found.instance
        below = tuple(sorted(agree[c.instance.id] for c in hosted.get(i.id, ())))
        told = (found.orphaned, found.drifted, found.form)
        shown = (i.node, i.state, i.local, found.effective, i.note, tuple(i.failed), *told)
        agree[i.id] = numbers.setdefault((shown, below), len(numbers))
    return agree


def _groups(siblings: Sequence[InstanceStatus], agree: dict[str, int]) -> list[list[InstanceStatus]]:
    if not agree:
        return [[sibling] for sibling in siblings]
    groups: dict[int, list[InstanceStatus]] = {}
    for sibling in siblings:
        groups.setdefault(agree[sibling.instance.id], []).append(sibling)
    return list(groups.values())


UNICODE_BRANCHES = {"child": "├── ", "last": "└── ", "line": "│   ", "gap": "    "}
ASCII_BRANCHES = {"child": "|-- ", "last": "`-- ", "line": "|   ", "gap": "    "}
