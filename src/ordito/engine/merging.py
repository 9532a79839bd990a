"""Joining the changes of a step's start and end into one."""

from __future__ import annotations

from ordito.instances.records import Delta


def merge(first: Delta | None, second: Delta | None) -> Delta | None:
    """One change that does what two do one after the other; None for none."""
    if first is None or second is None:
        return first or second
    instances = {i.id: i for i in (*first.instances, *second.instances)}
    links = {link.id: link for link in (*first.links, *second.links)}
    attributes = {name: dict(values) for name, values in first.attributes.items()}
    outputs = {name: dict(operations) for name, operations in first.outputs.items()}
    for forgotten in second.forgotten:
        instances.pop(forgotten, None)
    for gone in (*second.unlinked, *second.forgotten):
        links.pop(gone, None)
        attributes.pop(gone, None)
        outputs.pop(gone, None)
    for name, values in second.attributes.items():
        attributes.setdefault(name, {}).update(values)
    for name, operations in second.outputs.items():
        outputs.setdefault(name, {}).update(operations)
    made_again = {link.id for link in second.links}
    unlinked = (*(name for name in first.unlinked if name not in made_again), *second.unlinked)
    return Delta(
        instances=tuple(instances.values()),
        links=tuple(links.values()),
        unlinked=tuple(dict.fromkeys(unlinked)),
        attributes=attributes,
        outputs=outputs,
        forgotten=(*first.forgotten, *second.forgotten),
    )
