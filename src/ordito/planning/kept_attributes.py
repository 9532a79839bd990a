"""Transform: warn of attributes that keep a value although no operation of the service sets them any more.

What an operation found out stays true of an instance for which nothing is carried out. So a value stays until an
operation sets another one or the instance is replaced, and a rollback finds what there was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ordito.base.text import listed
from ordito.model.mappings import Mapped, mapped_capability
from ordito.model.operation import Interface
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.probes import CHECK, DISCOVER, maintaining

SELF, SOURCE, TARGET = "SELF", "SOURCE", "TARGET"
MADE_OR_GONE = frozenset({InstanceAction.NEW, InstanceAction.REPLACE, InstanceAction.LEAVE, InstanceAction.DROP})
MOST_NAMED = 4


def warn_of_kept_attributes(draft: Draft) -> None:
    """Warn, once for a node and its attribute, of values that stay although nothing sets them."""
    if draft.is_in_one_form:
        return
    lost = _Lost(draft)
    found: dict[tuple[str, str, str], list[str]] = {}
    for member in draft.members.values():
        recorded = draft.snapshot.attributes.get(member.id)
        if recorded and member.action not in MADE_OR_GONE:
            for key, giver in lost.of(member).items():
                if key in recorded:
                    found.setdefault((member.template.name, key, giver), []).append(member.id)
    for (name, key, giver), ids in found.items():
        shown, keep = key.replace("::", "."), "keeps" if len(ids) == 1 else "keep"
        draft.diagnostics.warning(
            "kept-attribute",
            f'{listed(ids, MOST_NAMED)} {keep} the value of attribute "{shown}" that {giver} has given,'
            " and no operation gives it any more;"
            f" `ordito upgrade --replace {name}` would make {'it' if len(ids) == 1 else 'them'} again, without it",
            draft.service.nodes[name].span,
        )


class _Lost:
    """The attributes that operations of a node set in an earlier form of the service, and no operation sets in the
    wanted one; found once for a node in a form."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: dict[tuple[str, str], Mapping[str, str]] = {}
        self._required: dict[str, list[Mapping[str, Interface]]] | None = None

    def of(self, member: PlannedInstance) -> Mapping[str, str]:
        """The attributes of an instance, each with the operation that has set it."""
        form = self._draft.forms.of(member.record)
        key = (member.template.name, form.name)
        if key not in self._known:
            self._known[key] = self._find(member.template, form)
        return self._known[key]

    def _find(self, node: NodeTemplate, form: Formed) -> Mapping[str, str]:
        was = form.service.nodes.get(node.name)
        if form is self._draft.forms.own or was is None:
            return {}
        if any(maintaining(node, probe) is not None for probe in (CHECK, DISCOVER)):
            return {}  # It finds attributes by their names.
        given = {key: giver for key, giver in _given(was, was.interfaces.values(), SELF) if _is_declared(node, key)}
        still = self._still(node) if given else frozenset()
        return {key: giver for key, giver in given.items() if key not in still}

    def _still(self, node: NodeTemplate) -> frozenset[str]:
        """The attributes of a node that any operation sets, its own or one of a relationship."""
        found = [*_given(node, node.interfaces.values(), SELF)]
        for relationship in node.requirements:
            found += _given(node, relationship.interfaces.values(), SOURCE)
        for interfaces in self._required_of(node.name):
            found += _given(node, interfaces.values(), TARGET)
        return frozenset(key for key, _ in found)

    def _required_of(self, name: str) -> Iterable[Mapping[str, Interface]]:
        """The interfaces of the relationships that lead to a node."""
        if self._required is None:
            self._required = {}
            for node in self._draft.service.nodes.values():
                for relationship in node.requirements:
                    self._required.setdefault(relationship.target, []).append(relationship.interfaces)
        return self._required.get(name, ())


def _given(node: NodeTemplate, interfaces: Iterable[Interface], entity: str) -> Iterator[tuple[str, str]]:
    """The attributes of a node to which outputs are mapped, by the names under which they are recorded, each with the
    operation."""
    for interface in interfaces:
        every: Iterable[Mapped] = (
            *(o for o in interface.operations.values() if o.implementation is not None),
            *interface.notifications.values(),
        )
        for one in every:
            for path in one.outputs.values():
                if path[0] == entity:
                    is_inside = mapped_capability(node, path[1:]) is not None
                    yield f"{path[1]}::{path[2]}" if is_inside else str(path[1]), f"{interface.name}.{one.name}"


def _is_declared(node: NodeTemplate, key: str) -> bool:
    """Whether a node has an attribute, so that somebody may read it."""
    name, _, inside = key.partition("::")
    holder = node.capabilities.get(name) if inside else node
    return holder is not None and (
        (inside or name) in holder.attribute_definitions or (inside or name) in holder.definitions
    )
