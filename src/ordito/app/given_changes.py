"""How a command wants what runs to be changed, and which lifecycle steps it wants carried out."""

from __future__ import annotations

import msgspec

from ordito.base.portion import ALL, Portion


class GivenChanges(msgspec.Struct, frozen=True):
    """How what runs is to be changed. ``prune`` is when what the template has lost is removed: ``last``, ``early``,
    ``no``, or "" for what the verb does by itself. ``replaced`` are nodes whose instances are made anew though that
    need not be, ``max_unavailable`` is how many instances of a node may be down at one time where the node says
    nothing. With ``skip_heal`` what is not as it should be is not mended first."""

    prune: str = ""
    replaced: tuple[str, ...] = ()
    max_unavailable: Portion = ALL
    skip_heal: bool = False


class GivenHooks(msgspec.Struct, frozen=True):
    """Which lifecycle steps are carried out: those of what changes (``changed``), of ``all``, or ``none``. ``catalogs``
    are paths of catalogues of blocks, looked through before those that are found by themselves; ``lifecycle`` is the
    path of a file that declares further steps, "" for none. With ``strict`` a step that asks for a rollback, with
    something before it that cannot be undone, is an error."""

    which: str = "changed"
    catalogs: tuple[str, ...] = ()
    lifecycle: str = ""
    strict: bool = False


NO_CHANGES = GivenChanges()
USUAL_HOOKS = GivenHooks()
