"""Operations that are run on nodes which topologies stand for: what they are mapped to there (§3.8.12)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.errors import Refused
from ordito.app.inputs.bound import CalledInputs
from ordito.app.names import MOST_NAMED, operation_named
from ordito.app.requests import InstanceFilters
from ordito.app.services.workflows import bound_inputs
from ordito.base.text import listed
from ordito.model.service import Service
from ordito.planning.options import OfStandIn


def without_stand_ins(filters: InstanceFilters, service: Service) -> tuple[InstanceFilters, tuple[str, ...]]:
    """The filters without the names of nodes that topologies stand for, and these. Raises ``Refused`` where such a node
    is named together with instances or types, of which it has none."""
    stood_for = tuple(name for name in filters.nodes if name in service.substituted)
    if stood_for and (filters.instances or filters.types):
        raise Refused(
            "no-instances",
            f'a topology stands for "{stood_for[0]}", which therefore has no instances of its own to be chosen by'
            " --instance or --type",
            f"choose among those of {listed(service.substituted[stood_for[0]].nodes, MOST_NAMED)}",
        )
    nodes = tuple(name for name in filters.nodes if name not in stood_for)
    return InstanceFilters(nodes, filters.instances, filters.types), stood_for


def stand_in(text: str, name: str, given: CalledInputs, service: Service, *, override: bool) -> tuple[str, OfStandIn]:
    """The operation that a text means on a node that a topology stands for, and what it is mapped to, with the inputs
    for that. Raises ``Refused`` and ``InvalidDocument``."""
    substituted = service.substituted[name]
    interface, operation = operation_named(text, substituted.template.interfaces.values())
    target = substituted.operations.get(f"{interface}.{operation}")
    if target is None:
        raise Refused(
            "not-mapped",
            f'{interface}.{operation} of "{name}" is mapped to nothing in {substituted.file}, which stands for it',
            f"run it on what is inside: {listed((f'--node {n}' for n in substituted.nodes), MOST_NAMED, between=' ')}",
        )
    values = given.plain()
    if isinstance(target, tuple):
        if values:
            raise Refused(
                "input-clash",
                f'{interface}.{operation} of "{name}" is mapped to {".".join(target)}, which has inputs of its own',
                f"give them to that one: run {target[1]}.{target[2]} --node {target[0]}",
            )
        return operation, OfStandIn(target)
    workflow = service.workflows[target]
    declared = substituted.template.interfaces[interface].operations[operation].inputs
    own = {n: i.value for n, i in declared.items() if i.has_value and n in workflow.inputs}
    said = {n: value for n, value in own.items() if not declared[n].is_default}
    _refuse_clashes(values, said, f'{interface}.{operation} of node "{name}"', override=override)
    return operation, OfStandIn(target, bound_inputs(workflow, {**own, **values}, service))


def _refuse_clashes(given: Mapping[str, object], own: Mapping[str, object], what: str, *, override: bool) -> None:
    clashes = [name for name in given if name in own]
    if clashes and not override:
        raise Refused(
            "input-clash",
            f"the template gives {listed(clashes, MOST_NAMED)} of {what} a value already",
            "give --override to have yours used instead, or leave it out",
        )
