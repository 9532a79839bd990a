"""Transform: what becomes of each instance that stays, by its record and never by its state.

An instance that is operational, and of which everything was carried out as it is wanted now, stays as it is. One that
is not is continued after the last operation that was carried out. What runs in another form than is wanted now is
refused: changing it in place is not a deployment.
"""

from __future__ import annotations

from ordito.instances.status import DEGRADED, OK
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft, Fate, Member
from ordito.planning.lifecycle import Side
from ordito.planning.recipes import Entry

OPERATIONAL = frozenset({OK, DEGRADED})
MOST_NAMED = 3


class Changed:
    """The operations of running instances that are wanted in another form, each reported once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[tuple[str, int, str], list[str]] = {}

    def note(self, node: NodeTemplate, call: int, what: str, instance: str) -> None:
        """An instance has an operation that differs."""
        self._found.setdefault((node.name, call, what), []).append(instance)

    def moved(self, member: Member, target: str) -> None:
        """An instance lies on a host that the template does not name any more."""
        self._draft.diagnostics.error(
            "changed-running",
            f'{member.id} is hosted on {member.record.host}, and the template wants it on "{target}"; deploy does not'
            " move what exists",
            member.template.span,
            hint=f'undeploy and deploy again to have "{member.template.name}" where it is described now',
        )

    def report(self) -> None:
        """Refuse the plan for what was found."""
        for (node, number, what), instances in self._found.items():
            call = self._draft.calls.all[number]
            named = ", ".join(instances[:MOST_NAMED])
            more = f" and {len(instances) - MOST_NAMED} more" if len(instances) > MOST_NAMED else ""
            template = self._draft.service.nodes[node]
            self._draft.diagnostics.error(
                "changed-running",
                f"{named}{more}: {call.name} {what}; deploy does not change what exists in place",
                template.span,
                hint=f'undeploy and deploy again to have "{node}" as it is described now',
            )


def decide(draft: Draft) -> None:
    """Decide for every instance that is to stay whether it is kept or continued, and from where on."""
    changed = Changed(draft)
    for node in draft.ordered:
        if node.name in draft.options.left_behind:
            continue
        entries = draft.recipes.making(node).install
        draft.recipes.removing(node)  # What could not be removed again is refused now.
        for member in draft.of_node.get(node.name, ()):
            if member.fate is Fate.KEEP:
                _decide(draft, member, entries, changed)
    changed.report()


def _decide(draft: Draft, member: Member, entries: tuple[Entry, ...], changed: Changed) -> None:
    record = member.record
    if not record.created and not record.applied:
        member.fate, member.reason = Fate.CONTINUE, "not started yet"
        return
    wanted, host = member.template.host, draft.snapshot.instances.get(record.host)
    if (wanted.target if wanted else "") != (host.node if host else ""):
        changed.moved(member, wanted.target if wanted else "nothing")
        return
    operational = record.local in OPERATIONAL
    own = draft.with_hosts(member)
    last = -1
    differs = len(entries)
    for place, entry in enumerate(entries):
        if entry.relationship is not None and entry.relationship.target in draft.options.left_behind:
            continue  # It is kept as it was made, with the files of that time.
        applied = record.applied.get(entry.key)
        if applied is not None:
            last = place
            if applied.digest != draft.calls.all[draft.calls.for_instance(entry.call, own)].digest:
                differs = min(differs, place)
        elif operational and entry.side is not Side.TARGET:
            changed.note(member.template, entry.call, "is wanted and was not carried out", member.id)
    if differs < len(entries) and (operational or differs == 0):
        changed.note(member.template, entries[differs].call, "was carried out in another form", member.id)
    if operational:
        return
    member.fate = Fate.CONTINUE
    member.done = min(last + 1, differs)
    after = f", after {entries[member.done - 1].name}" if member.done else ""
    member.reason = f"it is {record.local}: continued{after}"
