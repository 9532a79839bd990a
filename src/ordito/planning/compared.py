"""The differences between two forms of a node template, besides its operations: its type, properties, requirements and
artifacts, and the operations that stop it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ordito.base.sensitive import shown
from ordito.instances.lifecycle import CONFIGURES, LINKS, PREPARES_LINK, PREPARES_SOURCE, STARTS, WATCHES, Side
from ordito.instances.states import CONFIGURING, CREATING
from ordito.model.deploying import images_of
from ordito.model.service import ARTIFACT, MAINTAIN, NodeTemplate, Relationship
from ordito.model.settings import IGNORE, REPLACE
from ordito.planning.differences import DeclaredBefore, Differences, readable, reads, said_of_updates
from ordito.planning.differences import shown_digest as digest
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.operation_sequence import SequencedOperation
from ordito.syntax.expressions import Call, calls
from ordito.work.plan import ChangeKind, Difference, DifferenceKind
from ordito.work.probes import HEAL


class Cause(NamedTuple):
    """One difference, and what it requires. A ``firm`` one is not covered by an update operation; one that ``binds``
    concerns what an instance requires. ``relationship`` is the one whose pairs are made again, "" for none."""

    kind: ChangeKind
    difference: Difference
    firm: bool = False
    binds: bool = False
    relationship: str = ""


class Compared(NamedTuple):
    """The differences between a template and an earlier form of it. ``dropped`` are the keys of relationships that are
    no longer wanted as they were, ``unlinked`` those with fewer linking operations than before, ``values`` the changed
    properties with what they were and are, ``gone`` the keys of operations that are no longer wanted, with what that
    requires."""

    causes: tuple[Cause, ...] = ()
    dropped: frozenset[str] = frozenset()
    unlinked: frozenset[str] = frozenset()
    values: Mapping[str, tuple[object, object]] = {}
    gone: Mapping[str, Cause] = {}


NO_DIFFERENCE = Compared()


def compare(draft: Draft, node: NodeTemplate, form: Formed, differences: Differences) -> Compared:
    """Compare a template with an earlier form of it."""
    earlier = differences.before(form)
    was = earlier.service.nodes.get(node.name) if earlier.service is not None else None
    if was is None or earlier.digests is None:
        return NO_DIFFERENCE
    values = dict(_values(draft, node, was, earlier))
    causes = [
        *_type(node, was),
        *_properties(draft, node, was, values),
        *_requirements(draft, node, was),
        *_less_linked(node, was),
        *_artifacts(draft, node, was, earlier),
        *_stopping(draft, node, form, differences),
    ]
    dropped = frozenset(dropped_of(draft, node, was))
    unlinked = frozenset(cause.relationship for cause in causes if cause.relationship)
    return Compared(tuple(causes), dropped, unlinked, values, _gone(draft, node, was))


def dropped_of(draft: Draft, node: NodeTemplate, was: NodeTemplate) -> Iterator[str]:
    """The relationships of a template that are no longer wanted as they were."""
    now = {r.key: r for r in _wanted(draft, node)}
    for old in was.requirements:
        new = now.get(old.key)
        if not old.is_hosting and (new is None or _of(new) != _of(old)):
            yield old.key


def _wanted(draft: Draft, node: NodeTemplate) -> list[Relationship]:
    """What a template requires, except what it required when that was removed."""
    return [r for r in node.requirements if r.target not in draft.options.pruned]


def _of(relationship: Relationship) -> tuple[str, str, str]:
    return relationship.target, relationship.capability, relationship.type


def _declared(node: NodeTemplate) -> str:
    return str(node.span) if node.span else ""


def _type(node: NodeTemplate, was: NodeTemplate) -> Iterator[Cause]:
    if node.type != was.type:
        kind = ChangeKind.ADOPT if was.type in node.kinds else ChangeKind.REPLACE
        yield Cause(kind, Difference("type", was.type, node.type, _declared(node)), firm=kind is ChangeKind.REPLACE)


def _values(
    draft: Draft, node: NodeTemplate, was: NodeTemplate, earlier: DeclaredBefore
) -> Iterator[tuple[str, tuple[object, object]]]:
    """The properties that have changed, those of capabilities by ``capability::property``."""
    assert earlier.digests is not None
    old = earlier.digests.values(earlier.digests.provided(was))
    new = draft.digests.values(draft.digests.provided(node))
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new or old[name] != new[name]:
            yield name, (old.get(name), new.get(name))


def _properties(
    draft: Draft, node: NodeTemplate, was: NodeTemplate, values: Mapping[str, tuple[object, object]]
) -> Iterator[Cause]:
    if not values:
        return
    said = dict(said_of_updates(was)) | dict(said_of_updates(node))
    named = set(_named(node))
    decides = draft.sequences.is_delegated(node)
    works = decides or _is_implemented(draft, node)
    for name, (before, after) in values.items():
        if said.get(name) == REPLACE:
            kind = ChangeKind.REPLACE
        elif said.get(name) == IGNORE or not works:
            kind = ChangeKind.ADOPT
        elif decides or name in named or name.startswith("create::"):
            continue  # The operation that reads it tells.
        else:
            kind = ChangeKind.RECONFIGURE
        what = f"property {name.replace('::', '.')}"
        difference = Difference(
            what, shown(readable(before)), shown(readable(after)), _declared(node), DifferenceKind.PROPERTY
        )
        yield Cause(kind, difference, firm=kind is ChangeKind.REPLACE)


def _named(node: NodeTemplate) -> Iterator[str]:
    """The properties of a node that inputs of its own operations name."""
    for interface in node.interfaces.values():
        for operation in interface.operations.values():
            for given in operation.inputs.values() if operation.implementation is not None else ():
                if isinstance(given.value, Call | list | dict):
                    yield from (name for c in calls(given.value) if (name := reads(c)))


def _is_implemented(draft: Draft, node: NodeTemplate) -> bool:
    """Whether any operation could take notice of a property."""
    entries = (*draft.sequences.making(node).install, *draft.sequences.removing(node).uninstall)
    return any(entry.delegated or draft.calls.all[entry.call].artifact for entry in entries)


def _requirements(draft: Draft, node: NodeTemplate, was: NodeTemplate) -> Iterator[Cause]:
    old = {r.key: r for r in was.requirements if not r.is_hosting}
    new = {r.key: r for r in _wanted(draft, node) if not r.is_hosting}
    # What is configured for a requirement is so again for another.
    install = draft.sequences.making(node).install
    configured = {e.relationship.key for e in install if e.relationship is not None and e.side is Side.SOURCE}
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if before is not None and after is not None and _of(before) == _of(after):
            continue
        named = before or after
        assert named is not None
        declared = str(after.span) if after is not None and after.span else _declared(node)
        what = f"requirement {named.requirement}"
        kind = ChangeKind.RECONFIGURE if key in configured else ChangeKind.RELINK
        yield Cause(kind, Difference(what, *_shown(before, after), declared), binds=True)


def _shown(before: Relationship | None, after: Relationship | None) -> tuple[str | None, str | None]:
    """What a requirement leads to, with as much as tells the two apart."""
    if before is None or after is None or before.target != after.target:
        return before.target if before else None, after.target if after else None
    if before.capability != after.capability:
        return f"{before.target}.{before.capability}", f"{after.target}.{after.capability}"
    return before.type, after.type


def _less_linked(node: NodeTemplate, was: NodeTemplate) -> Iterator[Cause]:
    """The relationships that stay, and some of whose linking operations are no longer wanted: their pairs are undone,
    and made again with those that are left."""
    now = {r.key: r for r in node.requirements}
    for old in was.requirements:
        new = now.get(old.key)
        if new is None or _of(new) != _of(old) or new.interfaces == old.interfaces:
            continue
        left = dict(_linking(new))
        for name, file in _linking(old):
            if name not in left:
                difference = Difference(f"what {name} of {old.requirement} runs", file, None, _declared(node))
                yield Cause(ChangeKind.RELINK, difference, relationship=old.key)


def _linking(relationship: Relationship) -> Iterator[tuple[str, str]]:
    """The operations that link pairs, with what they run."""
    for interface in relationship.interfaces.values():
        for operation in interface.operations.values():
            if operation.implementation is not None and operation.name in LINKS | PREPARES_LINK:
                yield f"{interface.name}.{operation.name}", operation.implementation.file


def _artifacts(draft: Draft, node: NodeTemplate, was: NodeTemplate, earlier: DeclaredBefore) -> Iterator[Cause]:
    """The changed artifacts that no operation refers to: scripts find them by themselves."""
    assert earlier.digests is not None
    if node.artifacts == was.artifacts == {} or not _is_implemented(draft, node):
        return
    told = {name for name, i in (*node.interfaces.items(), *was.interfaces.items()) if ARTIFACT in i.kinds}
    images = {image.name for image in (*images_of(node), *images_of(was))} if draft.sequences.is_delegated(node) else ()
    for name in dict.fromkeys((*was.artifacts, *node.artifacts)):
        if f"artifact.{name}" in told or name in images:
            continue
        old, new = was.artifacts.get(name), node.artifacts.get(name)
        before = earlier.digests.of_artifact(old) if old else None
        after = draft.digests.of_artifact(new) if new else None
        if before != after:
            what = f"the content of {new.file}" if old and new and old.file == new.file else f"artifact {name}"
            difference = Difference(what, digest(before), digest(after), _declared(node))
            yield Cause(ChangeKind.RECONFIGURE, difference)


def _stopping(draft: Draft, node: NodeTemplate, form: Formed, differences: Differences) -> Iterator[Cause]:
    """The operations that stop an instance, if they have changed."""
    for entry in draft.sequences.removing(node).stop:
        call = draft.calls.all[entry.call]
        if entry.relationship is not None or entry.delegated:
            continue
        before = differences.before(form).content(call)
        now = draft.calls.content(entry.call)
        if before is None and now is None:
            continue
        for difference in differences.between(entry.call, before, form):
            yield Cause(ChangeKind.RESTART, difference)


def _gone(draft: Draft, node: NodeTemplate, was: NodeTemplate) -> dict[str, Cause]:
    """Operations that are no longer wanted, by the keys in the records. Those that created an instance are left out:
    they are no reason to create it again."""
    wanted = {entry.key for entry in draft.sequences.making(node).install}
    placed = {f"{name}.deploy" for name, interface in was.interfaces.items() if ARTIFACT in interface.kinds}
    found: dict[str, Cause] = {}
    for name, interface in was.interfaces.items():
        for operation in interface.operations.values():
            key = f"{name}.{operation.name}"
            if is_implemented(node, name, operation.name) or (MAINTAIN in interface.kinds and operation.name == HEAL):
                continue  # It is wanted as ever, or leaves nothing of which the instance is made.
            if operation.implementation is not None and key not in wanted:
                kind = OF_GONE.get(operation.name, ChangeKind.ADOPT)
                if key in placed:
                    kind = ChangeKind.REPLACE  # It is where it was put until it is taken away.
                difference = Difference(f"what {key} runs", operation.implementation.file, None, _declared(node))
                found[key] = Cause(kind, difference)
    for relationship in was.requirements:
        for name, interface in relationship.interfaces.items():
            for operation in interface.operations.values():
                key = f"{relationship.key}/{name}.{operation.name}"
                if operation.implementation is not None and operation.name in PREPARES_SOURCE and key not in wanted:
                    what = f"what {name}.{operation.name} of {relationship.requirement} runs"
                    difference = Difference(what, operation.implementation.file, None, _declared(node))
                    found[key] = Cause(ChangeKind.ADOPT, difference)
    return found


def is_implemented(node: NodeTemplate, interface: str, operation: str) -> bool:
    """Whether a template has an operation that does something."""
    found = node.interfaces[interface].operations.get(operation) if interface in node.interfaces else None
    return found is not None and found.implementation is not None


OF_GONE: Mapping[str, ChangeKind] = {
    **dict.fromkeys(CONFIGURES, ChangeKind.RECONFIGURE),
    **dict.fromkeys(STARTS | WATCHES, ChangeKind.RESTART),
}
"""What it requires that an operation which was carried out is no longer wanted."""

RANK = {kind: rank for rank, kind in enumerate(ChangeKind)}
"""The kinds of changes, by how much they require."""


def kind_of(entry: SequencedOperation, operation: str) -> ChangeKind:
    """What an operation requires that was carried out in another form than the wanted one, by its place in a chain."""
    if entry.delegated:
        return ChangeKind.RESTART if entry.stage is None else ChangeKind.REPLACE
    if operation in CONFIGURES:
        return ChangeKind.RECONFIGURE  # Of what a provider makes as well.
    if entry.stage is None or operation in STARTS:
        return ChangeKind.RESTART
    if entry.stage.enter == CREATING:
        return ChangeKind.REPLACE
    return ChangeKind.RECONFIGURE if entry.stage.enter == CONFIGURING else ChangeKind.RESTART
