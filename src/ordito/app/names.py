"""Names on the command line: of nodes and their instances, and of operations.

An instance is written by its id (`web_1`), a node template by its name (`web`). A text that is both is refused; the
hint has both spellings: `node:web_1`, `instance:web_1`. An operation is `Interface.operation`, or its name alone if
only one interface has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.requests import INSTANCE, NODE
from ordito.base.suggest import nearest
from ordito.base.text import listed
from ordito.instances.records import Instance, Snapshot, number_of
from ordito.model.operation import Interface, interface_named
from ordito.model.service import Service

MOST_NAMED = 12


class NamedInstances(msgspec.Struct, frozen=True):
    """The meaning of a text on the command line: a node or an instance; the other one is ""."""

    node: str = ""
    instance: str = ""


class InstanceNames:
    """The nodes and instances by their names on the command line. ``service`` is None if it cannot be read: then the
    nodes are those with recorded instances. Deleted instances count only with ``deleted``."""

    def __init__(self, service: Service | None, snapshot: Snapshot, *, deleted: bool = False) -> None:
        self._snapshot = snapshot
        self._instances = {i.id for i in snapshot.instances.values() if deleted or i.exists}
        self._nodes = dict.fromkeys(service.nodes if service is not None else ())
        self._nodes.update(dict.fromkeys(snapshot.instances[i].node for i in sorted(self._instances)))

    def find(self, text: str) -> NamedInstances:
        """The meaning of a text. Raises ``Refused`` if it has none or two."""
        if text.startswith(NODE):
            return NamedInstances(node=self._known(text.removeprefix(NODE), self._nodes, "node"))
        if text.startswith(INSTANCE):
            return NamedInstances(instance=self._known(text.removeprefix(INSTANCE), self._instances, "instance"))
        is_node, is_instance = text in self._nodes, text in self._instances
        if is_node and is_instance:
            raise Refused(
                "ambiguous-name",
                f'"{text}" is both a node and an instance of "{self._snapshot.instances[text].node}"',
                f'write "{NODE}{text}" for the node, or "{INSTANCE}{text}" for the instance',
            )
        if is_node:
            return NamedInstances(node=text)
        return NamedInstances(instance=self._known(text, self._instances, "node or instance"))

    def instances(self, texts: Iterable[str]) -> list[Instance]:
        """The named instances, each once; those of a node in the order of their numbers. Raises ``Refused``."""
        found: dict[str, Instance] = {}
        for text in texts:
            named = self.find(text)
            if named.instance:
                found[named.instance] = self._snapshot.instances[named.instance]
            else:
                records = sorted(self._snapshot.records_of(named.node), key=_slot)
                found.update((i.id, i) for i in records if i.id in self._instances)
        return list(found.values())

    def _known(self, name: str, known: Collection[str], kind: str) -> str:
        if name in known:
            return name
        record = self._snapshot.instances.get(name)
        if record is not None and kind != "node":
            raise Refused(
                "unknown-name",
                f'instance "{name}" of "{record.node}" was deleted',
                next_words=("status", "--all"),
                purpose="see all instances, also deleted ones",
            )
        stands_in = [n for n in self._nodes if n.startswith(f"{name}/")]
        if stands_in:
            hint = f"it is substituted by a topology with {listed(stands_in, MOST_NAMED)}"
        else:
            near = nearest(name, sorted({*known, *(self._nodes if "node" in kind else ())}))
            hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise Refused(
            "unknown-name",
            f'there is no {kind} "{name}"',
            hint,
            next_words=("status",),
            purpose="see what exists",
        )


def _slot(instance: Instance) -> tuple[int, int]:
    return instance.index, number_of(instance.id)


def operation_named(text: str, interfaces: Iterable[Interface]) -> tuple[str, str]:
    """The interface and the operation that a text means: ``Interface.operation``, or the operation's name alone if only
    one interface has it. Raises ``Refused`` if there is none, or several."""
    return _member_named(text, [(i, i.operations) for i in interfaces], "operation")


def notification_named(text: str, interfaces: Iterable[Interface]) -> tuple[str, str]:
    """The interface and the notification that a text means, as ``operation_named``."""
    return _member_named(text, [(i, i.notifications) for i in interfaces], "notification")


def _member_named(text: str, members: Iterable[tuple[Interface, Iterable[str]]], kind: str) -> tuple[str, str]:
    known: dict[str, Interface] = {}
    having: dict[str, dict[str, None]] = {}
    for interface, names in members:
        known.setdefault(interface.name, interface)
        for name in names:
            having.setdefault(name, {})[interface.name] = None
    asked, _, name = text.rpartition(".")
    if asked:
        found = interface_named(known, asked)
        if found is not None and found.name in having.get(name, ()):
            return found.name, name
        raise _unknown_member(text, name, having, kind)
    if not having.get(name):
        raise _unknown_member(text, name, having, kind)
    if len(having[name]) > 1:
        raise Refused(
            "ambiguous-name",
            f'"{name}" is {"an" if kind[0] == "o" else "a"} {kind} of several interfaces',
            f"write {' or '.join(_full(name, having))}",
        )
    return next(iter(having[name])), name


def _unknown_member(text: str, name: str, having: Mapping[str, Collection[str]], kind: str) -> Refused:
    every = {full for other in having for full in _full(other, having)}
    near = list(_full(name, having)) or nearest(text, sorted(every)) or nearest(name, sorted(having))
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"there are: {listed(sorted(every), MOST_NAMED)}"
        if every
        else ""
    )
    return Refused(f"unknown-{kind}", f'there is no {kind} "{text}"', hint)


def _full(name: str, having: Mapping[str, Collection[str]]) -> Iterator[str]:
    return (f"{interface}.{name}" for interface in having.get(name, ()))
