"""Whether all are at hand that have made what a plan is about."""

from __future__ import annotations

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import InventoryFile
from ordito.base.text import listed
from ordito.instances.records import Snapshot
from ordito.work.plan import Action, Plan
from ordito.work.providing import Providers, recorded_provider

MOST_NAMED = 5


def refuse_missing_providers(providers: Providers, snapshot: Snapshot, plan: Plan, file: InventoryFile) -> None:
    """See that who has made a host is still there, where something is to be done with it or on it: an inventory that is
    not there any more says nothing of hosts, and they must not be taken for lost. Raises ``Refused``."""
    touched = dict.fromkeys(s.instance if s.action is Action.DELEGATE else s.runs_on for s in plan.steps)
    missing: dict[str, list[str]] = {}
    for name in touched:
        maker = recorded_provider(snapshot.attributes.get(name, {}))
        if maker and providers.named(maker) is None:
            missing.setdefault(maker, []).append(name)
    for maker, made in missing.items():
        was = "was" if len(made) == 1 else "were"
        where = f"{file.shown} says nothing of it" if file.path is not None else "there is no inventory now"
        raise Refused(
            "no-provider",
            f'{listed(made, MOST_NAMED)} {was} made by the provider "{maker}", and {where}',
            "put back the inventory with which they were made, or name it: --hosts FILE; nothing was done. What is gone"
            " for good can be taken out of the records: state rm",
            next_words=("status",),
            purpose="see what is recorded",
        )
