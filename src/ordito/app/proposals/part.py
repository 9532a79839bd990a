"""The options for planning about the part of a service that a command names."""

from __future__ import annotations

import dataclasses

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.requests import INSTANCE, NODE, PartOptions
from ordito.base.options import words
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.options import PlanOptions, ServicePart


def with_part(options: PlanOptions, given: PartOptions, service: Service, snapshot: Snapshot) -> PlanOptions:
    """The options with the part. Raises ``Refused`` for unknown names, and if the template has a workflow of its own
    for this, which is always for everything."""
    if given.is_all:
        return options
    if options.written.name:
        raise Refused(
            "own-workflow-whole",
            f'workflow "{options.written.name}" of the template does this, and it cannot do a part of the service',
            f"leave out {' '.join(words(given))}",
        )
    names = InstanceNames(service, snapshot, deleted=True)
    nodes = frozenset(names.find(f"{NODE}{n.removeprefix(NODE)}").node for n in given.nodes)
    instances = frozenset(names.find(f"{INSTANCE}{i.removeprefix(INSTANCE)}").instance for i in given.instances)
    if not (nodes or instances):
        nodes = frozenset(service.nodes)
    return dataclasses.replace(options, part=ServicePart(nodes, instances, given.skip_new))
