"""What an inventory and a service say for each other, and nothing heeds."""

from __future__ import annotations

from ordito.app.explain import opened_types
from ordito.app.inventory_file.read import PROVIDE, Inventory
from ordito.app.services.read import ReadService
from ordito.base.diagnostics import Diagnostics
from ordito.model.catalogue import read_types
from ordito.model.service import NodeTemplate, Service
from ordito.providers.registry import CLOUD, CONTAINER, LOCALHOST
from ordito.work.providing import Providers

OF_OTHERS = "where it is for another service that uses this inventory, all is well"

WITHOUT_LABELS = frozenset({"", LOCALHOST, CONTAINER, CLOUD})
"""The providers that choose no host by its labels, nobody among them; a plug-in may do so."""


def warn_of_unheeded(inventory: Inventory, providers: Providers, read: ReadService, diagnostics: Diagnostics) -> None:
    """Warn of names in the inventory that mean nothing in a service, and of what the service asks of a pool where none
    is asked."""
    _warn_of_chosen(inventory, read, diagnostics)
    for node in read.service.nodes.values():
        if node.is_compute and node.is_concrete and (node.settings.labels or node.settings.resources):
            _warn_of_labels(node, inventory, providers, diagnostics)


def _warn_of_chosen(inventory: Inventory, read: ReadService, diagnostics: Diagnostics) -> None:
    known = _names(read.service)
    odd = [name for name in inventory.chosen if name not in known]
    if odd:
        # Types are read once more only where that may explain a name.
        _, bundled = opened_types("", Diagnostics())
        types = read_types(read.package, Diagnostics())
        known |= {*bundled.nodes, *(types.nodes if types is not None else ())}
    for name in odd:
        if name in known:
            continue
        diagnostics.warning(
            "unused-provider",
            f'"{PROVIDE}" names a provider for "{name}", and the service has no node template and no type of that name',
            inventory.chosen_at.get(name),
            hint=diagnostics.suggestion(name, known, note=OF_OTHERS),
        )


def _names(service: Service) -> set[str]:
    """The node templates of a service, and their types."""
    names = {*service.nodes, *service.substituted}
    return names.union(*(node.kinds for node in service.nodes.values()))


def _warn_of_labels(node: NodeTemplate, inventory: Inventory, providers: Providers, diagnostics: Diagnostics) -> None:
    maker = providers.of(node.name, node.kinds)
    if (maker.name if maker is not None else "") not in WITHOUT_LABELS:
        return
    wanted = [f"label {name}={value}" for name, value in node.settings.labels.items()]
    wanted += [f"{amount:g} of {name}" for name, amount in node.settings.resources.items()]
    if any(name in inventory.chosen for name in (node.name, *node.kinds)):
        mend = f'take it out of "{PROVIDE}" in {inventory.file.shown}'
    elif inventory.file.path is not None:
        mend = f'name hosts below "hosts:" in {inventory.file.shown}, as docs/hosts.md shows'
    else:
        mend = "name hosts in an inventory, as docs/hosts.md shows"
    diagnostics.warning(
        "unused-labels",
        f"{node.name} asks for a host of a pool ({', '.join(wanted)}), and gets none: nothing heeds that",
        node.span,
        hint=f"{mend}; or take the wish out of its metadata",
    )
