"""What the end of a delegated step gives: attributes of its instance, of its relationships, and of their far ends."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.instances.records import Snapshot, link_id
from ordito.model.service import Service
from ordito.work.plan import Step
from ordito.work.providing import FAR, LINKS


def provided(
    service: Service, snapshot: Snapshot, step: Step, outputs: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    """The attributes that a provider gave, by the ids under which they are recorded."""
    own = {name: value for name, value in outputs.items() if name not in (LINKS, FAR)}
    found = {step.instance: own} if own else {}
    if len(own) == len(outputs):
        return found
    template = service.nodes[snapshot.instances[step.instance].node]
    for far, values in _by_far(outputs, LINKS):
        record = snapshot.instances.get(far)
        for relationship in template.requirements:
            if record is not None and relationship.target == record.node:
                found.setdefault(link_id(relationship.key, template.name, step.instance, far), {}).update(values)
    for far, values in _by_far(outputs, FAR):
        if far in snapshot.instances:
            found.setdefault(far, {}).update(values)
    return found


def _by_far(outputs: Mapping[str, object], name: str) -> list[tuple[str, dict[str, object]]]:
    values = outputs.get(name)
    every = values.items() if isinstance(values, Mapping) else ()
    return [(str(far), dict(own)) for far, own in every if isinstance(own, Mapping)]
