"""A part of a service that is deployed or removed while everything else stays as it is.

What is named is part of it, and so is what that needs if it is not up, and what a plan has to take down because it
requires, or is hosted on, what is replaced. What is left out stays in its present form: the ensemble remembers that,
and the next plan for everything continues with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection

import msgspec

from ordito.base.text import listed
from ordito.instances.records import Snapshot
from ordito.instances.status import is_up
from ordito.model.service import Service
from ordito.planning.choose_instances import all_instances
from ordito.planning.draft import Draft
from ordito.planning.options import PlanOptions, ServicePart
from ordito.planning.planned_instances import CHANGED, InstanceAction, PlannedInstance
from ordito.work.plan import Change, Plan
from ordito.work.workflows import Workflow

MOST_NAMED = 6


def with_needed(part: ServicePart, service: Service, snapshot: Snapshot) -> ServicePart:
    """The part with everything that it needs, directly or indirectly: nodes without any instance yet, and instances
    that are not up. What is up is left as it is."""
    nodes, instances = set(part.nodes), set(part.instances)
    known = set(part.nodes)
    waiting = deque([*part.nodes, *(snapshot.instances[i].node for i in part.instances)])
    hosted = deque(part.instances)
    while waiting or hosted:
        while hosted:
            host = snapshot.instances.get(snapshot.instances[hosted.popleft()].host)
            if host is not None and host.id not in instances and not is_up(host):
                instances.add(host.id)
                hosted.append(host.id)
                waiting.append(host.node)
        if not waiting:
            break
        name = waiting.popleft()
        for relationship in service.nodes[name].requirements if name in service.nodes else ():
            target = relationship.target
            if target in known:
                continue
            known.add(target)
            existing = snapshot.of_node(target)
            down = [record for record in existing if not is_up(record)]
            if existing and (not down or (len(down) < len(existing) and not relationship.is_hosting)):
                continue
            if existing:
                instances.update(record.id for record in down)
                hosted.extend(record.id for record in down)
            else:
                nodes.add(target)
            waiting.append(target)
    return msgspec.structs.replace(part, nodes=frozenset(nodes), instances=frozenset(instances))


def taken_along(draft: Draft) -> frozenset[str]:
    """The instances that a plan changes although they are not named: they have to be created again together with the
    part, and so are changed to what is wanted."""
    return frozenset(m.id for m in draft.members.values() if m.action in CHANGED and draft.is_left_out(m))


def all_of_part(draft: Draft) -> None:
    """Transform: what is part of a removal is removed, and nothing else; if something else would be left without what
    it needs, that is refused."""
    all_instances(draft)
    _forget_missed(draft)
    part = draft.options.part
    if part is None:
        return
    for member in draft.members.values():
        if not part.has(member.record):
            member.action, member.reason = InstanceAction.KEEP, ""
            draft.counts[member.template.name] += 1
    _refuse_needed(draft)


def _forget_missed(draft: Draft) -> None:
    """Have instances that are missed count as removed on purpose like the rest, so that they are not missed any
    more."""
    for node in draft.ordered:
        for record in draft.snapshot.records_of(node.name):
            if record.is_missed and not record.exists:
                draft.put(PlannedInstance(record, node, InstanceAction.DROP, MISSED))


MISSED = "it is not there, and is not missed any more"


def _refuse_needed(draft: Draft) -> None:
    """Refuse to remove what hosts, or is required by, something that stays, if nothing else can take its place."""
    lost = _without_need(draft)
    if not lost:
        return
    words = _removing(draft, lost)
    draft.refusals.error(
        "needed-by-others",
        f"nothing is removed that was not named, and these would be left without what they need:"
        f" {listed(list(lost.values()), MOST_NAMED, between='; ')}",
        None,
        hint=f"{' '.join(words)} removes them too, and first",
    )
    draft.way_out = words, f"remove {listed(list(lost), MOST_NAMED)} too, and first"


def _without_need(draft: Draft) -> dict[str, str]:
    """The instances that stay and lose something that they need, each with what that is; also those that would lose it
    only if these were removed as well."""
    hosted: dict[str, list[PlannedInstance]] = defaultdict(list)
    staying = Counter(member.template.name for member in draft.members.values() if not member.goes)
    for member in draft.members.values():
        hosted[member.record.host].append(member)
    requiring = _requiring(draft)
    lost: dict[str, str] = {}
    leaving = deque(member for member in draft.members.values() if member.goes)
    gone: set[str] = set()

    def lose(member: PlannedInstance, why: str) -> None:
        if not member.goes and member.id not in lost:
            lost[member.id] = f"{member.id} {why}"
            staying[member.template.name] -= 1
            leaving.append(member)

    while leaving:
        member = leaving.popleft()
        for inside in hosted.get(member.id, ()):
            lose(inside, f"is hosted on {member.id}")
        node = member.template.name
        if not staying[node] and node not in gone:
            gone.add(node)
            for source, requirement in requiring.get(node, ()):
                for other in draft.of_node[source]:
                    lose(other, f"requires {node} ({requirement})")
    return lost


def _requiring(draft: Draft) -> dict[str, list[tuple[str, str]]]:
    """By node, the nodes that require it and cannot do without, each with the requirement."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in draft.of_node:
        for relationship in draft.service.nodes[name].requirements:
            target = draft.service.nodes[relationship.target]
            if not relationship.is_hosting and not target.settings.is_optional:
                found[target.name].append((name, relationship.requirement))
    return found


def _removing(draft: Draft, lost: Collection[str]) -> tuple[str, ...]:
    """The words of a command that name instances: by their node if no others of it stay."""
    words: dict[tuple[str, str], None] = {}
    for name in lost:
        node = draft.members[name].template.name
        is_all = all(m.goes or m.id in lost for m in draft.of_node[node])
        words["--node" if is_all else "--instance", node if is_all else name] = None
    return tuple(word for pair in words for word in pair)


def check_part(draft: Draft) -> None:
    """Transform: what comes up in a plan without new instances has what it requires."""
    part = draft.options.part
    if part is None or not part.skip_new:
        return
    for node in draft.ordered:
        for relationship in node.requirements if any(m.rises for m in draft.of_node.get(node.name, ())) else ():
            target = draft.service.nodes[relationship.target]
            if not draft.of_node.get(target.name) and not target.settings.is_optional:
                draft.refusals.error(
                    "needs-new",
                    f'"{node.name}" requires "{target.name}" ({relationship.requirement}), of which there is nothing'
                    " yet, and nothing new is to be made",
                    relationship.span,
                    hint="leave out --skip-new",
                )


def is_about_part(options: PlanOptions, workflow: Workflow) -> bool:
    """Whether a plan is about a part of the service."""
    return options.part is not None and (workflow.forms or workflow.removes)


def left_out(partial: Plan, whole: Plan) -> tuple[Change, ...]:
    """What a plan for everything would do besides."""
    own = {change.instance for change in partial.changes}
    return tuple(change for change in whole.changes if change.instance not in own)
