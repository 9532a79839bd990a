"""What an upgrade leaves alone unless somebody says otherwise: what is protected, or was not created here."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import Delta
from ordito.model.service import Service
from ordito.planning.keep import kept_behind
from ordito.planning.refused import PlanRefused
from ordito.work.options import ChangeOptions
from tests.planning.test_upgrade import ALL, Running, called, kinds
from tests.support.forming import Forming
from tests.support.services import node, operation, service

PROTECTED = {"ordito.protected": "true"}


def lost() -> Service:
    """A node that stays, and three that the next form has lost: what is protected requires one of them."""
    return service(
        node("base", operations=ALL),
        node("under", "base", operations=ALL),
        node("data", "under", operations=ALL, metadata=PROTECTED),
        node("top", "data", operations=ALL),
    )


def test_what_is_protected_stays_with_what_it_requires_though_the_template_has_lost_it() -> None:
    world = Forming(lost())
    world.to(lost())
    after = service(node("base", operations=ALL))
    options = world.options(after)
    kept = kept_behind(world.service, world.snapshot, options.orphans.nodes)
    assert kept == {"data", "under"}
    made = world.plan("upgrade", replace(options, orphans=msgspec.structs.replace(options.orphans, kept=kept)))
    assert kinds(made) == {"top_1": "removed"}
    assert called(made) == ["top_1.Standard.stop", "top_1.Standard.delete"]
    assert ["warning[orphaned]" in w for w in made.summary.warnings] == [True, True], made.summary.warnings


def test_what_this_ensemble_has_not_created_stays_too() -> None:
    world = Forming(lost())
    world.to(lost())
    adopted = msgspec.structs.replace(world.snapshot.instances["top_1"], created="")
    world.snapshot.apply(Delta(instances=(adopted,)))
    options = world.options(service(node("base", operations=ALL)))
    assert kept_behind(world.service, world.snapshot, options.orphans.nodes) == {"top", "data", "under"}


@pytest.mark.parametrize("workflow", ["deploy", "upgrade"])
def test_what_is_protected_is_not_replaced_unless_it_is_named(workflow: str) -> None:
    running = Running(service(node("data", operations=ALL, metadata=PROTECTED)))
    other = node("data", operations=[operation("create", "scripts/new.sh"), *ALL[1:]], metadata=PROTECTED)
    with pytest.raises(PlanRefused) as refused:
        running.plan(service(other), workflow=workflow)
    assert [(d.code, d.span is not None) for d in refused.value.diagnostics] == [("kept-anew", True)]
    assert "data_1 would be replaced, and is protected" in refused.value.diagnostics[0].message
    named = ChangeOptions(prune="last", replaced=("data",))
    assert kinds(running.plan(service(other), workflow=workflow, changes=named)) == {"data_1": "replace"}
    # On the way back nothing is held up by it.
    assert kinds(running.plan(service(other), workflow="rollback")) == {"data_1": "replace"}
