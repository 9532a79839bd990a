"""What a service is resolved with because of what a command gives and what was chosen before."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.app.given_choices import GivenChoices
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package


def circumstances_of(
    given: GivenChoices,
    inputs: Mapping[str, object],
    earlier: Choices,
    diagnostics: Diagnostics,
    *,
    final: bool,
    hosts: Callable[[], Service] | None = None,
) -> Circumstances:
    """What a service is resolved with: values of ``inputs`` as they are given, and choices; what was chosen ``earlier``
    holds where the command says nothing else. Without an inventory ``hosts`` gives one.

    Raises ``InvalidDocument`` where the inventory holds errors."""
    return Circumstances(
        inputs=inputs,
        inventory=_inventory(given.inventory, diagnostics) if given.inventory else None,
        hosts=hosts,
        choices=msgspec.structs.replace(earlier, substitutes={**earlier.substitutes, **given.substitutes}),
        final=final,
        allowed=frozenset(given.allow),
    )


def check_choices(given: GivenChoices, service: Service, diagnostics: Diagnostics) -> None:
    """See that the nodes exist for which a command chooses a topology. Raises ``InvalidDocument`` where one does
    not."""
    known = {*service.nodes, *service.substituted}
    unknown = [name for name in given.substitutes if name not in known]
    for name in unknown:
        diagnostics.unknown("unknown-node", "node template", name, None, known, note="--substitute names it")
    if unknown:
        raise InvalidDocument(diagnostics.sorted())


def _inventory(path: str, diagnostics: Diagnostics) -> Service:
    """The service at a path, as an inventory. What is only worth knowing of it is not repeated here."""
    found = Diagnostics()
    package = open_package(path, found)
    service = resolve_service(package, found) if package is not None else None
    if service is None:
        diagnostics.extend(found)
        raise InvalidDocument(diagnostics.sorted())
    return service
