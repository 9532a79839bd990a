"""The user's part of an ensemble as one command uses it: read once, with the environment that is chosen."""

from __future__ import annotations

import msgspec

from ordito.app.inputs.environments import Environment
from ordito.app.inputs.inventory import NO_INVENTORY, HostInventory, find_inventory, read_inventory
from ordito.app.inputs.user_part import UserPart, read_user_part
from ordito.app.inputs.variables import variables_of
from ordito.app.place import Place
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.ensemble.status import WELL, Status
from ordito.instances.records import Snapshot
from ordito.model.service import Service


class UsedSpec(msgspec.Struct, frozen=True):
    """The user's part and the environment that is worked in. ``before`` is the name of the one that is deployed, "" for
    none; None where nothing is. ``inventory`` says which hosts there are."""

    place: Place
    user: UserPart = UserPart()
    environment: Environment = Environment()
    before: str | None = None
    inventory: HostInventory = NO_INVENTORY

    def variables(self, service: Service) -> dict[str, object]:
        """The variables that every operation of a service finds in its environment, by name; what came from a secret is
        sensitive. Raises ``InvalidDocument``."""
        diagnostics = Diagnostics()
        found = variables_of(self.place, self.environment, service, diagnostics)
        if diagnostics.has_errors:
            raise InvalidDocument(diagnostics.sorted())
        return found

    def is_own(self, status: Status, hosts: str | None) -> bool:
        """Whether the inventory is the one with which the ensemble has what exists, and no other that a command names
        with ``hosts`` (None where it names none) or that belongs to another environment."""
        is_same = hosts is None or self.inventory.file.seen == status.hosts
        return bool(status.ensemble) and is_same and self.environment.name == status.environment

    def change(self, inputs: tuple[str, ...] = (), *, empty: bool = False) -> tuple[Diagnostic, ...]:
        """What is to be said where another environment is deployed than the one that is worked in; ``inputs`` are those
        that have other values now, and ``empty`` is whether there is nothing to do all the same."""
        if self.before is None or self.before == self.environment.name:
            return ()
        message = f"{_named(self.before)} is deployed, and this is {_named(self.environment.name)}"
        if inputs:
            message += f": other values have the inputs {', '.join(inputs)}"
        hint = "without --env it is the one that is deployed"
        if empty:
            hint = f"nothing that exists depends on it: {_named(self.before)} stays the one that is deployed"
        return (Diagnostic(Severity.WARNING, "other-environment", message, None, hint),)


def _named(name: str) -> str:
    return f'the environment "{name}"' if name else "no environment"


def use_spec(
    place: Place, snapshot: Snapshot, status: Status, wanted: str | None, hosts: str | None = None
) -> UsedSpec:
    """Read the user's part, and choose the environment: the one that is ``wanted``, else the one that is deployed, else
    the first; and the inventory: that at the path ``hosts``, None where a command names none, "" for that of the
    environment. Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``."""
    diagnostics = Diagnostics()
    user = read_user_part(place.layout, place.manifest, diagnostics).with_given(status.named)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    before = status.environment if _is_deployed(snapshot, status) else None
    environment = user.environments.choose(wanted, before, place.manifest)
    # An inventory is remembered for the environment in which a command has named it.
    remembered = status.hosts if environment.name == status.environment else ""
    file = find_inventory(place, environment, hosts, remembered, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return UsedSpec(place, user, environment, before, read_inventory(place, file, environment.name))


def _is_deployed(snapshot: Snapshot, status: Status) -> bool:
    """Whether something is deployed, or a job failed to and is to be tried again."""
    if not status.service:
        return False
    failed = status.last_job is not None and status.last_job.status not in WELL
    return failed or any(instance.exists for instance in snapshot.instances.values())
