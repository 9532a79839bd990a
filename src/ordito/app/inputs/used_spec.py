"""The user's part of an ensemble as one command uses it: read once, with the chosen environment."""

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
    """The user's part and the chosen environment. ``before`` is the name of the deployed environment, "" for none, None
    if nothing is deployed. ``inventory`` has the hosts."""

    place: Place
    user: UserPart = UserPart()
    environment: Environment = Environment()
    before: str | None = None
    inventory: HostInventory = NO_INVENTORY

    def variables(self, service: Service) -> dict[str, object]:
        """The variables that every operation of a service gets, by name; values from secrets are sensitive. Raises
        ``InvalidDocument``."""
        diagnostics = Diagnostics()
        found = variables_of(self.place, self.environment, service, diagnostics)
        if diagnostics.has_errors:
            raise InvalidDocument(diagnostics.sorted())
        return found

    def is_own(self, status: Status, hosts: str | None) -> bool:
        """Whether the inventory is the one with which the ensemble was deployed, and not another one that the command
        names with ``hosts`` (None if it names none) or that belongs to another environment."""
        is_same = hosts is None or self.inventory.file.seen == status.hosts
        return bool(status.ensemble) and is_same and self.environment.name == status.environment

    def change(self, inputs: tuple[str, ...] = (), *, empty: bool = False) -> tuple[Diagnostic, ...]:
        """The warning that another environment is deployed than the chosen one; ``inputs`` are those with other values
        now, and ``empty`` says that there is nothing to do nevertheless."""
        if self.before is None or self.before == self.environment.name:
            return ()
        message = f"{_named(self.before)} is deployed, but this is {_named(self.environment.name)}"
        if inputs:
            message += f": these inputs have other values: {', '.join(inputs)}"
        hint = "without --env, the deployed one is used"
        if empty:
            hint = f"nothing that exists depends on it: {_named(self.before)} stays the one that is deployed"
        return (Diagnostic(Severity.WARNING, "other-environment", message, None, hint),)


def _named(name: str) -> str:
    return f'the environment "{name}"' if name else "no environment"


def use_spec(
    place: Place, snapshot: Snapshot, status: Status, wanted: str | None, hosts: str | None = None
) -> UsedSpec:
    """Read the user's part, and choose the environment (the ``wanted`` one, else the deployed one, else the first) and
    the inventory (at the path ``hosts``; None if the command names none, "" for that of the environment). Raises
    ``InvalidDocument``, ``Refused`` and ``EnsembleError``."""
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
    """Whether something is deployed, or a deployment has failed and can be tried again."""
    if not status.service:
        return False
    failed = status.last_job is not None and status.last_job.status not in WELL
    return failed or any(instance.exists for instance in snapshot.instances.values())
