"""Transform: what becomes of each instance that stays, by its record and never by its state.

An instance that is operational, and of which everything was carried out as it is wanted now, stays as it is. One that
is not is continued after the last operation that was carried out; of one that is degraded the optional operations that
failed are carried out again. What runs in another form than is wanted now is
refused: changing it in place is not a deployment.
"""

from __future__ import annotations

from ordito.base.listing import listed
from ordito.instances.records import Instance
from ordito.instances.status import DEGRADED, OPERATIONAL
from ordito.planning.dependencies import lacks
from ordito.planning.draft import Draft, Fate, Member
from ordito.planning.lifecycle import Side
from ordito.planning.recipe import Entry
from ordito.work.plan import Difference

MOST_NAMED = 3
FORCED = "forced: everything is carried out again"


IN_PLACE, ANEW = "~", "-/+"
"""What would have to be done with an instance that runs in another form than is wanted."""


class Changed:
    """The operations of running instances that are wanted in another form, each reported once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[tuple[str, int, str], list[str]] = {}

    def note(self, member: Member, call: int, what: str, *, symbol: str = IN_PLACE) -> None:
        """An instance has an operation that differs."""
        self._found.setdefault((member.template.name, call, what), []).append(member.id)
        if not member.refused:
            member.reason = f"{self._draft.calls.all[call].name} {what}"
        member.refused = ANEW if ANEW in (symbol, member.refused) else IN_PLACE

    def explain(self, member: Member, call: int, applied: str) -> None:
        """Keep how an operation of an instance differs from what was carried out, which has the digest ``applied``."""
        found = self._draft.differences.of(call, applied)
        member.differences += tuple(d for d in found if d not in member.differences)

    def moved(self, member: Member, target: str) -> None:
        """An instance lies on a host that the template does not name any more."""
        member.refused = ANEW
        member.reason = f"it is hosted on {member.record.host}, and is wanted on {target}"
        declared = str(member.template.span) if member.template.span else ""
        node = self._draft.snapshot.instances.get(member.record.host)
        member.differences = (Difference("host", node.node if node else None, target or None, declared),)
        self._draft.refusals.error(
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
            named = listed(instances, MOST_NAMED)
            template = self._draft.service.nodes[node]
            self._draft.refusals.error(
                "changed-running",
                f"{named}: {call.name} {what}; deploy does not change what exists in place",
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


def decide_begun(draft: Draft) -> None:
    """Decide of the instances that an earlier scaling has begun to make, or has left unsettled, and of no others."""
    changed = Changed(draft)
    scaling = draft.options.scaling
    for name in (*scaling.begun, *scaling.unsettled):
        member = draft.members.get(name)
        if member is None or member.fate is not Fate.KEEP:
            continue
        if name in scaling.begun or not lacks(draft, member):
            _decide(draft, member, draft.recipes.making(member.template).install, changed)
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
    last, differing = _compare(draft, member, entries)
    for entry in entries if operational else ():
        missing = entry.key not in record.applied and entry.key not in record.failed
        if missing and not _may_lack(draft, entry):
            changed.note(member, entry.call, "is wanted and was not carried out")
    first = next(iter(differing), len(entries))
    if differing and (operational or first == 0):
        symbol = IN_PLACE if first else ANEW
        changed.note(member, entries[first].call, "was carried out in another form", symbol=symbol)
    for place in differing:
        changed.explain(member, entries[place].call, record.applied[entries[place].key].digest)
    if member.refused:
        return
    if draft.options.force:
        member.fate, member.reason = Fate.CONTINUE, FORCED
    elif not operational or _lacks(record):
        member.fate = Fate.CONTINUE
        member.done = min(last + 1, first)
        after = f", after {entries[member.done - 1].name}" if member.done else ""
        member.reason = f"it is {record.local}: continued{after}"


def _compare(draft: Draft, member: Member, entries: tuple[Entry, ...]) -> tuple[int, list[int]]:
    """The place of the last operation that was carried out (-1 for none), and those of all that were in another form
    than is wanted now."""
    calls, applied, own = draft.calls, member.record.applied, draft.with_hosts(member)
    last, differing = -1, []
    for place, entry in enumerate(entries):
        done = applied.get(entry.key)
        if done is not None and not _is_kept(draft, entry):
            last = place
            if done.digest != calls.all[calls.for_instance(entry.call, own)].digest:
                differing.append(place)
    return last, differing


def _is_kept(draft: Draft, entry: Entry) -> bool:
    """Whether an operation belongs to a relationship that is kept as it was made, with the files of that time."""
    return entry.relationship is not None and entry.relationship.target in draft.options.left_behind


def _lacks(record: Instance) -> bool:
    """Whether an instance does its work without an optional operation that has failed."""
    return record.local == DEGRADED and bool(record.failed)


def _may_lack(draft: Draft, entry: Entry) -> bool:
    """Whether an instance may run without an operation: what a later source adds at its target, what was left out
    because an optional target was not up, and what is kept as it was made."""
    if entry.relationship is None:
        # A host that is up was reached, though it may have been another way.
        return entry.delegated and entry.stage is None
    optional = draft.service.nodes[entry.relationship.target].settings.is_optional
    return optional or entry.side is Side.TARGET or _is_kept(draft, entry)
